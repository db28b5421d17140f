#pragma once

#include <fmt/core.h>

#include <string>

#include "base/file_system.h"
#include "cli/client/failure.h"

namespace redrive::cli {

// An argument that is either a text or, as `@path`, the file that holds it.
inline Answer<std::string> text_or_file(const std::string& argument) {
  if (!argument.starts_with('@')) return argument;
  if (auto text = read_file(argument.substr(1))) return *std::move(text);
  return usage_failure(fmt::format("cannot read {}", argument.substr(1)));
}

}  // namespace redrive::cli
