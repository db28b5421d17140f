#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "api/gate.h"
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
};

// One request.
struct Call {
  const Parts& parts;
  const Parameters& parameters;
  const api::Caller& caller;
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

}  // namespace redrive::cloudwatch
