#include <deque>
#include <set>

#include "cli/client/queue_name.h"
#include "cli/client/receiver.h"
#include "cli/client/retry.h"
#include "cli/commands/commands.h"

// redrive tail: prints messages as they arrive, until Ctrl-C.
//
// With --delete it is a plain consumer. Without, it receives what is there, holds it only until it
// has reached the end of the queue, and then makes everything visible again. Releasing each message
// immediately would show the oldest ten forever, since they would be received again first.

namespace redrive::cli {
namespace {

constexpr std::int32_t kWaitSeconds = 20;
constexpr std::int32_t kHoldSeconds = 30;  // In case we die while holding messages.
// Keeps each look short, for the sake of the real consumers.
constexpr std::size_t kHeldMax = 1000;
constexpr std::size_t kRememberedMax = 100'000;
constexpr Duration kBetweenLooks{2'000};  // Each look at a full queue counts as a receive.

struct TailOptions {
  std::string queue;
  bool remove = false;
};

// Recently printed ids, so that a released message is not printed again.
class Shown {
 public:
  bool add(const Uuid& id) {
    if (!ids_.insert(id).second) return false;
    order_.push_back(id);
    if (order_.size() > kRememberedMax) {
      ids_.erase(order_.front());
      order_.pop_front();
    }
    return true;
  }

 private:
  std::set<Uuid> ids_;
  std::deque<Uuid> order_;
};

class Tail {
 public:
  Tail(Session& session, std::string queue_url, bool remove)
      : session_(session), receiver_(session, std::move(queue_url)), remove_(remove) {}

  Answer<void> run() {
    Interrupt& interrupt = session_.world.interrupt;
    interrupt.watch();
    if (!remove_) {
      session_.terminal().err
          << "redrive: messages are returned to the queue, but each receive counts towards the "
             "dead-letter queue; --delete consumes them instead\n";
    }
    Backoff backoff(session_.world.ids, session_.world.sleep);
    while (!interrupt.requested()) {
      const auto done = remove_ ? consume() : look();
      if (done) backoff.reset();
      if (!done && (!worth_retrying(done.error()) || !backoff.again())) return done;
    }
    return {};
  }

 private:
  using Messages = Receiver::Messages;

  Answer<Messages> wait_for_messages() {
    session_.terminal().out.flush();
    session_.world.interrupt.idle_begins();
    auto messages = receiver_.poll(
        {.wait_seconds = kWaitSeconds,
         .visibility_seconds = remove_ ? std::nullopt : std::optional(kHoldSeconds)});
    session_.world.interrupt.idle_ends();
    return messages;
  }

  Answer<void> consume() {
    const Messages messages = TRY(wait_for_messages());
    for (const auto& message : messages->messages) receiver_.print(message);
    session_.terminal().out.flush();
    return receiver_.remove(receipts_of(*messages));
  }

  Answer<void> look() {
    std::vector<std::string> held;
    const Messages first = TRY(wait_for_messages());
    if (first->messages.empty()) return {};
    bool more = show(*first, held);
    Answer<void> outcome;
    while (more && held.size() < kHeldMax && !session_.world.interrupt.requested()) {
      const auto next = receiver_.poll({.visibility_seconds = kHoldSeconds});
      more = next && show(**next, held);
      if (!next) outcome = std::unexpected(next.error());
    }
    RETURN_IF_ERROR(receiver_.release(held));
    RETURN_IF_ERROR(outcome);
    rest();
    return {};
  }

  // Returns false at the end of the queue.
  bool show(const sqs::ReceiveMessageOutput& output, std::vector<std::string>& held) {
    for (const auto& message : output.messages) {
      if (shown_.add(message.message_id)) receiver_.print(message);
      held.emplace_back(message.receipt_handle);
    }
    return !output.messages.empty();
  }

  void rest() {
    session_.terminal().out.flush();
    session_.world.interrupt.idle_begins();
    session_.world.sleep(kBetweenLooks);
    session_.world.interrupt.idle_ends();
  }

  Session& session_;
  Receiver receiver_;
  bool remove_;
  Shown shown_;
};

}  // namespace

void add_tail(Verb parent, Commands& commands) {
  auto options = std::make_shared<TailOptions>();
  Verb verb = parent.verb("tail", "Print messages as they arrive, until Ctrl-C");
  verb.option("QUEUE", options->queue, "Name, URL or ARN").required();
  verb.flag("--delete", options->remove, "Delete printed messages");
  commands.attach(
      verb,
      [options](Session& session) -> Answer<void> {
        std::string url = TRY(find_queue_url(session.service, options->queue));
        return Tail(session, std::move(url), options->remove).run();
      },
      [options] { return options->queue; });
}

}  // namespace redrive::cli
