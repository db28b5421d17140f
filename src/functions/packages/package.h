#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

// Function code as a zip file: packing a directory and unpacking it.

namespace redrive::packages {

// Lambda's limits.
inline constexpr std::uint64_t kZipBytesMax = 50u << 20;
inline constexpr std::uint64_t kUnpackedBytesMax = 250u << 20;
inline constexpr std::size_t kFilesMax = 50'000;

// Packs all files below a directory, or a single file. Reproducible: equal files give equal bytes,
// independent of timestamps and directory order. Follows links; skips version control directories
// and interpreter caches.
Result<std::string> pack(const std::filesystem::path& source);

// Unpacks a zip into an existing empty directory.
//
// The zip is untrusted: no name or link leads out of the directory, only files, directories and
// links are created, permissions are those of ordinary files and programs, and limits apply to the
// actual sizes, not to those the zip claims.
Result<void> unpack(std::string_view zip, const std::filesystem::path& directory);

}  // namespace redrive::packages
