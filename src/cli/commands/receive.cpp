#include <algorithm>
#include <set>

#include "cli/client/queue_name.h"
#include "cli/client/receiver.h"
#include "cli/commands/commands.h"

// redrive receive: receives messages once and prints them.

namespace redrive::cli {
namespace {

constexpr std::uint64_t kPollMax = 10;

struct ReceiveOptions {
  std::string queue;
  std::uint64_t count_max = 1;
  std::int32_t wait_seconds = 0;
  std::optional<std::int32_t> visibility_seconds;
  bool remove = false;
  bool all = false;
};

// Prints the result of one poll; returns false when it is time to stop. A message that is received
// twice has exceeded its visibility timeout: the end of the queue has been reached.
class Round {
 public:
  Round(const ReceiveOptions& options, Receiver& receiver)
      : options_(options), receiver_(receiver) {}

  Answer<bool> run() {
    const std::uint64_t wanted = options_.all ? kPollMax : options_.count_max - printed_;
    const auto reply =
        TRY(receiver_.poll({.count_max = static_cast<std::int32_t>(std::min(kPollMax, wanted)),
                            .wait_seconds = printed_ == 0 ? options_.wait_seconds : 0,
                            .visibility_seconds = options_.visibility_seconds}));
    bool fresh = !reply->messages.empty();
    for (const auto& message : reply->messages) {
      if (!seen_.insert(message.message_id).second) {
        fresh = false;
        continue;
      }
      receiver_.print(message);
      ++printed_;
    }
    if (options_.remove) RETURN_IF_ERROR(receiver_.remove(receipts_of(*reply)));
    return fresh && (options_.all || printed_ < options_.count_max);
  }

  std::uint64_t printed() const { return printed_; }

 private:
  const ReceiveOptions& options_;
  Receiver& receiver_;
  std::set<Uuid> seen_;
  std::uint64_t printed_ = 0;
};

Answer<void> run_receive(const ReceiveOptions& options, Session& session) {
  Receiver receiver(session, TRY(find_queue_url(session.service, options.queue)));
  Round round(options, receiver);
  while (TRY(round.run())) {
  }
  if (round.printed() == 0 && !session.json) session.terminal().err << "no messages\n";
  return {};
}

}  // namespace

void add_receive(Verb parent, Commands& commands) {
  auto options = std::make_shared<ReceiveOptions>();
  Verb verb = parent.verb("receive", "Receive messages and print them");
  verb.option("QUEUE", options->queue, "Name, URL or ARN").required();
  const Option max =
      verb.option("--max", options->count_max, "Maximum number of messages (default 1)")
          .range(1, 1'000'000'000);
  verb.option("--wait", options->wait_seconds, "Seconds to wait for a message (default 0)")
      .range(0, 20);
  verb.option("--visibility",
              options->visibility_seconds,
              "Visibility timeout in seconds (default: the queue's)")
      .range(0, 43200);
  verb.flag("--delete", options->remove, "Delete messages after printing them");
  verb.flag("--all", options->all, "Receive until the queue is empty").excludes(max);
  commands.attach(
      verb,
      [options](Session& session) { return run_receive(*options, session); },
      [options] { return options->queue; });
}

}  // namespace redrive::cli
