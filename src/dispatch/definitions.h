#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "functions/definition.h"
#include "runtime/invoker.h"

namespace redrive::dispatch {

// What there is to run, at one moment.
struct Definitions {
  struct Entry {
    functions::FunctionId id;
    std::shared_ptr<const runtime::FunctionSpec> spec;
    functions::InvokeConfig config;  // As it is when nobody has set any.
    std::string dead_letter_arn;
  };
  // By ARN, without a qualifier; and those versions and aliases that have had events
  // (async_queue_of), with it.
  std::map<std::string, Entry> functions;
  // What mappings call by a version or an alias, by that ARN.
  std::map<std::string, std::shared_ptr<const runtime::FunctionSpec>> versions = {};
  std::vector<functions::Mapping> mappings;
};

}  // namespace redrive::dispatch
