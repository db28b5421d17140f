#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "objects/failure.h"

// Files that are there whole or not at all, whenever the power fails.
namespace redrive::objects {

// Whether what was written must have reached the disk before a function returns.
enum class Sync : bool { no, yes };

// Writes the parts one after another into a new temporary file of that directory and tells its
// path. Nobody takes it for anything else; remove_leftovers() clears away what a crash left.
Outcome<std::filesystem::path> write_temporary(const std::filesystem::path& directory,
                                               std::span<const std::string_view> parts, Sync sync);

// Makes what was written without a sync safe; several files one after another take little longer
// than one.
Outcome<void> sync_file(const std::filesystem::path& path);

// Gives a temporary file its name, in place of whatever had it. The name is safe from a crash once
// sync_directory() has returned.
Outcome<void> move_into_place(const std::filesystem::path& temporary,
                              const std::filesystem::path& path);

Outcome<void> sync_directory(const std::filesystem::path& directory, Sync sync);

// All three in a row.
Outcome<void> write_durably(const std::filesystem::path& path,
                            std::span<const std::string_view> parts, Sync sync);

void remove_leftovers(const std::filesystem::path& directory);
bool is_temporary(std::string_view file_name);

// Why the last system call on that file failed.
std::unexpected<Failure> system_failure(std::string_view doing, const std::filesystem::path& path,
                                        int error_number);

}  // namespace redrive::objects
