#include <fmt/format.h>

#include <set>

#include "aws/sqs/model/actions.h"
#include "base/text.h"
#include "cli/client/message_pages.h"
#include "cli/client/queue_document.h"
#include "cli/client/queue_name.h"
#include "cli/client/retry.h"
#include "cli/commands/commands.h"

// redrive dlq watch: the number of messages and new arrivals, until Ctrl-C.
//
// A dead letter keeps the time of its first send, so new arrivals are not always the youngest: they
// are found by remembering which messages were there before. For a large queue only the counts are
// shown.

namespace redrive::cli {
namespace {

constexpr std::int64_t kRememberedMax = 10'000;
constexpr std::size_t kBodyShownBytes = 100;

struct DlqWatchOptions {
  std::string queue;
  double seconds = 2;
  bool unmasked = false;
};

struct WatchCounts {
  std::int64_t visible = 0;
  std::int64_t in_flight = 0;

  std::int64_t total() const { return visible + in_flight; }
  bool operator==(const WatchCounts&) const = default;
};
consteval auto shape_of(WatchCounts*) {
  return wire::shape(wire::required("visible", &WatchCounts::visible),
                     wire::required("inFlight", &WatchCounts::in_flight));
}

class DlqWatch {
 public:
  DlqWatch(Session& session, const DlqWatchOptions& options, std::string url)
      : session_(session), options_(options), url_(std::move(url)) {}

  Answer<void> run() {
    Interrupt& interrupt = session_.world.interrupt;
    interrupt.watch();
    Backoff backoff(session_.world.ids, session_.world.sleep);
    while (!interrupt.requested()) {
      const auto done = look();
      if (done) backoff.reset();
      if (!done && (!worth_retrying(done.error()) || !backoff.again())) return done;
      session_.terminal().out.flush();
      interrupt.idle_begins();
      session_.world.sleep(Duration(static_cast<std::int64_t>(options_.seconds * 1000)));
      interrupt.idle_ends();
    }
    return {};
  }

 private:
  Answer<void> look() {
    const WatchCounts counts = TRY(read_counts());
    if (counts != told_) tell(counts);
    if (counts.total() <= kRememberedMax) RETURN_IF_ERROR(look_for_arrivals());
    return {};
  }

  Answer<WatchCounts> read_counts() {
    const auto reply = TRY(session_.service.call<sqs::GetQueueAttributes>(
        {.queue_url = url_,
         .attribute_names = {"ApproximateNumberOfMessages",
                             "ApproximateNumberOfMessagesNotVisible"}}));
    const auto number = [&](std::string_view name) {
      return parse_int<std::int64_t>(attribute_of(reply->attributes, name)).value_or(0);
    };
    return WatchCounts{.visible = number("ApproximateNumberOfMessages"),
                       .in_flight = number("ApproximateNumberOfMessagesNotVisible")};
  }

  void tell(const WatchCounts& counts) {
    told_ = counts;
    if (session_.json) {
      session_.terminal().out << json_line(counts);
      return;
    }
    session_.terminal().out << fmt::format(
        "{} visible, {} in flight\n", counts.visible, counts.in_flight);
  }

  // Messages present at the first look are not arrivals.
  Answer<void> look_for_arrivals() {
    std::set<Uuid> here;
    TRY(for_each_message(
        session_,
        {.queue = options_.queue, .secrets = options_.unmasked ? Secrets::shown : Secrets::masked},
        [&](const documents::Message& message) {
          here.insert(message.message_id);
          if (known_ && !known_->contains(message.message_id)) tell_arrival(message);
          return true;
        }));
    known_ = std::move(here);
    return {};
  }

  void tell_arrival(const documents::Message& message) {
    const Secrets secrets = options_.unmasked ? Secrets::shown : Secrets::masked;
    if (session_.json) return print_message(session_, message, secrets);
    const MaskedMessage masked(message);
    std::string_view body = options_.unmasked ? message.body : (*masked).body;
    std::string line = harmless(body.substr(0, kBodyShownBytes));
    session_.terminal().out << fmt::format(
        "{}  {}  received {} times  {}{}\n",
        paint(session_.terminal(), Color::bold, message.message_id.text()),
        harmless(queue_name_of(message.dead_letter_source.value_or("sent here"))),
        message.receive_count,
        line,
        body.size() > kBodyShownBytes ? "…" : "");
  }

  Session& session_;
  const DlqWatchOptions& options_;
  std::string url_;
  std::optional<WatchCounts> told_;
  std::optional<std::set<Uuid>> known_;
};

}  // namespace

void add_dlq_watch(Verb parent, Commands& commands) {
  auto options = std::make_shared<DlqWatchOptions>();
  Verb verb = parent.verb("watch", "Show counts and arriving messages until Ctrl-C");
  verb.option("QUEUE", options->queue, "Name, URL or ARN").required();
  verb.option("--every", options->seconds, "Seconds between updates (default 2)").positive();
  verb.flag("--unmasked", options->unmasked, "Do not mask values that look like secrets");
  commands.attach(
      verb,
      [options](Session& session) -> Answer<void> {
        std::string url = TRY(find_queue_url(session.service, options->queue));
        return DlqWatch(session, *options, std::move(url)).run();
      },
      [options] { return options->queue; });
}

}  // namespace redrive::cli
