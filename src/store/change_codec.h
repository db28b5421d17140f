#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "journal/journal.h"
#include "queue/change.h"

namespace redrive::store {

// What one message of a WaitingSnapshot takes; the most, with what the fact itself takes.
inline constexpr std::size_t kWaitingMessageBytesMin = 6;
inline constexpr std::size_t kWaitingMessageBytesMax = 64;

// One journal record is one operation: its stamp and its facts, all or nothing.
// docs/formats/journal.md lists the bytes.
//
//   i64 now, i64 wall, then facts: u8 tag, contents
//
// Large texts are not copied while encoding: the record is a list of parts.
class RecordEncoder {
 public:
  // Encodes into parts that stay valid until the next call, as long as the facts do.
  std::span<const std::string_view> encode(const queue::Stamp& stamp,
                                           std::span<const queue::Change> changes);

  // Where in the payload the stored bytes of the i-th MessageSent or MessageRelocated fact begin,
  // and how many they are.
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

// Reads a record back and hands out its facts in order, BodyRefs filled in from `payload`'s place
// in the journal. Messages whose contents are damaged, which the journal lets pass when all else is
// whole, are noted in `damaged` and known by their heads; with nullptr they are an error.
Result<void> decode_record(
    journal::Location at, std::string_view payload,
    const std::function<void(const queue::Change&, const queue::Stamp&)>& visit,
    std::vector<journal::Stretch>* damaged = nullptr);

// For journal::open_journal: the contents of messages that do not match the checksums in their
// heads. Nothing when the payload cannot be read as facts.
std::vector<journal::Stretch> explain_damage(std::string_view payload);

}  // namespace redrive::store
