#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

namespace redrive::objects {

// Every way an operation on a bucket or an object can fail.
enum class Fault : std::uint8_t {
  no_such_bucket,
  no_such_key,
  bucket_exists,
  bucket_taken,  // By another account.
  bucket_not_empty,
  invalid_bucket_name,
  invalid_key,
  too_large,
  no_such_upload,
  invalid_part,
  invalid_part_order,
  key_exists,  // With only_if_absent.
  damaged,     // The bytes on disk are not those that were written.
  io,          // A file operation failed; the message names the file.
  full,        // No space left on the device.
};

struct Failure {
  Fault fault;
  std::string message;

  bool operator==(const Failure&) const = default;
};

template <class T>
class [[nodiscard]] Outcome : public std::expected<T, Failure> {
 public:
  using std::expected<T, Failure>::expected;
};

inline std::unexpected<Failure> failure(Fault fault, std::string message) {
  return std::unexpected(Failure{fault, std::move(message)});
}

}  // namespace redrive::objects
