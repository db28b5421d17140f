#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/journal/journal.h"
#include "core/queue/change.h"

namespace redrive::store {

// Bounds for the size of one message in a WaitingSnapshot; the maximum includes the fact's own
// header.
inline constexpr std::size_t kWaitingMessageBytesMin = 6;
inline constexpr std::size_t kWaitingMessageBytesMax = 64;

// One journal record is one atomic operation: its timestamp and its facts. docs/formats/journal.md
// describes the bytes.
//
//   i64 now, i64 wall, then facts: u8 tag, contents
//
// Large texts are not copied while encoding: the record is a list of parts.
class RecordEncoder {
 public:
  // The parts stay valid until the next call, as long as the facts do.
  std::span<const std::string_view> encode(const queue::Stamp& stamp,
                                           std::span<const queue::Change> changes);

  // Offset in the payload and size of the stored bytes of each MessageSent or MessageRelocated
  // fact; `change` is the index of the fact.
  struct Stored {
    std::size_t change;
    std::uint32_t offset;
    std::uint32_t size;
  };
  std::span<const Stored> stored() const { return stored_; }

 private:
  void flush_to(std::size_t end);
  void add_external(std::string_view bytes);

  struct Part {
    const char* external;  // nullptr: `size` bytes of scratch_ from `offset`.
    std::size_t offset;
    std::size_t size;
  };
  std::string scratch_;
  std::vector<Part> parts_;
  std::vector<std::string_view> views_;
  std::vector<Stored> stored_;
  std::size_t flushed_ = 0;
  std::size_t external_bytes_ = 0;
};

// Decodes a record and visits its facts in order, with BodyRefs computed from the payload's
// position `at`. Messages whose contents are damaged, which the journal accepts if everything else
// is intact, are added to `damaged` and decoded from their heads alone; if `damaged` is nullptr
// they are an error.
Result<void> decode_record(
    journal::Location at, std::string_view payload,
    const std::function<void(const queue::Change&, const queue::Stamp&)>& visit,
    std::vector<journal::Stretch>* damaged = nullptr);

// For journal::open_journal: the message contents that fail the checksums in their heads. Empty if
// the payload cannot be parsed as facts.
std::vector<journal::Stretch> explain_damage(std::string_view payload);

}  // namespace redrive::store
