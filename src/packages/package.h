#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

// Code on its way to where it runs: a directory as a zip, and a zip as a directory.

namespace redrive::packages {

// As Lambda has them.
inline constexpr std::uint64_t kZipBytesMax = 50u << 20;
inline constexpr std::uint64_t kUnpackedBytesMax = 250u << 20;
inline constexpr std::size_t kFilesMax = 50'000;

// All files below a directory, or one file alone, as a zip. Equal files give equal bytes: nothing
// of the time or of the order in the directory goes into it. Links are followed; directories of
// version control and caches of interpreters stay behind.
Result<std::string> pack(const std::filesystem::path& source);

// Puts what is in a zip into a directory that is there and empty.
//
// Whoever made the zip is not trusted: no name leads out of the directory, links must not either,
// nothing but files, directories and links is made, permissions are those of ordinary files and
// programs, and sizes are those that come out, not those that the zip claims.
Result<void> unpack(std::string_view zip, const std::filesystem::path& directory);

}  // namespace redrive::packages
