#pragma once

#include <optional>
#include <string>
#include <string_view>

// What buckets and objects may be called, and what their files are called: no name can lead out of
// the directory, because a file's name holds nothing but A-Z a-z 0-9 - _ . ~ %.
namespace redrive::objects {

inline constexpr std::size_t kKeyBytesMax = 1024;

// 3 to 63 of a-z 0-9 . -, beginning and ending with a letter or digit, without `..`. So it is a
// harmless name of a directory as it stands.
bool is_bucket_name(std::string_view name);

// The key with escapes. Keys that are too long for a file name are named by their digest; then only
// the file itself knows its key.
std::string file_name_of(std::string_view key);

struct FileKey {
  std::optional<std::string> key;  // None: look into the file.
};
// Nothing when no object has such a file.
std::optional<FileKey> key_of_file(std::string_view file_name);

}  // namespace redrive::objects
