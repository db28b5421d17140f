#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace redrive::cli {

// A function's code as a zip for Lambda: a zip is used as it is, a directory or a single file is
// packed. Reproducible, so that unchanged code keeps its digest.
Result<std::string> package_code(const std::filesystem::path& path);
// Code written inline in a template, packed under the file name that AWS uses.
Result<std::string> package_text(std::string_view runtime, std::string_view text);

}  // namespace redrive::cli
