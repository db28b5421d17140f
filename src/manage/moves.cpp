// Messages moved to another queue by their consumers.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "manage/operations.h"
#include "manage/refusals.h"

namespace redrive::manage {
namespace {

using Settings = std::shared_ptr<const queue::QueueSettings>;

bool changes_contents(const documents::Move& move) {
  return move.body || !move.set_attributes.empty() || !move.remove_attributes.empty() ||
         move.trace_header;
}

// Converts the moves of one request into the engine's form.
class Mover {
 public:
  Mover(Call& call, queue::QueueIdentity queue, const documents::MoveRequest& input)
      : call_(call), queue_(std::move(queue)), input_(input) {}

  Result<documents::MoveResults> run() {
    std::vector<std::string_view> handles;
    for (const documents::Move& move : input_.moves) handles.push_back(move.receipt_handle);
    const auto found = TRY(call_.parts.dead_letters.moves.delivered(queue_, handles));
    results_.resize(handles.size());
    for (std::size_t i = 0; i < handles.size(); ++i) {
      auto move = prepare(input_.moves[i], found.messages[i]);
      if (!move) {
        results_[i] = refusal(move.error());
        continue;
      }
      moves_.push_back(*std::move(move));
      places_.push_back(i);
    }
    RETURN_IF_ERROR(carry_out());
    const auto moved =
        std::ranges::count_if(results_, [](const auto& one) { return one.message_id.has_value(); });
    return documents::MoveResults{moved, std::move(results_)};
  }

 private:
  Result<dead_letters::Move> prepare(const documents::Move& move,
                                     const Result<dead_letters::Delivered>& delivered) {
    const dead_letters::Delivered& message = TRY(delivered);
    const auto& [identity, settings] =
        TRY(destination(move.destination.empty() ? message.dead_letter_source : move.destination));
    const std::int32_t delay = move.delay_seconds.value_or(0);
    if (delay > 0 && settings->is_fifo()) {
      return fail(ErrorCode::invalid_parameter_value, "FIFO queues do not support `delaySeconds`.");
    }
    dead_letters::Move out{.handle = move.receipt_handle,
                           .destination = identity,
                           .of = message.body,
                           .stored = {},
                           .delay = std::chrono::seconds(delay)};
    if (changes_contents(move))
      out.stored = TRY(contents(move, message.key, message.body, *settings));
    return out;
  }

  // Most moves of a request have the same destination.
  using Destination = std::pair<queue::QueueIdentity, Settings>;
  Result<Destination> destination(std::string_view name) {
    if (const auto known = destinations_.find(name); known != destinations_.end())
      return known->second;
    if (name.empty()) {
      return fail(ErrorCode::invalid_parameter_value,
                  "The source queue of the message is unknown: pass a `destination`.");
    }
    auto identity = TRY(call_.destination_called(name));
    auto settings = call_.parts.engine.turn([&](engine::Turn& turn) -> Result<Settings> {
      return TRY(turn.queue(identity))->published;
    });
    RETURN_IF_ERROR(settings);
    return destinations_.emplace(std::string(name), Destination(std::move(identity), *settings))
        .first->second;
  }

  Result<std::string_view> contents(const documents::Move& move, queue::MessageKey key,
                                    const queue::BodyRef& body,
                                    const queue::QueueSettings& settings) {
    std::string bytes;
    const auto stored = call_.parts.engine.read_message(key, body, bytes);
    if (!stored) return unreadable_message(stored.error());
    return call_.keep(TRY(edited(*stored,
                                 {.body = move.body,
                                  .patch = {},
                                  .set_attributes = move.set_attributes,
                                  .remove_attributes = move.remove_attributes,
                                  .trace_header = move.trace_header,
                                  .reason = {},
                                  .redrive = {},
                                  .destination = {}},
                                 settings)));
  }

  Result<void> carry_out() {
    if (moves_.empty()) return {};
    const std::string actor = call_.actor();
    const auto done = TRY(call_.parts.dead_letters.moves.move(
        queue_, moves_, {.name = actor, .reason = input_.reason}));
    for (std::size_t i = 0; i < done.size(); ++i) {
      done[i] ? void(results_[places_[i]].message_id = *done[i])
              : void(results_[places_[i]] = refusal(done[i].error()));
    }
    return {};
  }

  documents::MoveResult refusal(const Error& error) {
    return {.message_id = {}, .code = code_of(error), .message = call_.keep(error.message)};
  }

  Call& call_;
  const queue::QueueIdentity queue_;
  const documents::MoveRequest& input_;
  std::vector<documents::MoveResult> results_;
  std::vector<dead_letters::Move> moves_;
  std::vector<std::size_t> places_;  // Of each of these in the request.
  std::map<std::string, Destination, std::less<>> destinations_;
};

}  // namespace

Result<documents::MoveResults> move_messages(Call& call, const documents::MoveRequest& input) {
  const queue::QueueIdentity queue = TRY(call.path_queue());
  // Each destination is authorised by itself; a key without the right to send is refused at once.
  RETURN_IF_ERROR(front::authorize_role(call.caller, front::kSendToQueue));
  if (input.moves.size() > documents::kMovesMax) {
    return fail(ErrorCode::invalid_parameter_value,
                fmt::format("A request can move at most {} messages.", documents::kMovesMax));
  }
  return Mover(call, queue, input).run();
}

}  // namespace redrive::manage
