#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace redrive {

// The standard streams and directory iterators throw when a read fails midway, which is ordinary
// under /proc: a process that exits between open() and read() makes the read fail with ESRCH.
// These report such errors as values.

// The content of a file; nullopt if it cannot be opened or read (a directory, for example).
std::optional<std::string> read_file(const std::filesystem::path& path);

// Calls visit(entry) for each entry of a directory, until the end or the first error. A directory
// that cannot be opened has no entries.
template <class Visit>
void for_each_entry(const std::filesystem::path& directory, Visit visit) {
  std::error_code error;
  std::filesystem::directory_iterator at(directory, error);
  for (const std::filesystem::directory_iterator end; !error && at != end; at.increment(error)) {
    visit(*at);
  }
}

}  // namespace redrive
