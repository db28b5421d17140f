#include <fmt/format.h>
#include <simdjson.h>

#include <thread>

#include "cli/client/child.h"
#include "cli/client/letter.h"
#include "cli/client/queue_name.h"
#include "cli/client/receiver.h"
#include "cli/client/retry.h"
#include "cli/commands/commands.h"

// redrive consume: passes each message to a command or a check; failed messages go to a dead-letter
// queue with the reason.

namespace redrive::cli {
namespace {

constexpr std::string_view kReason = "failureReason";
constexpr std::size_t kAttributeBytesMax = 1000;

struct ConsumeOptions {
  std::string queue;
  std::string dlq;
  std::string exec;
  std::string validate;
  std::int32_t timeout = 3600;
  std::int32_t visibility = 30;
  bool once = false;
  std::uint64_t max_messages = 0;
};

class Consumer {
 public:
  Consumer(Session& session, const ConsumeOptions& options, std::string queue_url,
           std::string dlq_url)
      : session_(session),
        options_(options),
        queue_url_(std::move(queue_url)),
        dlq_url_(std::move(dlq_url)),
        receiver_(session, queue_url_) {}

  Answer<void> run() {
    Interrupt& interrupt = session_.world.interrupt;
    interrupt.watch();
    Backoff backoff(session_.world.ids, session_.world.sleep);
    while (!interrupt.requested() && !is_enough()) {
      const auto found = turn();
      if (!found && (!worth_retrying(found.error()) || !backoff.again())) {
        return std::unexpected(found.error());
      }
      if (!found) continue;
      backoff.reset();
      if (!*found && options_.once) break;
    }
    session_.terminal().out << fmt::format("{} done, {} failed\n", done_, failed_);
    return {};
  }

 private:
  bool is_enough() const {
    return options_.max_messages > 0 && done_ + failed_ >= options_.max_messages;
  }

  Answer<Receiver::Messages> poll() {
    const std::uint64_t left =
        options_.max_messages == 0 ? 10 : options_.max_messages - done_ - failed_;
    session_.terminal().out.flush();
    session_.world.interrupt.idle_begins();
    auto messages =
        receiver_.poll({.count_max = static_cast<std::int32_t>(std::min<std::uint64_t>(left, 10)),
                        .wait_seconds = options_.once ? 1 : 20,
                        .visibility_seconds = options_.visibility});
    session_.world.interrupt.idle_ends();
    return messages;
  }

  // Returns false if there was nothing to do.
  Answer<bool> turn() {
    const Receiver::Messages messages = TRY(poll());
    std::vector<std::string> waiting = receipts_of(*messages);
    for (const auto& message : messages->messages) {
      // On interrupt, release the messages that were not started.
      if (session_.world.interrupt.requested()) {
        RETURN_IF_ERROR(receiver_.release(waiting));
        return true;
      }
      const ChildOutcome outcome = check(message, waiting);
      RETURN_IF_ERROR(outcome.succeeded ? finish(message) : bury(message, outcome.reason));
      waiting.erase(waiting.begin());
    }
    return !messages->messages.empty();
  }

  ChildOutcome check(const sqs::ReceivedMessage& message, const std::vector<std::string>& waiting) {
    if (!options_.validate.empty()) return validate_json(message.body);
    ChildRequest request{.command = options_.exec,
                         .input = message.body,
                         .environment = {{"REDRIVE_MESSAGE_ID", message.message_id.text()},
                                         {"REDRIVE_QUEUE_URL", queue_url_}},
                         .time_max = std::chrono::seconds(options_.timeout)};
    for (const auto& [name, value] : message.message_attributes) {
      if (!value.string_value) continue;
      request.environment.emplace_back(fmt::format("REDRIVE_ATTRIBUTE_{}", name),
                                       std::string(*value.string_value));
    }
    // Extend the visibility of this message and the waiting ones while it runs.
    return run_child(
        request, std::chrono::seconds(options_.visibility) / 3, [&] { (void)extend(waiting); });
  }

  static ChildOutcome validate_json(std::string_view body) {
    simdjson::dom::parser parser;
    const auto error = parser.parse(body.data(), body.size()).error();
    if (error == simdjson::SUCCESS) return {.succeeded = true};
    return {.succeeded = false,
            .reason = fmt::format("not JSON: {}", simdjson::error_message(error))};
  }

  Answer<void> extend(const std::vector<std::string>& receipts) {
    sqs::ChangeMessageVisibilityBatchInput input{.queue_url = queue_url_};
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < receipts.size(); ++i) ids.push_back(std::to_string(i));
    for (std::size_t i = 0; i < receipts.size(); ++i) {
      auto& entry = input.entries.emplace_back();
      entry.id = ids[i];
      entry.receipt_handle = receipts[i];
      entry.visibility_timeout = options_.visibility;
    }
    RETURN_IF_ERROR(session_.service.call<sqs::ChangeMessageVisibilityBatch>(input));
    return {};
  }

  Answer<void> finish(const sqs::ReceivedMessage& message) {
    RETURN_IF_ERROR(receiver_.remove({std::string(message.receipt_handle)}));
    ++done_;
    return {};
  }

  // Forwards with the reason, and deletes only after the dead-letter queue has accepted it. Without
  // a dead-letter queue the message stays, subject to the queue's own redrive policy.
  Answer<void> bury(const sqs::ReceivedMessage& message, const std::string& reason) {
    ++failed_;
    Terminal& terminal = session_.terminal();
    terminal.err << fmt::format(
        "redrive: {} failed: {}\n", message.message_id.text(), harmless(reason));
    if (dlq_url_.empty()) return {};
    LetterToSend sent{.letter = letter_of(message)};
    add_reason(sent.letter, reason);
    sent.deduplication = archive::retry_deduplication_id("consume " + sent.letter.message_id, 0);
    std::vector<SendOutcome> outcomes;
    RETURN_IF_ERROR(send_letters(session_.service, dlq_url_, {&sent}, outcomes));
    if (outcomes[0].confirmed) return receiver_.remove({std::string(message.receipt_handle)});
    terminal.err << fmt::format("redrive: {} stays in its queue: {}\n",
                                sent.letter.message_id,
                                harmless(outcomes[0].reason));
    return {};
  }

  void add_reason(archive::Letter& letter, const std::string& reason) {
    std::erase_if(letter.attributes, [](const auto& one) { return one.name == kReason; });
    std::string text = reason.substr(0, kAttributeBytesMax);
    for (char& c : text) {
      const bool plain = (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t';
      if (!plain) c = '?';
    }
    if (letter.attributes.size() < archive::kAttributesMax) {
      letter.attributes.push_back({std::string(kReason), "String", text});
    } else {
      session_.terminal().err
          << "redrive: the message has ten attributes; the reason cannot be added\n";
    }
  }

  Session& session_;
  const ConsumeOptions& options_;
  const std::string queue_url_;
  const std::string dlq_url_;
  Receiver receiver_;
  std::uint64_t done_ = 0;
  std::uint64_t failed_ = 0;
};

Answer<void> run_consume(Session& session, const ConsumeOptions& options) {
  if (options.exec.empty() == options.validate.empty()) {
    return usage_failure("either --exec or --validate is required");
  }
  std::string queue_url = TRY(find_queue_url(session.service, options.queue));
  std::string dlq_url;
  if (!options.dlq.empty()) dlq_url = TRY(find_queue_url(session.service, options.dlq));
  return Consumer(session, options, std::move(queue_url), std::move(dlq_url)).run();
}

}  // namespace

void add_consume(Verb parent, Commands& commands) {
  auto options = std::make_shared<ConsumeOptions>();
  Verb verb = parent.verb("consume", "Run a command for each message of a queue");
  verb.option("--queue", options->queue, "Queue name, URL or ARN").required();
  verb.option(
      "--dlq", options->dlq, "Queue for failed messages (default: they stay and are retried)");
  verb.option("--exec", options->exec, "Shell command; gets the body on standard input")
      .value_name("CMD");
  verb.option("--validate", options->validate, "Only check the format of bodies: json")
      .one_of({"json"});
  verb.option("--timeout", options->timeout, "Timeout of a command in seconds (default 3600)")
      .range(1, 43'200);
  verb.option("--visibility",
              options->visibility,
              "Visibility timeout, extended while running (default 30)")
      .range(3, 43'200);
  verb.flag("--once", options->once, "Exit when the queue is empty");
  verb.option("--max-messages", options->max_messages, "Exit after this many messages")
      .range(1, 1'000'000'000);
  commands.attach(
      verb,
      [options](Session& session) { return run_consume(session, *options); },
      [options] { return options->queue; });
}

}  // namespace redrive::cli
