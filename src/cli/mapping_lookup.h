#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cli/session.h"
#include "documents/mappings.h"

namespace redrive::cli {

Answer<void> for_each_mapping(Session& session,
                              const std::function<void(const documents::MappingDocument&)>& visit);

// The id of a mapping that people call by its id, or by its queue or function where that leaves no
// doubt.
Answer<std::string> find_mapping(Session& session, std::string_view called);

// Of an ARN, without its qualifier.
std::string_view function_name_of(std::string_view arn);

}  // namespace redrive::cli
