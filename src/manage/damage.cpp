// Messages whose stored bytes cannot be read: listed, dropped and read again.

#include "base/calendar.h"
#include "manage/operations.h"

namespace redrive::manage {
namespace {

constexpr std::size_t kDamagedPage = 100;
constexpr std::size_t kDamagedPageMax = 1'000;
// What one request drops at most, and what one reads again.
constexpr std::size_t kDroppedMax = 10'000;
constexpr std::size_t kRetriedMax = 250;

std::optional<std::string_view> damage_text(Call& call, std::string text) {
  if (text.empty()) return std::nullopt;
  return call.keep(std::move(text));
}

documents::DamagedMessage describe_damaged(Call& call,
                                           const dead_letters::DamagedMessage& message) {
  return {.key = static_cast<std::int64_t>(number(message.mark.key)),
          .message_id = message.message_id,
          .queue_arn = call.keep(message.queue_arn),
          .error = call.keep(message.error),
          .found_at = call.keep(format_utc(message.found_wall)),
          .expires_at = call.keep(format_utc(message.expires_wall)),
          .segment = message.body.segment,
          .offset = message.body.offset,
          .size = message.body.size,
          .receive_count = message.receive_count,
          .group_id = damage_text(call, message.group),
          .dead_letter_source = damage_text(call, message.dead_letter_source)};
}

Result<std::vector<queue::MessageKey>> damaged_keys(const documents::DamagedChoice& input,
                                                    std::size_t max) {
  std::vector<queue::MessageKey> keys;
  for (const std::int64_t key : input.keys) keys.push_back(static_cast<queue::MessageKey>(key));
  if (keys.empty() == !input.all.value_or(false)) {
    return fail(ErrorCode::invalid_parameter_value, "Select messages with `keys` or `all`.");
  }
  if (keys.size() > max) {
    return fail(ErrorCode::invalid_parameter_value, "`keys` has too many entries for one request.");
  }
  return keys;
}

std::vector<queue::MessageKey> keys_of_damaged(const dead_letters::DamagedPage& page) {
  std::vector<queue::MessageKey> keys;
  for (const dead_letters::DamagedMessage& message : page.messages)
    keys.push_back(message.mark.key);
  return keys;
}

}  // namespace

Result<documents::DamagedCounts> count_damaged(Call& call) {
  documents::DamagedCounts out;
  for (const auto& [queue, messages] : call.parts.dead_letters.damage.counts()) {
    const bool own = queue.account == call.caller.account && queue.region == call.caller.region;
    if (messages == 0 || !own || !call.sees(queue)) continue;
    out.queues.push_back({call.keep(queue.name), static_cast<std::int64_t>(messages)});
  }
  return out;
}

Result<documents::DamagedPage> list_damaged(Call& call) {
  const queue::QueueIdentity queue = call.queue("queue");
  const queue::Mailbox::AgeMark after = TRY(mark_of(call.query("after")));
  const std::size_t max = TRY(call.query_number("limit", kDamagedPage, kDamagedPageMax));
  const dead_letters::DamagedPage page =
      TRY(call.parts.dead_letters.damage.list(queue, after, max));
  documents::DamagedPage out{.now = call.keep(format_utc(page.wall)),
                             .total = static_cast<std::int64_t>(page.total),
                             .messages = {},
                             .next = {}};
  for (const dead_letters::DamagedMessage& message : page.messages) {
    out.messages.push_back(describe_damaged(call, message));
  }
  if (page.more) out.next = call.keep(token_of(page.messages.back().mark));
  return out;
}

Result<documents::Touched> drop_damaged(Call& call, const documents::DamagedChoice& input) {
  const queue::QueueIdentity queue = call.queue("queue");
  dead_letters::DeadLetters& dead_letters = call.parts.dead_letters;
  auto keys = TRY(damaged_keys(input, kDroppedMax));
  const bool all = input.all.value_or(false);
  const queue::Mailbox::AgeMark start = TRY(mark_of({}));
  if (all) keys = keys_of_damaged(TRY(dead_letters.damage.list(queue, start, kDamagedPageMax)));
  const std::size_t dropped = TRY(dead_letters.damage.drop(queue, keys));
  return documents::Touched{static_cast<std::int64_t>(dropped),
                            all && keys.size() == kDamagedPageMax};
}

Result<documents::DamagedRetried> retry_damaged(Call& call, const documents::DamagedChoice& input) {
  const queue::QueueIdentity queue = call.queue("queue");
  dead_letters::DeadLetters& dead_letters = call.parts.dead_letters;
  auto keys = TRY(damaged_keys(input, kRetriedMax));
  documents::DamagedRetried out;
  if (input.all.value_or(false)) {
    const queue::Mailbox::AgeMark after = TRY(mark_of(input.after.value_or("")));
    const auto page = TRY(dead_letters.damage.list(queue, after, kRetriedMax));
    keys = keys_of_damaged(page);
    if (page.more) out.next = call.keep(token_of(page.messages.back().mark));
  }
  const std::string actor = call.actor();
  out.restored = static_cast<std::int64_t>(
      TRY(dead_letters.damage.retry(queue, keys, {.name = actor, .reason = {}})));
  out.still_damaged = static_cast<std::int64_t>(keys.size()) - out.restored;
  return out;
}

}  // namespace redrive::manage
