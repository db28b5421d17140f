#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cli/client/session.h"
#include "manage/documents/mappings.h"

namespace redrive::cli {

Answer<void> for_each_mapping(Session& session,
                              const std::function<void(const documents::MappingDocument&)>& visit);

// The id of a mapping given by its id, or by its queue or function if that is unambiguous.
Answer<std::string> find_mapping(Session& session, std::string_view called);

// The function's name in an ARN, without its qualifier.
std::string_view function_name_of(std::string_view arn);

}  // namespace redrive::cli
