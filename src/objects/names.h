#pragma once

#include <optional>
#include <string>
#include <string_view>

// Valid names of buckets and objects, and their file names: no name can lead out of the directory,
// because a file name contains only A-Z a-z 0-9 - _ . ~ %.
namespace redrive::objects {

inline constexpr std::size_t kKeyBytesMax = 1024;

// 3 to 63 of a-z 0-9 . -, starting and ending with a letter or digit, without `..`. So it can be
// used as a directory name as it is.
bool is_bucket_name(std::string_view name);

// The escaped key. A key that is too long for a file name is represented by its digest; then only
// the file itself contains the key.
std::string file_name_of(std::string_view key);

struct FileKey {
  std::optional<std::string> key;  // nullopt: read it from the file.
};
// nullopt if it is not an object's file name.
std::optional<FileKey> key_of_file(std::string_view file_name);

}  // namespace redrive::objects
