#pragma once

#include <string>

#include "alarms/alarm.h"
#include "alarms/delivery.h"

// HistoryData as CloudWatch forms it.

namespace redrive::alarms {

// Of a StateUpdate.
std::string state_change_data(const Condition& before, const Condition& after);

// Of an Action. CloudWatch knows Succeeded and Failed; what is still under way is InProgress, with
// attempts, error and next attempt, which are ours.
std::string action_data(const Delivery& delivery, Duration wall_ahead);
// The sentence that goes with it.
std::string action_summary(const Delivery& delivery);

}  // namespace redrive::alarms
