#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace redrive::cli {

// What a directory, or a file, looks like when nobody says what it is.
struct DeployGuess {
  std::string handler;
  std::string runtime;
};

// From the names of files that people usually give the entry of a function, from what package.json
// calls its main file, and from the functions such a file defines. None: nothing there tells.
std::optional<DeployGuess> guess_deployment(const std::filesystem::path& source);

// The names looked for, for whoever is told that none was there.
std::string guessed_files();

}  // namespace redrive::cli
