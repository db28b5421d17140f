// Messages moved by those who received them.

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
  const auto to = choose_queue();
  if (!from || !to || *from == *to || !world_.journal().has_room()) return;
  const auto handles = choose_handles(*from, 1);
  if (handles.empty()) return;
  const Shown& shown = handles.front();
  const std::string text = seal(shown);
  const std::string_view view = text;
  const auto found = world_.engine().delivered(identity_of(*from), std::span(&view, 1));
  require(found.has_value(), kMoves, "queue {}", number(*from));
  world_.follow(world_.take_records());
  world_.settle_answers();
  const auto expected = move_refusal(shown, *from, *to);
  engine::Move move{.handle = text, .destination = identity_of(*to), .of = {}, .stored = {}};
  if (found->messages.front()) move.of = found->messages.front()->body;
  const bool fifo = world_.model().queues().at(*to).settings.is_fifo();
  if (!fifo && chance_.one_in(3)) move.delay = std::chrono::seconds(chance_.below(30));
  std::optional<Letter> letter;
  std::string stored;
  std::uint32_t edition = 0;
  if (!expected && chance_.one_in(2)) {
    letter =
        rewrite_letter(chance_, world_.letter(shown.handle.key), world_.shape().body_bytes_max);
    move.stored = stored = stored_bytes(*letter);
    edition = world_.model().messages().at(shown.handle.key).edition + 1;
  }
  const auto done = world_.engine().move(
      identity_of(*from), std::span(&move, 1), {.actor = "holder", .reason = "moved"});
  const bool right = done && is_as_expected(done->front(), expected);
  require(right, kMoves, "message {}", number(shown.handle.key));
  tell("  message {} to {}: {}", number(shown.handle.key), number(*to), !expected);
  if (letter) world_.keep(*std::move(letter), edition);
  world_.follow(world_.take_records());
  world_.settle_answers();
}

}  // namespace redrive::sim
