#pragma once

#include <string>

#include "observe/alarms/alarm.h"
#include "observe/alarms/delivery.h"

// HistoryData in CloudWatch's format.

namespace redrive::alarms {

// For a StateUpdate.
std::string state_change_data(const Condition& before, const Condition& after);

// For an Action. CloudWatch knows Succeeded and Failed; an unfinished delivery is InProgress, with
// our own fields for attempts, error and next attempt.
std::string action_data(const Delivery& delivery, Duration wall_ahead);
// The summary that goes with it.
std::string action_summary(const Delivery& delivery);

}  // namespace redrive::alarms
