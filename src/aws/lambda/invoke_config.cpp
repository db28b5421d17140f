#include <fmt/format.h>

#include "aws/lambda/catalogue.h"
#include "aws/lambda/destinations.h"
#include "aws/lambda/operations.h"
#include "base/result.h"
#include "core/catalogue/documents.h"
#include "manage/documents/mappings.h"

// How functions are invoked asynchronously.

namespace redrive::lambda {
namespace {

using functions::InvokeConfig;
using queue::EntryKind;

constexpr std::int64_t kEventRetriesMax = 2;
constexpr std::int64_t kEventAgeMin = 60;
constexpr std::int64_t kEventAgeMax = 21'600;

// The stored name: with the qualifier, unless it is $LATEST.
std::string config_arn(const CalledFunction& called) {
  return called.is_latest() ? called.id.arn() : called.arn();
}

// As Lambda returns it: always with the qualifier.
std::string qualified_arn(const std::string& arn) {
  return without_qualifier(arn) == arn ? fmt::format("{}:{}", arn, kLatest) : arn;
}

// Code by its digest is for trials only.
Outcome<void> check_invoked(engine::Turn& turn, const CalledFunction& called) {
  if (functions::is_code_qualifier(called.qualifier)) return no_such_function(called);
  RETURN_IF_ERROR(load_version(turn, called));
  return {};
}

Outcome<InvokeConfig> load_config(engine::Turn& turn, const CalledFunction& called) {
  RETURN_IF_ERROR(check_invoked(turn, called));
  const std::string* const entry =
      turn.state().find_entry(EntryKind::invoke_config, config_arn(called));
  if (entry == nullptr) {
    return not_found(fmt::format("The function {} doesn't have an EventInvokeConfig",
                                 qualified_arn(config_arn(called))));
  }
  return told<InvokeConfig>(functions::decode_invoke_config(*entry));
}

Outcome<InvokeConfig> find_config(const Call& call, const CalledFunction& called) {
  return call.parts.engine.turn([&](engine::Turn& turn) { return load_config(turn, called); });
}

Outcome<InvokeConfig> called_config(const Call& call) {
  const CalledFunction called = TRY(call.function());
  return find_config(call, called);
}

documents::InvokeConfigDocument describe_config(Call& call, const InvokeConfig& config) {
  documents::InvokeConfigDocument out{
      .last_modified = static_cast<double>(config.modified_wall.ms()) / 1000,
      .function_arn = call.keep(qualified_arn(config.function_arn)),
      .destination_config = describe_destinations(config.on_success, config.on_failure)};
  if (config.retries_max) out.maximum_retry_attempts = *config.retries_max;
  if (config.age_max) out.maximum_event_age = config.age_max->count();
  return out;
}

Outcome<void> check_limits(const documents::InvokeSettings& input) {
  const std::int64_t retries = input.maximum_retry_attempts.value_or(0);
  if (retries < 0 || retries > kEventRetriesMax) {
    return breaks_constraint(
        std::to_string(retries), "maximumRetryAttempts", "have value between 0 and 2");
  }
  const std::int64_t age = input.maximum_event_age.value_or(kEventAgeMax);
  if (age < kEventAgeMin || age > kEventAgeMax) {
    return breaks_constraint(
        std::to_string(age), "maximumEventAgeInSeconds", "have value between 60 and 21600");
  }
  return {};
}

enum class Rest { kept, removed };  // For settings that a request does not name.

Outcome<Answer> set_config(Call& call, Rest rest) {
  const CalledFunction called = TRY(call.function());
  const auto input = TRY(call.body<documents::InvokeSettings>());
  RETURN_IF_ERROR(check_limits(input));
  std::optional<Destinations> destinations;
  if (input.destination_config) {
    destinations = TRY(destinations_of(call, *input.destination_config, QueueTypes::standard));
    if (destinations->on_success == called.id.arn() ||
        destinations->on_failure == called.id.arn()) {
      return invalid("You can't specify the function as a destination for itself.");
    }
  }
  auto config = call.parts.engine.turn([&](engine::Turn& turn) -> Outcome<InvokeConfig> {
    RETURN_IF_ERROR(check_invoked(turn, called));
    InvokeConfig changed{.function_arn = config_arn(called)};
    if (rest == Rest::kept) changed = TRY(load_config(turn, called));
    if (input.maximum_retry_attempts) {
      changed.retries_max = static_cast<std::uint32_t>(*input.maximum_retry_attempts);
    }
    if (input.maximum_event_age) changed.age_max = std::chrono::seconds(*input.maximum_event_age);
    if (destinations) {
      changed.on_success = destinations->on_success;
      changed.on_failure = destinations->on_failure;
    }
    changed.modified_wall = turn.stamp().wall;
    catalogue::put(
        turn, EntryKind::invoke_config, changed.function_arn, functions::encode(changed));
    return changed;
  });
  const InvokeConfig changed = TRY(std::move(config));
  call.parts.changed();
  return json_answer(200, describe_config(call, changed));
}

}  // namespace

Outcome<Answer> get_invoke_config(Call& call) {
  const InvokeConfig config = TRY(called_config(call));
  return json_answer(200, describe_config(call, config));
}

Outcome<Answer> put_invoke_config(Call& call) {
  return set_config(call, Rest::removed);
}

Outcome<Answer> update_invoke_config(Call& call) {
  return set_config(call, Rest::kept);
}

Outcome<Answer> delete_invoke_config(Call& call) {
  const CalledFunction called = TRY(call.function());
  const Outcome<void> gone = call.parts.engine.turn([&](engine::Turn& turn) -> Outcome<void> {
    RETURN_IF_ERROR(load_config(turn, called));
    const std::string arn = config_arn(called);
    catalogue::remove(turn, EntryKind::invoke_config, arn);
    return {};
  });
  RETURN_IF_ERROR(gone);
  call.parts.changed();
  return empty_answer(204);
}

Outcome<Answer> list_invoke_configs(Call& call) {
  const CalledFunction called = TRY(call.function());
  RETURN_IF_ERROR(find_function(call, called));
  const auto configs = call.parts.engine.turn([&](engine::Turn& turn) {
    std::vector<std::string> documents;
    for (const std::string& arn : invoke_configs_of(turn, called.id)) {
      documents.push_back(*turn.state().find_entry(EntryKind::invoke_config, arn));
    }
    return documents;
  });
  documents::InvokeConfigList out;
  for (const std::string& document : configs) {
    const auto config = functions::decode_invoke_config(document);
    if (config) out.configs.push_back(describe_config(call, *config));
  }
  return json_answer(200, out);
}

}  // namespace redrive::lambda
