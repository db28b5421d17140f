#include <fmt/format.h>

#include "aws/lambda/catalogue.h"
#include "aws/lambda/mapping_rules.h"
#include "aws/lambda/operations.h"
#include "base/result.h"
#include "core/catalogue/documents.h"
#include "core/engine/in_turns.h"
#include "front/authorize.h"

// Event source mappings: which queue feeds which function.

namespace redrive::lambda {
namespace {

using functions::Mapping;
using queue::EntryKind;

constexpr std::size_t kMappingsPageMax = 100;

Outcome<CalledFunction> wanted_function(const Call& call, std::string_view name) {
  const CalledFunction called = TRY(call.function_called(name));
  if (functions::is_code_qualifier(called.qualifier)) {
    return invalid(
        "Code that is identified by its digest cannot be used here: use a version or an alias.");
  }
  if (!find_function(call, called)) return invalid("Function does not exist");
  return called;
}

// A mapping takes messages from its queue on behalf of its creator.
front::Operation consuming(const Call& call) {
  return {.name = call.operation_name,
          .right = auth::Right::consume,
          .shareable = true,
          .amounts_to = {"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"}};
}

Outcome<queue::QueueIdentity> wanted_queue(const Call& call, std::string_view arn) {
  const auto identity = front::identity_from_arn(arn);
  if (!identity) return invalid("Unrecognized event source.");
  RETURN_IF_ERROR(call.authorize(consuming(call), *identity));
  return *identity;
}

Outcome<queue::Queue*> source_queue(engine::Turn& turn, const queue::QueueIdentity& identity) {
  auto queue = turn.queue(identity);
  if (queue) return *queue;
  return invalid(
      "Error occurred while ReceiveMessage. SQS Error Code: "
      "AWS.SimpleQueueService.NonExistentQueue. SQS Error Message: The specified queue "
      "does not exist.");
}

Outcome<void> check_timeouts(const queue::Queue& queue, const functions::Function& function) {
  const auto visibility = queue.settings.visibility_timeout;
  if (visibility >= function.timeout) return {};
  return invalid(
      fmt::format("Queue visibility timeout: {} seconds is less than Function timeout: {} seconds",
                  visibility.count(),
                  function.timeout.count()));
}

bool is_same_pair(const Mapping& a, const Mapping& b) {
  return a.queue_arn == b.queue_arn &&
         without_qualifier(a.function_arn) == without_qualifier(b.function_arn);
}

// One queue and one function are mapped once. Holds while the catalogue is locked.
Outcome<void> check_unique(engine::Engine& engine, const Mapping& mapping) {
  std::string same;
  const auto look = [&](const std::string& id, const std::string& document) {
    const auto other = functions::decode_mapping(document);
    if (other && id != mapping.id && is_same_pair(*other, mapping)) same = id;
    return same.empty();
  };
  engine::visit_documents(engine, EntryKind::mapping, "", look);
  if (same.empty()) return {};
  return refuse(
      409,
      "ResourceConflictException",
      fmt::format("An event source mapping with SQS arn (\" {} \") and function (\" {} \") "
                  "already exists. Please update or delete the existing mapping with "
                  "UUID {}",
                  mapping.queue_arn,
                  mapping.function_arn.substr(mapping.function_arn.rfind(':') + 1),
                  same));
}

std::unexpected<Refusal> changed_meanwhile() {
  return refuse(409,
                "ResourceConflictException",
                "The mapping was changed by another request at the same time. Try again.");
}

std::string mapping_id(const Call& call) {
  return std::string(call.parameter("mapping"));
}

std::string_view changing_state(const Mapping& before, const Mapping& after) {
  if (before.enabled == after.enabled) return "Updating";
  return after.enabled ? "Enabling" : "Disabling";
}

}  // namespace

Outcome<Answer> create_mapping(Call& call) {
  const auto input = TRY(call.body<documents::MappingSettings>());
  const queue::QueueIdentity source = TRY(wanted_queue(call, input.event_source_arn.value_or("")));
  Mapping mapping{.account = call.caller.account,
                  .region = call.caller.region,
                  .queue_arn = std::string(*input.event_source_arn)};
  RETURN_IF_ERROR(apply_settings(call, input, mapping));
  for (const auto& [name, value] : input.tags) mapping.tags.emplace(name, value);
  const CalledFunction called = TRY(wanted_function(call, input.function_name.value_or("")));
  mapping.function_arn = called.arn();
  const auto lock = call.parts.engine.lock_catalogue();
  const Outcome<void> unique = check_unique(call.parts.engine, mapping);
  const Outcome<void> made = call.parts.engine.turn([&](engine::Turn& turn) -> Outcome<void> {
    const functions::Function function = TRY(load_version(turn, called));
    const queue::Queue& queue = *TRY(source_queue(turn, source));
    RETURN_IF_ERROR(check_with_queue(mapping, queue));
    RETURN_IF_ERROR(check_timeouts(queue, function));
    RETURN_IF_ERROR(unique);
    mapping.id = turn.ids().uuid().text();
    save(turn, mapping);
    return {};
  });
  RETURN_IF_ERROR(made);
  call.parts.changed();
  return json_answer(202, describe(call, mapping, "Creating"));
}

Outcome<Answer> get_mapping(Call& call) {
  const Mapping mapping = TRY(call.parts.engine.turn(
      [&](engine::Turn& turn) { return load_mapping(turn, mapping_id(call)); }));
  RETURN_IF_ERROR(may_touch(call, mapping));
  return json_answer(200, describe(call, mapping, current_state(call, mapping)));
}

Outcome<Answer> list_mappings(Call& call) {
  const std::size_t max = TRY(call.items_max(kMappingsPageMax));
  const std::string source = call.query("EventSourceArn");
  const std::string name = call.query("FunctionName");
  const std::string after = call.query("Marker");
  std::string function_arn;
  if (!name.empty()) function_arn = TRY(call.function_called(name)).id.arn();
  const auto mappings = all_mappings(call);
  documents::MappingList out;
  for (const Mapping& each : mappings) {
    if (!after.empty() && each.id <= after) continue;
    if (!source.empty() && each.queue_arn != source) continue;
    if (!name.empty() && without_qualifier(each.function_arn) != function_arn) continue;
    if (!may_touch(call, each)) continue;
    if (out.mappings.size() == max) {
      out.next_marker = out.mappings.back().uuid;
      break;
    }
    out.mappings.push_back(describe(call, each, current_state(call, each)));
  }
  return json_answer(200, out);
}

Outcome<Answer> update_mapping(Call& call) {
  const auto input = TRY(call.body<documents::MappingSettings>());
  const Mapping before = TRY(call.parts.engine.turn(
      [&](engine::Turn& turn) { return load_mapping(turn, mapping_id(call)); }));
  RETURN_IF_ERROR(may_touch(call, before));
  Mapping mapping = before;
  RETURN_IF_ERROR(apply_settings(call, input, mapping));
  if (input.function_name) {
    mapping.function_arn = TRY(wanted_function(call, *input.function_name)).arn();
  }
  const queue::QueueIdentity source = TRY(wanted_queue(call, mapping.queue_arn));
  const auto lock = call.parts.engine.lock_catalogue();
  const Outcome<void> unique = check_unique(call.parts.engine, mapping);
  const Outcome<void> done = call.parts.engine.turn([&](engine::Turn& turn) -> Outcome<void> {
    // The new mapping is based on `before`: a concurrent change must not be undone.
    const Mapping now = TRY(load_mapping(turn, mapping.id));
    if (functions::encode(now) != functions::encode(before)) return changed_meanwhile();
    // A mapping can be disabled after its queue was deleted.
    if (const auto queue = turn.queue(source)) RETURN_IF_ERROR(check_with_queue(mapping, **queue));
    RETURN_IF_ERROR(unique);
    save(turn, mapping);
    return {};
  });
  RETURN_IF_ERROR(done);
  call.parts.changed();
  return json_answer(202, describe(call, mapping, changing_state(before, mapping)));
}

Outcome<Answer> delete_mapping(Call& call) {
  auto removed = call.parts.engine.turn([&](engine::Turn& turn) -> Outcome<Mapping> {
    Mapping mapping = TRY(load_mapping(turn, mapping_id(call)));
    RETURN_IF_ERROR(may_touch(call, turn, mapping));
    catalogue::remove(turn, EntryKind::mapping, mapping.id);
    return mapping;
  });
  const Mapping mapping = TRY(std::move(removed));
  call.parts.changed();
  return json_answer(202, describe(call, mapping, "Deleting"));
}

}  // namespace redrive::lambda
