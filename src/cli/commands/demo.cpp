#include <fmt/format.h>

#include <deque>

#include "aws/sqs/model/actions.h"
#include "base/text.h"
#include "cli/client/own_server.h"
#include "cli/commands/commands.h"
#include "manage/documents/failures.h"
#include "manage/documents/jobs.h"

// redrive demo: orders of five stores, some of them broken, and how they are handled.

namespace redrive::cli {
namespace {

constexpr std::string_view kOrders = "reliable_q";
constexpr std::string_view kDead = "dlq_for_reliable_q";
constexpr Duration kDemoPace{100};
constexpr int kDemoStores = 5;

struct DemoOptions {
  double seconds = 5;
  std::int64_t bad_percent = 25;
};

struct DemoCounts {
  std::int64_t sent = 0;
  std::int64_t bad = 0;
  std::int64_t processed = 0;
  std::int64_t failed = 0;  // Attempts.
};

// A few lines redrawn in place on a terminal; otherwise no output.
class Picture {
 public:
  explicit Picture(Terminal& terminal) : terminal_(terminal) {}

  struct Bar {
    std::string_view name;
    std::int64_t value;
    Color color;
  };
  void draw(std::span<const Bar> bars) {
    if (!terminal_.out_is_terminal) return;
    std::int64_t most = 40;
    for (const Bar& bar : bars) most = std::max(most, bar.value);
    if (drawn_ > 0) terminal_.out << fmt::format("\x1b[{}A", drawn_);
    for (const Bar& bar : bars) {
      const auto length = static_cast<std::size_t>(bar.value * 40 / most);
      std::string blocks;
      for (std::size_t i = 0; i < length; ++i) blocks += "█";
      terminal_.out << fmt::format(
          "\x1b[2K  {:<22}{:>6}  {}\n", bar.name, bar.value, paint(terminal_, bar.color, blocks));
    }
    terminal_.out.flush();
    drawn_ = bars.size();
  }
  // Further output goes below.
  void leave() { drawn_ = 0; }

 private:
  Terminal& terminal_;
  std::size_t drawn_ = 0;
};

class Demo {
 public:
  Demo(Session& session, const DemoOptions& options)
      : session_(session), options_(options), picture_(session.terminal()) {}

  Answer<void> run() {
    session_.world.interrupt.watch();
    RETURN_IF_ERROR(create_queues());
    tell(fmt::format("Orders of {} stores arrive for {} seconds; {} % of them have no store_id.",
                     kDemoStores,
                     options_.seconds,
                     options_.bad_percent));
    tell("The consumer requires it and fails; each message is tried twice.");
    RETURN_IF_ERROR(work_through());
    tell(fmt::format("{} orders sent, {} of them broken; {} processed, {} dead letters.",
                     counts_.sent,
                     counts_.bad,
                     counts_.processed,
                     TRY(depth(kDead))));
    RETURN_IF_ERROR(explain());
    repaired_ = true;
    tell(
        "The consumer is fixed: without store_id it uses store 1. Redriving 1, then 10, then all:");
    return redrive();
  }

 private:
  void tell(std::string_view text) {
    picture_.leave();
    session_.terminal().out << '\n' << paint(session_.terminal(), Color::bold, text) << '\n';
    session_.terminal().out.flush();
  }
  bool stopped() const { return session_.world.interrupt.requested(); }

  Answer<void> create_queues() {
    dead_url_ =
        std::string(TRY(session_.service.call<sqs::CreateQueue>({.queue_name = kDead}))->queue_url);
    const std::string policy = fmt::format(
        R"({{"deadLetterTargetArn":"arn:aws:sqs:{}:000000000000:{}","maxReceiveCount":2}})",
        session_.endpoint.region,
        kDead);
    const auto made = TRY(session_.service.call<sqs::CreateQueue>(
        {.queue_name = kOrders,
         .attributes = {{"RedrivePolicy", policy}, {"VisibilityTimeout", "30"}}}));
    orders_url_ = std::string(made->queue_url);
    return {};
  }

  // Sends for a while and handles what is there, until the queue is empty.
  Answer<void> work_through() {
    const Timestamp end = session_.world.clock.steady() +
                          Duration(static_cast<std::int64_t>(options_.seconds * 1000));
    while (!stopped()) {
      const bool sending = session_.world.clock.steady() < end;
      if (sending) RETURN_IF_ERROR(send_orders());
      const std::size_t handled = TRY(handle_orders());
      RETURN_IF_ERROR(draw());
      if (!sending && handled == 0 && TRY(depth(kOrders)) == 0) return {};
      session_.world.sleep(kDemoPace);
    }
    return interrupted();
  }

  static std::unexpected<Failure> interrupted() {
    return std::unexpected(Failure{Failure::Kind::reported, "", "interrupted"});
  }

  // Sends two orders; a certain share lacks a required attribute.
  Answer<void> send_orders() {
    std::deque<std::string> texts;
    sqs::SendMessageBatchInput batch{.queue_url = orders_url_, .entries = {}};
    for (int i = 0; i < 2; ++i) {
      const std::int64_t number = ++counts_.sent;
      const std::string& store = texts.emplace_back(std::to_string(1 + number % kDemoStores));
      const bool bad = number * options_.bad_percent / 100 > counts_.bad;
      counts_.bad += bad;
      sqs::SendMessageBatchEntry entry{.id = texts.emplace_back(std::to_string(i))};
      entry.message_body = texts.emplace_back(
          fmt::format(R"({{"order":{},"sales":{}}})", number, number * 7 % 90 + 10));
      if (!bad) {
        entry.message_attributes.emplace_back(
            "store_id", sqs::MessageAttributeValue{.data_type = "Number", .string_value = store});
      }
      batch.entries.push_back(std::move(entry));
    }
    TRY(session_.service.call<sqs::SendMessageBatch>(batch));
    return {};
  }

  // The handler; it requires the store's id.
  Answer<std::size_t> handle_orders() {
    const auto reply =
        TRY(session_.service.call<sqs::ReceiveMessage>({.queue_url = orders_url_,
                                                        .message_attribute_names = {"All"},
                                                        .max_number_of_messages = 10}));
    for (const sqs::ReceivedMessage& message : reply->messages) {
      const bool bad = message.message_attributes.empty();
      if (bad && !repaired_) {
        RETURN_IF_ERROR(report_broken(message.receipt_handle));
        ++counts_.failed;
        continue;
      }
      TRY(session_.service.call<sqs::DeleteMessage>(
          {.queue_url = orders_url_, .receipt_handle = message.receipt_handle}));
      ++counts_.processed;
    }
    return reply->messages.size();
  }

  Answer<void> report_broken(std::string_view receipt) {
    std::string body;
    wire::encode_json(body,
                      documents::FailureReport{.receipt_handle = receipt,
                                               .error_type = "MissingAttribute",
                                               .error_message = "the order has no store_id",
                                               .stack_trace = "handle_order (consumer.cpp:42)\n"
                                                              "store_of (orders.cpp:17)",
                                               .disposition = "retry",
                                               .retry_after_seconds = 0});
    TRY(session_.service.manage<documents::FailureReceipt>("POST", "failures", std::move(body)));
    return {};
  }

  Answer<std::int64_t> depth(std::string_view queue) {
    const std::string& url = queue == kDead ? dead_url_ : orders_url_;
    const auto reply = TRY(session_.service.call<sqs::GetQueueAttributes>(
        {.queue_url = url,
         .attribute_names = {"ApproximateNumberOfMessages",
                             "ApproximateNumberOfMessagesNotVisible"}}));
    std::int64_t sum = 0;
    for (const auto& [name, value] : reply->attributes) {
      sum += parse_int<std::int64_t>(value).value_or(0);
    }
    return sum;
  }

  Answer<void> draw() {
    const Picture::Bar bars[] = {{"waiting", TRY(depth(kOrders)), Color::cyan},
                                 {"processed", counts_.processed, Color::green},
                                 {"failed attempts", counts_.failed, Color::yellow},
                                 {"dead letters", TRY(depth(kDead)), Color::red}};
    picture_.draw(bars);
    return {};
  }

  Answer<void> explain() {
    const auto reply = TRY(session_.service.manage<documents::FailureGroups>(
        "GET", fmt::format("queues/{}/groups", kDead)));
    tell("Why did they fail? `redrive dlq groups`:");
    std::ostream& out = session_.terminal().out;
    for (const documents::FailureGroup& group : reply->groups) {
      out << fmt::format("  {} messages, {}: {}\n", group.count, group.status, group.title);
    }
    for (const documents::Distinction& found : reply->sets_apart) {
      out << "  " << found.sentence << '\n';
    }
    return {};
  }

  Answer<void> redrive() {
    std::string body;
    wire::encode_json(
        body,
        documents::JobRequest{.reason = "an order without store_id belongs to store 1",
                              .canary = {1, 10},
                              .watch_seconds = 60});
    const auto started = TRY(session_.service.manage<documents::JobStarted>(
        "POST", fmt::format("queues/{}/jobs", kDead), std::move(body)));
    if (!started->job) return unreadable_answer("no job");
    const std::string path = fmt::format("jobs/{}", started->job->id);
    while (!stopped()) {
      TRY(handle_orders());
      RETURN_IF_ERROR(draw());
      const auto job = TRY(session_.service.manage<documents::Job>("GET", path));
      if (job->status == "running" || job->open > 0) {
        session_.world.sleep(kDemoPace);
        continue;
      }
      tell(fmt::format("{}: {} redriven, {} processed, {} failed again; {} dead letters left.",
                       job->status,
                       job->moved,
                       job->succeeded,
                       job->failed_again,
                       TRY(depth(kDead))));
      return {};
    }
    return interrupted();
  }

  Session& session_;
  const DemoOptions& options_;
  Picture picture_;
  std::string orders_url_;
  std::string dead_url_;
  DemoCounts counts_;
  bool repaired_ = false;
};

Answer<void> run_demo(const DemoOptions& options, World& world) {
  const auto server = TRY(OwnServer::start());
  CommonOptions common;
  common.client.endpoint_url = server->url();
  const Endpoint endpoint = TRY(resolve_endpoint(common, world.environment, ""));
  Session session{.world = world,
                  .json = false,
                  .endpoint = endpoint,
                  .service = Service(endpoint, world.connect(), world.clock)};
  return Demo(session, options).run();
}

}  // namespace

void add_demo(Verb parent, Commands& commands) {
  auto options = std::make_shared<DemoOptions>();
  Verb verb = parent.verb("demo", "Start a server and show how messages fail and are redriven");
  verb.option("--seconds", options->seconds, "Seconds during which orders arrive (default 5)")
      .positive();
  verb.option("--bad", options->bad_percent, "Percentage of broken orders (default 25)")
      .range(1, 99);
  commands.attach_offline(verb, [options](World& world) { return run_demo(*options, world); });
}

}  // namespace redrive::cli
