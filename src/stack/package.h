#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// A function's code as the zip that Lambda takes.

namespace redrive::stack {

struct PackedFile {
  std::string name;  // With / between its folders.
  std::string bytes;
  bool executable = false;
};

// The same files give the same bytes wherever and whenever they are packed, so that code which did
// not change has the digest it had. Nothing is compressed: it travels to a server nearby.
std::string zip(std::vector<PackedFile> files);

// A zip as it is, a directory's files, or a single file under its own name. Refuses what would be
// larger than 250 MiB.
Result<std::string> package(const std::filesystem::path& path);

// The file that AWS puts code into which is written in a template.
std::string_view inline_file_name(std::string_view runtime);

}  // namespace redrive::stack
