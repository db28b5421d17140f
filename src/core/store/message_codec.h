#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/digest.h"
#include "base/ids.h"
#include "base/time.h"
#include "core/queue/ids.h"

namespace redrive::store {

// A message's stored bytes:
//
//   u32 checksum   crc32c of the rest of the head, seeded with the crc32c of the tail
//   u32 tail size
//   u64 key, u32 queue, 16 bytes message id, i64 sent (wall), i64 visible at (engine time)
//   tail:
//     u8 group size, u8 dedup size, u16 sender size, u16 trace size, u8 flags, u8 attribute count,
//     u32 attributes size, u32 body size, 16 bytes md5 of body, 16 bytes md5 of attributes
//     group, dedup id, sender, trace header, attributes, body
//   attribute: u16 name size, u16 type size, u32 value size, u8 is binary; name, type, value
//
// The tail is encoded and checksummed outside the engine's turn; only the head is written inside
// it.
inline constexpr std::size_t kMessageHeadBytes = 4 + 4 + 8 + 4 + 16 + 8 + 8;

struct AttributeView {
  std::string_view name;
  std::string_view type;
  std::string_view value;
  bool binary = false;
};
void append_attribute(std::string& out, const AttributeView& attribute);

// What the sender provided, as views.
struct MessageContents {
  std::string_view group;
  std::string_view dedup;
  std::string_view sender;
  std::string_view trace;
  Md5 md5_of_body{};
  Md5 md5_of_attributes{};  // Of all attributes; meaningless if there are none.
  std::uint8_t attribute_count = 0;
  std::string_view attributes;  // As encoded by append_attribute.
  std::string_view body;

  void for_each_attribute(const std::function<void(const AttributeView&)>& visit) const;
};

// Offsets of the body's digest and of the texts in a tail.
inline constexpr std::size_t kTailDigestAt = 1 + 1 + 2 + 2 + 1 + 1 + 4 + 4;
inline constexpr std::size_t kTailTextsAt = kTailDigestAt + 16 + 16;

// Appends a tail to `out`.
void encode_tail(std::string& out, const MessageContents& contents);
// For a tail encoded before the digest of its body was known.
void set_body_digest(std::string& tail, const Md5& digest);

struct StoredMessage {
  queue::MessageKey key{};
  queue::QueueKey queue{};
  Uuid message_id;
  Timestamp sent_wall;
  Timestamp visible_at;
  MessageContents contents;
  std::uint32_t tail_crc = 0;
  std::string_view tail;
};

// Appends the head; the tail must follow it.
void encode_message_head(std::string& out, const StoredMessage& message);
// The id in the head, unverified: the checksum covers the whole message. `head` must have
// kMessageHeadBytes.
Uuid message_id_of(std::string_view head);
// The id in the stored bytes of message `key`, if damage is unlikely to have changed it: the bytes
// match their checksum, or the damage is in the contents (they do not parse, or the body does not
// match its digest), the fields around the id are plausible and its first bytes give `mark`. `now`
// is the wall clock: no message was sent later.
std::optional<Uuid> credible_message_id(std::string_view stored, queue::MessageKey key,
                                        std::uint32_t mark, Timestamp now);
// The complete stored bytes of a message with new contents.
std::string encode_message(const StoredMessage& message, const MessageContents& contents);
// Decodes stored bytes; nullopt if they are damaged.
std::optional<StoredMessage> decode_message(std::string_view stored);
// Decodes a message whose head is known to be intact and whose tail is known to be damaged: the
// head, and of the contents the group and the deduplication id, as far as they can be recovered.
StoredMessage decode_damaged_message(std::string_view stored);
// The tail's checksum as recorded in the head.
std::uint32_t tail_crc_in_head(std::string_view head);

}  // namespace redrive::store
