#include <fmt/format.h>

#include "cli/client/batch_planner.h"
#include "cli/client/batch_sender.h"
#include "cli/client/queue_document.h"
#include "cli/client/queue_name.h"
#include "cli/client/send_pool.h"
#include "cli/client/send_source.h"
#include "cli/commands/commands.h"
#include "cli/commands/send.h"
#include "cli/term/progress.h"

// redrive send: one message or a stream of them, ten per request, over several connections.

namespace redrive::cli {
namespace {

// Prints each message's result as soon as it is known, so that a long run shows its progress.
class Printer final : public SendReport {
 public:
  Printer(Session& session, std::optional<std::uint64_t> total)
      : session_(session), progress_(session.terminal(), session.world.clock, total) {}

  void accepted(std::uint64_t number, const sqs::SendMessageBatchResultEntry& entry) override {
    const MutexLock lock(mutex_);
    ++accepted_;
    hide_progress_on_shared_terminal();
    if (session_.json) {
      const std::string id = std::to_string(number);
      sqs::SendMessageBatchResultEntry numbered = entry;
      numbered.id = id;
      session_.terminal().out << json_line(numbered);
    } else {
      session_.terminal().out << entry.message_id.text();
      if (entry.sequence_number)
        session_.terminal().out << "  " << harmless(*entry.sequence_number);
      session_.terminal().out << "\n";
    }
    progress_.update(accepted_ + refused_);
  }

  void refused(std::uint64_t number, const sqs::BatchResultErrorEntry& entry) override {
    const MutexLock lock(mutex_);
    ++refused_;
    progress_.clear();
    session_.terminal().err << fmt::format(
        "redrive: {}: message {}: {}\n", harmless(entry.code), number, harmless(entry.message));
    if (!session_.json) return;
    const std::string id = std::to_string(number);
    sqs::BatchResultErrorEntry numbered = entry;
    numbered.id = id;
    session_.terminal().out << json_line(numbered);
  }

  // Prints the summary to stderr. Returns 0 if all `total` messages were accepted.
  std::uint64_t finish(std::uint64_t total) {
    const MutexLock lock(mutex_);
    progress_.clear();
    session_.terminal().out.flush();
    const std::uint64_t lost = total - accepted_;
    if (lost > 0) {
      session_.terminal().err << fmt::format("{} of {} messages were not accepted\n", lost, total);
    } else if (total > 1) {
      session_.terminal().err << fmt::format("{} messages sent\n", total);
    }
    return lost;
  }

 private:
  void hide_progress_on_shared_terminal() REQUIRES(mutex_) {
    if (session_.terminal().out_is_terminal) progress_.clear();
  }

  Session& session_;
  Mutex mutex_;  // Also guards the terminal while senders run.
  Progress progress_ GUARDED_BY(mutex_);
  std::uint64_t accepted_ GUARDED_BY(mutex_) = 0;
  std::uint64_t refused_ GUARDED_BY(mutex_) = 0;
};

enum class DeduplicationIds : std::uint8_t { keep, drop };

// Reads messages and passes batches to the pool until the input ends, a line is invalid, or a
// request has failed for good.
Answer<std::uint64_t> feed(SendSource& source, SendPool& pool, DeduplicationIds ids) {
  BatchPlanner planner;
  std::uint64_t total = 0;
  while (auto message = TRY(source.next())) {
    if (ids == DeduplicationIds::drop) message->deduplication.reset();
    auto batch = planner.add({.number = ++total, .message = std::move(*message)});
    if (batch && !pool.push(std::move(*batch))) return total;
  }
  if (auto batch = planner.rest()) pool.push(std::move(*batch));
  return total;
}

// A FIFO queue needs one connection to preserve the order.
unsigned connections_for(const SendOptions& options, std::string_view queue_url) {
  return is_fifo_name(queue_name_of(queue_url)) ? 1 : options.concurrency;
}

}  // namespace

Answer<void> send_messages(const SendOptions& options, Session& session, std::istream& in) {
  SendSource source = TRY(SendSource::open(options, session.world.environment, in));
  const std::string url = TRY(find_queue_url(session.service, options.queue));
  if (!source.total() && session.terminal().in_is_terminal && &in == &session.terminal().in) {
    session.terminal().err << "one message per line, Ctrl-D to end:\n";
  }
  Printer printer(session, source.total());
  SendPool pool(connections_for(options, url), [&] {
    World& world = session.world;
    return std::make_unique<BatchSender>(
        BatchSender::Parts{.service = Service(session.endpoint, world.connect(), world.clock),
                           .queue_url = url,
                           .report = printer,
                           .sleep = world.sleep,
                           .seed = world.ids.bits()});
  });
  // Only FIFO queues accept deduplication ids.
  const bool drop = options.carried && !is_fifo_name(queue_name_of(url));
  const auto total = feed(source, pool, drop ? DeduplicationIds::drop : DeduplicationIds::keep);
  if (const auto failure = pool.finish()) {
    printer.finish(total.value_or(0));
    return std::unexpected(*failure);
  }
  if (!total) return std::unexpected(total.error());
  if (printer.finish(*total) == 0) return {};
  return std::unexpected(Failure{Failure::Kind::reported, "", ""});
}

namespace {

void add_message_options(Verb verb, SendOptions& options) {
  verb.option("--attribute", options.attributes, "Set an attribute; NAME:Binary=@FILE reads a file")
      .value_name("NAME[:TYPE]=VALUE")
      .one_at_a_time();
  verb.option("--group", options.group, "Message group");
  verb.option("--dedup", options.deduplication, "Deduplication id");
  verb.option("--delay", options.delay_seconds, "Delay in seconds").range(0, 900);
}

}  // namespace

void add_send(Verb parent, Commands& commands) {
  auto options = std::make_shared<SendOptions>();
  Verb verb = parent.verb("send", "Send a message, or one for each line of standard input");
  verb.option("QUEUE", options->queue, "Name, URL or ARN").required();
  verb.option("BODY", options->body, "Body of the message (default: lines of standard input)");
  verb.option("--file", options->file, "File with the body");
  verb.flag("--ndjson",
            options->ndjson,
            "Read lines {\"Body\":…,\"MessageAttributes\":{…},\"MessageGroupId\":…}");
  add_message_options(verb, *options);
  verb.option("--repeat", options->repeat, "Send each message this many times")
      .range(1, 1'000'000'000);
  verb.option("--concurrency", options->concurrency, "Number of connections (default 4)")
      .range(1, 64);
  commands.attach(
      verb,
      [options](Session& session) {
        return send_messages(*options, session, session.terminal().in);
      },
      [options] { return options->queue; });
}

}  // namespace redrive::cli
