#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace redrive::cli {

// Handler and runtime guessed from a directory or a file.
struct DeployGuess {
  std::string handler;
  std::string runtime;
};

// Guesses from common names of entry files, from the main file in package.json, and from the
// functions that such a file defines. nullopt if nothing matches.
std::optional<DeployGuess> guess_deployment(const std::filesystem::path& source);

// The file names searched for, for an error message.
std::string guessed_files();

}  // namespace redrive::cli
