#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/result.h"

namespace redrive::ssm {

// Encrypts the values of SecureString parameters: AES-256-GCM with a key of the server's own.
//
// The key is 32 random bytes in a file that only the server's user may read. It is made by the
// first seal() and is on disk before seal() returns, so that no sealed value is stored whose key a
// crash could take. Backups of the data directory need the file: without it the values are lost.
// From any thread.
class Sealer {
 public:
  // An empty path: the key lives in memory, as everything of a server that keeps nothing.
  explicit Sealer(std::filesystem::path key_file) : key_file_(std::move(key_file)) {}

  // `bound_to` is authenticated with the value: a sealed text opens under the same only, so that it
  // cannot be moved to another parameter. The text is base64.
  Result<std::string> seal(std::string_view value, std::string_view bound_to);
  // Fails with storage_damaged when the text was sealed with another key, or for another parameter.
  Result<std::string> open(std::string_view sealed, std::string_view bound_to);

 private:
  using Key = std::array<std::uint8_t, 32>;

  enum class Missing : std::uint8_t { fails, is_made };
  Result<Key> key(Missing missing);
  Result<Key> read_key() const;
  Result<Key> make_key() const;

  const std::filesystem::path key_file_;
  Mutex mutex_;
  std::optional<Key> key_ GUARDED_BY(mutex_);  // Read once.
};

}  // namespace redrive::ssm
