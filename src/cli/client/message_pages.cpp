#include "cli/client/message_pages.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/client/message_view.h"
#include "cli/client/queue_document.h"
#include "cli/client/queue_name.h"
#include "dead_letters/triage/filter_text.h"
#include "dead_letters/triage/secrets.h"

namespace redrive::cli {
namespace {

constexpr std::uint64_t kPageMessagesMax = 100;
constexpr std::uint64_t kCandidatesMax = 10;

std::string masked_text(std::string_view text) {
  return triage::mask_secrets(text, {.bytes_max = std::numeric_limits<std::size_t>::max()});
}

std::string masked_value(std::string_view name, std::string_view value) {
  return triage::is_secret_name(name) ? "***" : masked_text(value);
}

}  // namespace

std::string_view secrets_parameter(Secrets secrets) {
  return secrets == Secrets::shown ? "&unmasked=true" : "";
}

Answer<void> check_secrets(Secrets secrets, const std::optional<bool>& masked) {
  if (secrets == Secrets::masked || !masked.value_or(false)) return {};
  return std::unexpected(Failure{
      Failure::Kind::refused,
      "",
      "the server masked secrets, because the key's role is reader: use a key with another role"});
}

MessageQuestion message_called(std::string queue, std::string_view id) {
  const std::string literal = triage::filter_literal(id);
  return {.queue = std::move(queue),
          .filter = fmt::format("message_id == {} or lineage == {}", literal, literal),
          .messages_max = 1};
}

Answer<std::uint64_t> for_each_message(
    Session& session, const MessageQuestion& question,
    const std::function<bool(const documents::Message&)>& visit) {
  const std::string path = fmt::format("queues/{}/messages?filter={}",
                                       percent_encode(queue_name_of(question.queue), false),
                                       percent_encode(question.filter, false)) +
                           std::string(secrets_parameter(question.secrets));
  std::string after;
  std::uint64_t visited = 0;
  do {
    const std::uint64_t wanted = std::min(kPageMessagesMax, question.messages_max - visited);
    const auto page = TRY(session.service.manage<documents::MessagePage>(
        "GET", fmt::format("{}&limit={}&after={}", path, wanted, after)));
    RETURN_IF_ERROR(check_secrets(question.secrets, page->masked));
    for (const documents::Message& message : page->messages) {
      ++visited;
      if (!visit(message)) return visited;
    }
    after = page->next.value_or("");
  } while (!after.empty() && visited < question.messages_max);
  return visited;
}

Answer<std::string> whole_message_id(Session& session, const std::string& queue,
                                     std::string_view called) {
  if (Uuid::parse(called)) return std::string(called);
  const std::string literal = triage::filter_literal(called);
  const MessageQuestion question{
      .queue = queue,
      .filter = fmt::format("message_id startswith {0} or lineage startswith {0}", literal),
      .messages_max = kCandidatesMax};
  std::vector<std::string> ids;
  TRY(for_each_message(session, question, [&](const documents::Message& message) {
    ids.push_back(message.message_id.text());
    return true;
  }));
  if (ids.size() == 1) return ids.front();
  if (ids.empty()) {
    return std::unexpected(Failure{.kind = Failure::Kind::refused,
                                   .code = "NotFound",
                                   .message = fmt::format("{} has no message {}", queue, called)});
  }
  return std::unexpected(
      Failure{.kind = Failure::Kind::refused,
              .code = "Ambiguous",
              .message = fmt::format("{} is ambiguous: {}{} messages match: {}",
                                     called,
                                     ids.size() >= kCandidatesMax ? "at least " : "",
                                     ids.size(),
                                     fmt::join(ids, ", "))});
}

MaskedMessage::MaskedMessage(const documents::Message& message)
    : message_(message), body_(masked_text(message.body)) {
  message_.body = body_;
  // Reserved, because views point into the strings.
  values_.reserve(message_.attributes.size() + 3 * message_.attempts.size());
  for (auto& [name, value] : message_.attributes) {
    if (value.string_value) {
      value.string_value = values_.emplace_back(masked_value(name, *value.string_value));
    }
  }
  for (documents::Attempt& attempt : message_.attempts) {
    attempt.error_message = values_.emplace_back(masked_text(attempt.error_message));
    attempt.stack_trace = values_.emplace_back(masked_text(attempt.stack_trace));
    attempt.log = values_.emplace_back(masked_text(attempt.log));
  }
}

void print_message(Session& session, const documents::Message& message, Secrets secrets) {
  const MaskedMessage masked(message);
  const documents::Message& shown = secrets == Secrets::shown ? message : *masked;
  Terminal& terminal = session.terminal();
  terminal.out << (session.json ? json_line(shown) : readable_message(terminal, shown));
}

}  // namespace redrive::cli
