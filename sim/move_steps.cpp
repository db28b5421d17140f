// Messages moved by the consumers that received them.

#include <algorithm>

#include "sim/driver.h"
#include "sim/violation.h"

namespace redrive::sim {
namespace {

constexpr std::string_view kMoves = "who received it last may move it, and nobody else";

}  // namespace

std::optional<ErrorCode> Driver::move_refusal(const Shown& shown, queue::QueueKey from,
                                              queue::QueueKey to) {
  const Model& model = world_.model();
  const Standing standing = shown.forged ? Standing::foreign : model.standing(shown.handle, from);
  if (standing == Standing::foreign) return ErrorCode::receipt_handle_is_invalid;
  if (standing == Standing::gone) return ErrorCode::resource_not_found;
  const bool last = model.messages().at(shown.handle.key).generation() == shown.handle.generation;
  if (!last) return ErrorCode::resource_not_found;
  const bool fifo = model.queues().at(from).settings.is_fifo();
  if (fifo && standing != Standing::current) return ErrorCode::invalid_parameter_value;
  if (fifo != model.queues().at(to).settings.is_fifo()) return ErrorCode::invalid_parameter_value;
  return std::nullopt;
}

void Driver::move_held() {
  const auto from = choose_received_queue();
  const auto is_visible = [](const auto& entry) { return !entry.second.identity.is_hidden(); };
  if (!from || !world_.journal().has_room()) return;
  if (std::ranges::count_if(world_.model().queues(), is_visible) < 2) return;
  const auto handles = choose_handles(*from, 1 + chance_.below(5));
  if (handles.empty()) return;
  std::vector<std::string> texts;
  for (const Shown& shown : handles) texts.push_back(seal(shown));
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const auto found = world_.dead_letters().moves.delivered(identity_of(*from), views);
  require(found.has_value(), kMoves, "queue {}", number(*from));
  world_.follow(world_.take_records());
  world_.settle_answers();
  std::vector<PlannedMove> plans;
  for (std::size_t i = 0; i < handles.size(); ++i) {
    PlannedMove plan = plan_move(handles[i], *from, plans);
    plan.move.handle = texts[i];
    if (found->messages[i]) plan.move.of = found->messages[i]->body;
    plans.push_back(std::move(plan));
  }
  std::vector<dead_letters::Move> moves;
  for (PlannedMove& plan : plans) {
    plan.move.stored = plan.stored;
    moves.push_back(plan.move);
  }
  const auto done = world_.dead_letters().moves.move(
      identity_of(*from), moves, {.name = "holder", .reason = "moved"});
  require(done && done->size() == moves.size(), kMoves, "{} moves", moves.size());
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const bool right = is_as_expected((*done)[i], plans[i].expected);
    require(right, kMoves, "message {}", number(plans[i].key));
    tell("  message {}: {}", number(plans[i].key), !plans[i].expected);
    if (plans[i].letter) world_.keep(*std::move(plans[i].letter), plans[i].edition);
  }
  world_.follow(world_.take_records());
  world_.settle_answers();
}

// Of several moves of one message the first counts.
Driver::PlannedMove Driver::plan_move(const Shown& shown, queue::QueueKey from,
                                      std::span<const PlannedMove> before) {
  PlannedMove plan{.key = shown.handle.key};
  std::vector<queue::QueueKey> others;
  for (const auto& [key, queue] : world_.model().queues()) {
    if (key != from && !queue.identity.is_hidden()) others.push_back(key);
  }
  const queue::QueueKey to = chance_.pick(others);
  plan.move.destination = identity_of(to);
  plan.expected = move_refusal(shown, from, from);
  const bool again = std::ranges::any_of(
      before, [&](const PlannedMove& other) { return other.key == plan.key && !other.expected; });
  if (!plan.expected && again) plan.expected = ErrorCode::resource_not_found;
  if (!plan.expected) plan.expected = move_refusal(shown, from, to);
  const bool fifo = world_.model().queues().at(to).settings.is_fifo();
  if (!fifo && chance_.one_in(3)) plan.move.delay = std::chrono::seconds(chance_.below(30));
  if (plan.expected || !chance_.one_in(2)) return plan;
  plan.letter = rewrite_letter(chance_, world_.letter(plan.key), world_.shape().body_bytes_max);
  plan.stored = stored_bytes(*plan.letter);
  plan.edition = world_.model().messages().at(plan.key).edition + 1;
  return plan;
}

}  // namespace redrive::sim
