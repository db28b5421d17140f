#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "net/auth/credentials.h"

namespace redrive::cli {

// Environment variables and files defined by a test.
struct FakeEnvironment final : auth::Environment {
  std::map<std::string, std::string, std::less<>> variables;
  std::map<std::string, std::string> files;

  std::optional<std::string> variable(std::string_view name) const override {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<std::string> file(const std::string& path) const override {
    const auto found = files.find(path);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  }
};

}  // namespace redrive::cli
