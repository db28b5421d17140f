#include "functions/dispatch/plan.h"

#include <array>

#include "base/digest.h"
#include "core/queue/consumer_name.h"
#include "functions/events/marshal_document.h"
#include "functions/events/retry_policy.h"

namespace redrive::dispatch {
namespace {

Result<std::optional<Destination>> destination_if_any(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return TRY(parse_destination(text));
}

// Counting starts over with other retriers or another mapping.
std::uint64_t scope_of(const functions::Mapping& mapping) {
  constexpr std::array<std::uint8_t, 16> kKey{};
  return siphash(kKey, mapping.id + events::write_retry_policy(mapping.retriers));
}

// Only our Python runtime reads marshal; others get the event as JSON.
constexpr runtime::Payload::Format kMarshal{.name = "marshal",
                                            .json = events::marshal::json_of_event};

events::EventFormat format_for(const runtime::FunctionSpec& function) {
  return function.runtime.starts_with("python") ? events::EventFormat::marshal
                                                : events::EventFormat::json;
}

constexpr std::size_t kRunsAt = 0;
constexpr std::size_t kDueAt = 1;
constexpr std::size_t kRetriesAt = 2;

}  // namespace

Result<std::shared_ptr<const Plan>> make_plan(functions::Mapping mapping,
                                              std::shared_ptr<const runtime::FunctionSpec> spec) {
  auto plan = std::make_shared<Plan>();
  plan->queue = TRY(parse_queue_arn(mapping.queue_arn));
  plan->frame = events::event_frame({.arn = mapping.queue_arn, .region = plan->queue.region},
                                    format_for(*spec));
  for (const std::string& filter : mapping.filters)
    plan->filters.push_back(TRY(events::parse_pattern(filter)));
  plan->on_success = TRY(destination_if_any(mapping.on_success));
  plan->on_failure = TRY(destination_if_any(mapping.on_failure));
  plan->consumer = consumer_of(*spec);
  plan->scope = scope_of(mapping);
  plan->mapping = std::move(mapping);
  plan->spec = std::move(spec);
  return plan;
}

std::string consumer_of(const runtime::FunctionSpec& spec) {
  const bool published = spec.version != "$LATEST";
  return queue::ConsumerName{.kind = queue::ConsumerName::Kind::function,
                             .name = spec.name,
                             .code = spec.code_version,
                             .version = published ? spec.version : std::string(),
                             .interpreter = spec.interpreter}
      .text();
}

runtime::Payload Plan::payload(std::string event) const {
  if (frame.format == events::EventFormat::marshal) return {std::move(event), kMarshal};
  return {std::move(event)};
}

RunCounts RunCounts::read(const queue::RetryCounts& stored, std::uint64_t scope) {
  RunCounts counts;
  if (stored.scope != scope || stored.counts.size() < kRetriesAt) return counts;
  counts.runs = stored.counts[kRunsAt];
  counts.due_seconds = stored.counts[kDueAt];
  counts.retries.assign(stored.counts.begin() + kRetriesAt, stored.counts.end());
  return counts;
}

queue::RetryCounts RunCounts::stored(std::uint64_t scope) const {
  queue::RetryCounts out{.scope = scope, .counts = {runs, due_seconds}};
  out.counts.insert(out.counts.end(), retries.begin(), retries.end());
  return out;
}

}  // namespace redrive::dispatch
