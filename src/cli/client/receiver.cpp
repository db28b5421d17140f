#include "cli/client/receiver.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/client/message_view.h"
#include "cli/client/queue_document.h"

namespace redrive::cli {
namespace {

constexpr std::size_t kEntriesMax = 10;

Answer<void> report_failed(Terminal& terminal,
                           const std::vector<sqs::BatchResultErrorEntry>& failed) {
  if (failed.empty()) return {};
  for (const auto& entry : failed) {
    terminal.err << fmt::format("redrive: {}: {}\n", harmless(entry.code), harmless(entry.message));
  }
  return std::unexpected(Failure{Failure::Kind::reported, "", ""});
}

// Sends one Action per ten receipts; `complete` fills in the entry's other members.
template <class Action, class Complete>
Answer<void> for_all(Session& session, const std::string& queue_url,
                     const std::vector<std::string>& receipts, Complete complete) {
  Answer<void> outcome;
  for (std::size_t begin = 0; begin < receipts.size(); begin += kEntriesMax) {
    typename Action::Input input{.queue_url = queue_url};
    const std::size_t end = std::min(begin + kEntriesMax, receipts.size());
    std::vector<std::string> ids;
    for (std::size_t i = begin; i < end; ++i) ids.push_back(std::to_string(i - begin));
    for (std::size_t i = begin; i < end; ++i) {
      auto& entry = input.entries.emplace_back();
      entry.id = ids[i - begin];
      entry.receipt_handle = receipts[i];
      complete(entry);
    }
    const auto reply = TRY(session.service.template call<Action>(input));
    if (auto failed = report_failed(session.terminal(), reply->failed); !failed) outcome = failed;
  }
  return outcome;
}

}  // namespace

Receiver::Receiver(Session& session, std::string queue_url)
    : session_(session), queue_url_(std::move(queue_url)) {}

Answer<Receiver::Messages> Receiver::poll(const Poll& poll) {
  return session_.service.call<sqs::ReceiveMessage>({.queue_url = queue_url_,
                                                     .message_system_attribute_names = {"All"},
                                                     .message_attribute_names = {"All"},
                                                     .max_number_of_messages = poll.count_max,
                                                     .visibility_timeout = poll.visibility_seconds,
                                                     .wait_time_seconds = poll.wait_seconds});
}

void Receiver::print(const sqs::ReceivedMessage& message) {
  Terminal& terminal = session_.terminal();
  if (session_.json) {
    terminal.out << json_line(message);
    return;
  }
  if (printed_before_) terminal.out << "\n";
  printed_before_ = true;
  terminal.out << readable_message(terminal, message, session_.world.clock.wall());
}

Answer<void> Receiver::remove(const std::vector<std::string>& receipts) {
  return for_all<sqs::DeleteMessageBatch>(session_, queue_url_, receipts, [](auto&) {});
}

Answer<void> Receiver::release(const std::vector<std::string>& receipts) {
  return for_all<sqs::ChangeMessageVisibilityBatch>(
      session_, queue_url_, receipts, [](auto& entry) { entry.visibility_timeout = 0; });
}

std::vector<std::string> receipts_of(const sqs::ReceiveMessageOutput& output) {
  std::vector<std::string> receipts;
  for (const auto& message : output.messages) receipts.emplace_back(message.receipt_handle);
  return receipts;
}

}  // namespace redrive::cli
