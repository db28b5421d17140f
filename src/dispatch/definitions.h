#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
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
  std::map<std::string, Entry> functions;  // By ARN, without a qualifier.
  std::vector<functions::Mapping> mappings;
};

// Reads the catalogue. `spec_of` makes a function ready to run, by its ARN, outside the turn; those
// for which it returns nothing cannot run now. What cannot be read is left out and told.
using SpecOf =
    std::function<std::shared_ptr<const runtime::FunctionSpec>(const std::string& function_arn)>;
Definitions read_definitions(engine::Engine& engine, const SpecOf& spec_of,
                             const std::function<void(std::string)>& log);

}  // namespace redrive::dispatch
