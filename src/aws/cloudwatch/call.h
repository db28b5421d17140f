#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "aws/cloudwatch/answer.h"
#include "aws/cloudwatch/parameters.h"
#include "base/result.h"
#include "core/engine/engine.h"
#include "front/catalogue_access.h"
#include "front/gate.h"
#include "front/pipeline.h"
#include "net/auth/access_key.h"
#include "observe/alarms/watcher.h"
#include "observe/metrics/history.h"

namespace redrive::cloudwatch {

// What the actions work on.
struct Parts {
  engine::Engine& engine;
  const front::Gate& gate;
  const metrics::History& history;
  std::function<void()> observe;  // Brings the history to this moment.
  alarms::Watcher& watcher;
  std::function<void()> look;  // Judges the alarms that are due.
  front::Observers observers = {};
  front::BucketOwner bucket_owner = {};  // Empty: there are no buckets.
  front::Offload offload = {};  // Empty: everything runs on the thread that calls handle().
};

// One request.
struct Call {
  const Parts& parts;
  const Parameters& parameters;
  const front::Caller& caller;
  front::Operation operation;
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
