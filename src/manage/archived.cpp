// Messages by lineage; archiving and restoring.

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "aws/sqs/draft.h"
#include "base/calendar.h"
#include "front/authorize.h"
#include "manage/id_prefix.h"
#include "manage/lineage.h"
#include "manage/operations.h"
#include "manage/refusals.h"

namespace redrive::manage {
namespace {

using Where = dead_letters::LineagePlace::Where;

// How many lineages with an id prefix are compared with what the caller may see.
constexpr std::size_t kLineagesLike = 16;

std::string_view state_of(const dead_letters::LineagePlace& place) {
  if (place.where == Where::queue) return "in-queue";
  if (place.where == Where::bin) return "in-bin";
  if (place.where == Where::damaged) return "damaged";
  if (place.where == Where::settled) return "processed";
  return place.restored_wall == Timestamp() ? "archived" : "restored";
}

std::string_view time_if_any(Call& call, Timestamp wall) {
  return wall == Timestamp() ? std::string_view() : call.keep(format_utc(wall));
}

documents::LineagePlace describe(Call& call, const dead_letters::LineagePlace& place) {
  const Keep keep = [&](std::string text) { return call.keep(std::move(text)); };
  const dead_letters::Peeked& message = place.message;
  documents::LineagePlace out{.state = state_of(place),
                              .queue = call.keep(place.queue),
                              .message_id = place.message_id,
                              .key = {},
                              .archive = call.keep(place.archive),
                              .archived_at = time_if_any(call, place.archived_wall),
                              .restored_at = time_if_any(call, place.restored_wall),
                              .origin = call.keep(message.origin),
                              .failure_group = call.keep(message.failure_group),
                              .attempts = attempts_of(message, keep),
                              .events = events_of(message, keep)};
  if (place.where != Where::archive) {
    out.key = static_cast<std::int64_t>(number(message.mark.key));
  }
  if (message.history) {
    out.redrives = message.history->redrives;
    out.attempts_total = message.history->attempts_total;
  }
  if (place.where == Where::settled && !out.events.empty()) {
    out.processed_at = out.events.back().at;
    out.job = out.events.back().job;
  }
  return out;
}

// Whether the caller may see messages of that queue.
bool may_see(const Call& call, const std::string& arn) {
  const auto queue = front::identity_from_arn(arn);
  return queue && queue->account == call.caller.account && call.allow(*queue);
}

std::unexpected<Error> too_many(std::size_t max) {
  return fail(ErrorCode::invalid_parameter_value,
              fmt::format("A request can contain at most {} messages.", max));
}

// Converts an archived message into the engine's form.
class Restoration {
 public:
  Restoration(Call& call, const documents::UnarchiveRequest& request,
              const queue::QueueSettings& settings)
      : request_(request), settings_(settings), actor_(call.actor()) {}

  Result<dead_letters::Unarchive> prepare(const documents::UnarchiveMessage& message) {
    return dead_letters::Unarchive{.draft = TRY(draft(message)),
                                   .lineage = message.lineage.lineage_id,
                                   .archived_as = message.archived_as,
                                   .told = TRY(history_in(message.lineage, keeps_count())),
                                   .again = request_.again.value_or(false)};
  }

 private:
  bool keeps_count() const { return request_.keep_count.value_or(false); }

  Result<queue::Draft> draft(const documents::UnarchiveMessage& message) {
    sqs::MessageAttributes system;
    if (message.trace_header) {
      system.emplace_back(
          "AWSTraceHeader",
          sqs::MessageAttributeValue{.data_type = "String", .string_value = *message.trace_header});
    }
    const sqs::OutgoingMessage outgoing{.body = message.body,
                                        .delay_seconds = std::nullopt,
                                        .attributes = message.attributes,
                                        .system_attributes = system,
                                        .dedup_id = message.deduplication_id,
                                        .group_id = message.group_id};
    RETURN_IF_ERROR(sqs::check_message(outgoing, settings_, sqs::SendForm::stored));
    sqs::PreparedMessage& prepared = prepared_.emplace_back();
    sqs::prepare_message({.id = actor_, .trace = {}}, outgoing, settings_, prepared);
    sqs::set_digest(prepared, md5(prepared.body));
    queue::Draft draft = prepared.draft;
    draft.delay = std::chrono::seconds(0);
    return draft;
  }

  const documents::UnarchiveRequest& request_;
  const queue::QueueSettings& settings_;
  const std::string actor_;
  // Drafts point into these: their addresses must not change.
  std::deque<sqs::PreparedMessage> prepared_;
};

}  // namespace

namespace {

// What the caller may see of a lineage.
std::vector<const dead_letters::LineagePlace*> visible_places(
    const Call& call, const dead_letters::LineageFound& found) {
  std::vector<const dead_letters::LineagePlace*> visible;
  for (const dead_letters::LineagePlace& place : found.places) {
    if (may_see(call, place.queue)) visible.push_back(&place);
  }
  return visible;
}

std::unexpected<Error> no_such_lineage() {
  return fail(ErrorCode::resource_not_found,
              "No message with this id was found in queues, bins or archives, or among messages "
              "that were processed after a redrive.");
}

// The only lineage with this id prefix, among those that the caller may see.
Result<dead_letters::LineageFound> lineage_like(const Call& call, std::string_view prefix) {
  if (!is_id_prefix(prefix)) {
    return fail(
        ErrorCode::invalid_parameter_value,
        "A lineage is identified by a MessageId, or by a prefix of at least four characters.");
  }
  std::string lower(prefix);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'F' ? static_cast<char>(c + 32) : c;
  });
  std::vector<dead_letters::LineageFound> found;
  std::vector<std::string> candidates;
  for (const Uuid& id : call.parts.dead_letters.lineages.like(lower, kLineagesLike)) {
    dead_letters::LineageFound one = call.parts.dead_letters.lineages.find(id);
    if (visible_places(call, one).empty()) continue;
    candidates.push_back(one.lineage.text());
    found.push_back(std::move(one));
  }
  if (found.empty()) return no_such_lineage();
  if (found.size() > 1) return ambiguous("messages", prefix, candidates);
  return std::move(found.front());
}

}  // namespace

Result<documents::LineageView> show_lineage(Call& call) {
  const auto id = Uuid::parse(call.parameter("id"));
  const dead_letters::LineageFound found = id ? call.parts.dead_letters.lineages.find(*id)
                                              : TRY(lineage_like(call, call.parameter("id")));
  documents::LineageView view{.lineage_id = found.lineage, .places = {}};
  for (const dead_letters::LineagePlace* place : visible_places(call, found)) {
    view.places.push_back(describe(call, *place));
  }
  if (view.places.empty()) return no_such_lineage();
  return view;
}

Result<documents::HeldLineages> look_at_held(Call& call, const documents::HandleList& input) {
  const queue::QueueIdentity queue = TRY(call.path_queue());
  if (input.receipt_handles.size() > documents::kHandlesMax) {
    return too_many(documents::kHandlesMax);
  }
  const auto held = TRY(call.parts.dead_letters.lineages.held(queue, input.receipt_handles));
  const Keep keep = [&](std::string text) { return call.keep(std::move(text)); };
  documents::HeldLineages out;
  for (const auto& message : held.messages) {
    documents::HeldLineage& line = out.messages.emplace_back();
    if (message) {
      line.lineage = lineage_of(message->message, message->lineage, keep);
    } else {
      line.code = code_of(message.error());
      line.message = call.keep(message.error().message);
    }
  }
  return out;
}

Result<documents::ArchivedResults> note_archived(Call& call,
                                                 const documents::ArchivedRequest& input) {
  const queue::QueueIdentity queue = TRY(call.path_queue());
  if (input.messages.size() > documents::kHandlesMax) return too_many(documents::kHandlesMax);
  std::vector<dead_letters::ArchivedByHolder> archived;
  for (const documents::ArchivedMessage& message : input.messages) {
    if (message.place.empty() || message.place.size() > queue::kArchivePlaceBytesMax) {
      return fail(ErrorCode::invalid_parameter_value,
                  fmt::format("`place` must have 1 to {} bytes.", queue::kArchivePlaceBytesMax));
    }
    archived.push_back({.handle = message.receipt_handle, .place = message.place});
  }
  const std::string actor = call.actor();
  const auto done = TRY(call.parts.dead_letters.lineages.archive_held(
      queue, archived, {.name = actor, .reason = input.reason}));
  documents::ArchivedResults out;
  for (const Result<void>& one : done) {
    documents::ArchivedResult& line = out.results.emplace_back();
    line.archived = one.has_value();
    if (one) continue;
    line.code = code_of(one.error());
    line.message = call.keep(one.error().message);
  }
  return out;
}

Result<documents::UnarchiveResults> unarchive_messages(Call& call,
                                                       const documents::UnarchiveRequest& input) {
  const queue::QueueIdentity queue = TRY(call.path_queue());
  if (input.messages.size() > documents::kUnarchivedMax) {
    return too_many(documents::kUnarchivedMax);
  }
  const auto settings = call.parts.engine.turn(
      [&](engine::Turn& turn) -> Result<std::shared_ptr<const queue::QueueSettings>> {
        return TRY(turn.queue(queue))->published;
      });
  RETURN_IF_ERROR(settings);
  Restoration restoration(call, input, **settings);
  documents::UnarchiveResults out;
  out.results.resize(input.messages.size());
  std::vector<dead_letters::Unarchive> messages;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < input.messages.size(); ++i) {
    auto prepared = restoration.prepare(input.messages[i]);
    if (prepared) {
      messages.push_back(*std::move(prepared));
      places.push_back(i);
    } else {
      out.results[i].code = code_of(prepared.error());
      out.results[i].message = call.keep(prepared.error().message);
    }
  }
  const std::string actor = call.actor();
  const auto done = TRY(call.parts.dead_letters.lineages.unarchive(
      queue, messages, {.name = actor, .reason = input.reason}));
  for (std::size_t i = 0; i < done.size(); ++i) {
    out.results[places[i]].message_id = done[i].message_id;
    out.results[places[i]].before = done[i].before;
  }
  return out;
}

}  // namespace redrive::manage
