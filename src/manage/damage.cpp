// Messages whose stored bytes cannot be read: listed, dropped and read again.

#include "base/calendar.h"
#include "core/queue/hidden_queues.h"
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

documents::DamagedPage damaged_page(Call& call, const dead_letters::DamagedPage& page) {
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

Result<documents::DamagedPage> list_of(Call& call, const queue::QueueIdentity& queue) {
  const queue::Mailbox::AgeMark after = TRY(mark_of(call.query("after")));
  const std::size_t max = TRY(call.query_number("limit", kDamagedPage, kDamagedPageMax));
  return damaged_page(call, TRY(call.parts.dead_letters.damage.list(queue, after, max)));
}

Result<documents::Touched> drop_of(Call& call, const queue::QueueIdentity& queue,
                                   const documents::DamagedChoice& input) {
  dead_letters::DeadLetters& dead_letters = call.parts.dead_letters;
  auto keys = TRY(damaged_keys(input, kDroppedMax));
  const bool all = input.all.value_or(false);
  const queue::Mailbox::AgeMark start = TRY(mark_of({}));
  if (all) keys = keys_of_damaged(TRY(dead_letters.damage.list(queue, start, kDamagedPageMax)));
  const std::size_t dropped = TRY(dead_letters.damage.drop(queue, keys));
  return documents::Touched{static_cast<std::int64_t>(dropped),
                            all && keys.size() == kDamagedPageMax};
}

Result<documents::DamagedRetried> retry_of(Call& call, const queue::QueueIdentity& queue,
                                           const documents::DamagedChoice& input) {
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

// The queue of the events of {function}; nullopt for a function that has had none.
Result<std::optional<queue::QueueIdentity>> events_of_function(Call& call) {
  const Call::FunctionCalled function = call.path_function();
  auto events = queue::async_of(function.account, function.region, function.qualified);
  const std::string arn =
      front::function_resource(function.account, function.region, function.name).arn();
  return call.parts.engine.turn(
      [&](engine::Turn& turn) -> Result<std::optional<queue::QueueIdentity>> {
        if (turn.state().find_entry(queue::EntryKind::function, arn) == nullptr) {
          return fail(ErrorCode::resource_not_found,
                      "There is no function named " + function.name + ".");
        }
        if (turn.state().find(events) == nullptr) return std::nullopt;
        return std::move(events);
      });
}

// Of such a function.
dead_letters::DamagedPage no_damage(Call& call) {
  dead_letters::DamagedPage page;
  page.wall = call.parts.engine.turn([](engine::Turn& turn) { return turn.stamp().wall; });
  return page;
}

}  // namespace

Result<documents::DamagedCounts> count_damaged(Call& call) {
  documents::DamagedCounts out;
  for (const auto& [queue, messages] : call.parts.dead_letters.damage.counts()) {
    const bool own = queue.account == call.caller.account && queue.region == call.caller.region;
    if (messages == 0 || !own) continue;
    const auto count = static_cast<std::int64_t>(messages);
    if (auto function = queue::function_of_async(queue.name)) {
      if (call.sees_function(queue.account, queue.region, *function))
        out.functions.push_back({call.keep(*std::move(function)), count});
    } else if (call.sees(queue)) {
      out.queues.push_back({call.keep(queue.name), count});
    }
  }
  return out;
}

Result<documents::DamagedPage> list_damaged(Call& call) {
  return list_of(call, call.queue("queue"));
}

Result<documents::Touched> drop_damaged(Call& call, const documents::DamagedChoice& input) {
  return drop_of(call, call.queue("queue"), input);
}

Result<documents::DamagedRetried> retry_damaged(Call& call, const documents::DamagedChoice& input) {
  return retry_of(call, call.queue("queue"), input);
}

Result<documents::DamagedPage> list_damaged_events(Call& call) {
  const auto events = TRY(events_of_function(call));
  if (!events) return damaged_page(call, no_damage(call));
  return list_of(call, *events);
}

Result<documents::Touched> drop_damaged_events(Call& call, const documents::DamagedChoice& input) {
  const auto events = TRY(events_of_function(call));
  if (events) return drop_of(call, *events, input);
  TRY(damaged_keys(input, kDroppedMax));
  return documents::Touched{};
}

Result<documents::DamagedRetried> retry_damaged_events(Call& call,
                                                       const documents::DamagedChoice& input) {
  const auto events = TRY(events_of_function(call));
  if (events) return retry_of(call, *events, input);
  TRY(damaged_keys(input, kRetriedMax));
  return documents::DamagedRetried{};
}

}  // namespace redrive::manage
