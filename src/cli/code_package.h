#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace redrive::cli {

// A function's code as the zip that Lambda takes: a zip as it is, a directory or a single file
// packed. The same files give the same bytes, so that code which did not change keeps its digest.
Result<std::string> package_code(const std::filesystem::path& path);
// Code that is written in a template, in the file where AWS puts it.
Result<std::string> package_text(std::string_view runtime, std::string_view text);

}  // namespace redrive::cli
