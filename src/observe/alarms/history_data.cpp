#include "observe/alarms/history_data.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <optional>

#include "base/calendar.h"
#include "net/wire/encode.h"
#include "net/wire/shape.h"

namespace redrive::alarms {
namespace {

struct ActionData {
  std::string_view action_state;
  std::int64_t state_changed = 0;
  std::string_view resource;
  std::optional<std::string_view> error;
  std::optional<std::string_view> status;
  std::int64_t attempts = 0;
  std::optional<std::string_view> next;
};
consteval auto shape_of(ActionData*) {
  using D = ActionData;
  return wire::shape(wire::required("actionState", &D::action_state),
                     wire::required("stateUpdateTimestamp", &D::state_changed),
                     wire::required("notificationResource", &D::resource),
                     wire::optional("error", &D::error),
                     wire::optional("status", &D::status),
                     wire::required("attempts", &D::attempts),
                     wire::optional("nextAttempt", &D::next));
}

bool is_json_object(const std::string& text) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  return parser.parse(text).get(root) == simdjson::SUCCESS && root.is_object();
}

void append_state(std::string& out, std::string_view member, const Condition& condition) {
  out +=
      fmt::format(R"("{}":{{"stateValue":"{}","stateReason":)", member, name_of(condition.state));
  wire::append_json_text(out, condition.reason);
  if (is_json_object(condition.reason_data)) {
    out.append(R"(,"stateReasonData":)").append(condition.reason_data);
  }
  out += "}";
}

std::string_view action_state(DeliveryState state) {
  switch (state) {
    case DeliveryState::queued:
    case DeliveryState::failing:
      return "InProgress";
    case DeliveryState::delivered:
      return "Succeeded";
    case DeliveryState::given_up:
    case DeliveryState::superseded:
      break;
  }
  return "Failed";
}

std::string_view error_of(const Delivery& delivery) {
  if (delivery.state != DeliveryState::superseded) return delivery.error;
  return "a later state of the alarm replaced this one before it was delivered";
}

}  // namespace

std::string state_change_data(const Condition& before, const Condition& after) {
  std::string out = R"({"version":"1.0",)";
  append_state(out, "oldState", before);
  out += ",";
  append_state(out, "newState", after);
  return out + "}";
}

std::string action_data(const Delivery& delivery, Duration wall_ahead) {
  ActionData data{.action_state = action_state(delivery.state),
                  .state_changed = delivery.state_changed.ms(),
                  .resource = delivery.target,
                  .error = std::nullopt,
                  .status = std::nullopt,
                  .attempts = delivery.attempts,
                  .next = std::nullopt};
  const std::string next = format_utc(delivery.next + wall_ahead);
  if (!error_of(delivery).empty()) data.error = error_of(delivery);
  if (!delivery.status.empty()) data.status = delivery.status;
  if (delivery.state == DeliveryState::failing) data.next = next;
  std::string out;
  wire::encode_json(out, data);
  return out;
}

std::string action_summary(const Delivery& delivery) {
  switch (delivery.state) {
    case DeliveryState::queued:
      return fmt::format("Executing action {}", delivery.target);
    case DeliveryState::failing:
      return fmt::format(
          "Executing action {}. Received error: \"{}\"", delivery.target, delivery.error);
    case DeliveryState::delivered:
      return fmt::format("Successfully executed action {}", delivery.target);
    case DeliveryState::given_up:
    case DeliveryState::superseded:
      break;
  }
  return fmt::format(
      "Failed to execute action {}. Received error: \"{}\"", delivery.target, error_of(delivery));
}

}  // namespace redrive::alarms
