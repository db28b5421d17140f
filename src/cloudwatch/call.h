#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "alarms/watcher.h"
#include "api/catalogue_access.h"
#include "api/gate.h"
#include "api/witness.h"
#include "auth/access_key.h"
#include "base/result.h"
#include "cloudwatch/answer.h"
#include "cloudwatch/parameters.h"
#include "engine/engine.h"
#include "metrics/history.h"

namespace redrive::cloudwatch {

// What the actions work on.
struct Parts {
  engine::Engine& engine;
  const api::Gate& gate;
  const metrics::History& history;
  std::function<void()> observe;  // Brings the history to this moment.
  alarms::Watcher& watcher;
  std::function<void()> look;  // Judges the alarms that are due.
  api::Observers observers = {};
  api::BucketOwner bucket_owner = {};  // Empty: there are no buckets.
};

// One request.
struct Call {
  const Parts& parts;
  const Parameters& parameters;
  const api::Caller& caller;
  api::Operation operation;
  // People read the wall, metrics are kept by engine time: wall = engine time + this.
  Duration wall_ahead{0};
};

// One line of the table in actions.cpp.
struct Action {
  std::string_view name;
  auth::Right right;
  bool has_result;  // Whether XML wraps the answer in <NameResult>.
  Result<Value> (*run)(Call&);
};
std::span<const Action> actions();

Result<Value> get_metric_data(Call& call);
Result<Value> get_metric_statistics(Call& call);
Result<Value> list_metrics(Call& call);
Result<Value> put_metric_alarm(Call& call);
Result<Value> describe_alarms(Call& call);
Result<Value> describe_alarms_for_metric(Call& call);
Result<Value> describe_alarm_history(Call& call);
Result<Value> set_alarm_state(Call& call);
Result<Value> enable_alarm_actions(Call& call);
Result<Value> disable_alarm_actions(Call& call);
Result<Value> delete_alarms(Call& call);
Result<Value> tag_resource(Call& call);
Result<Value> untag_resource(Call& call);
Result<Value> list_tags_for_resource(Call& call);

}  // namespace redrive::cloudwatch
