#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "objects/failure.h"

// Files that are written atomically and durably.
namespace redrive::objects {

// Whether the data must be on disk before a function returns.
enum class Sync : bool { no, yes };

// Writes the parts into a new temporary file in that directory and returns its path. Temporary
// names are never mistaken for others; remove_leftovers() deletes what a crash left behind.
Outcome<std::filesystem::path> write_temporary(const std::filesystem::path& directory,
                                               std::span<const std::string_view> parts, Sync sync);

// Syncs a file written with Sync::no; syncing several files in a row takes little longer than one.
Outcome<void> sync_file(const std::filesystem::path& path);

// Renames a temporary file, replacing any existing file. The name is durable once sync_directory()
// has returned.
Outcome<void> move_into_place(const std::filesystem::path& temporary,
                              const std::filesystem::path& path);

Outcome<void> sync_directory(const std::filesystem::path& directory, Sync sync);

// write_temporary(), move_into_place() and sync_directory().
Outcome<void> write_durably(const std::filesystem::path& path,
                            std::span<const std::string_view> parts, Sync sync);

void remove_leftovers(const std::filesystem::path& directory);
bool is_temporary(std::string_view file_name);

// A Failure for a failed system call on that file.
std::unexpected<Failure> system_failure(std::string_view doing, const std::filesystem::path& path,
                                        int error_number);

}  // namespace redrive::objects
