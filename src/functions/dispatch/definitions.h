#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "functions/definitions/definition.h"
#include "functions/runtime/invoker.h"

namespace redrive::dispatch {

// All functions and mappings at one point in time.
struct Definitions {
  struct Entry {
    functions::FunctionId id;
    std::shared_ptr<const runtime::FunctionSpec> spec;
    functions::InvokeConfig config;  // Defaults if not configured.
    std::string dead_letter_arn;
  };
  // By unqualified ARN; also versions and aliases that have received events (async_queue_of), by
  // qualified ARN.
  std::map<std::string, Entry> functions;
  // Versions and aliases used by mappings, by qualified ARN.
  std::map<std::string, std::shared_ptr<const runtime::FunctionSpec>> versions = {};
  std::vector<functions::Mapping> mappings;
};

}  // namespace redrive::dispatch
