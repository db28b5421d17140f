#include "core/store/message_codec.h"

#include <array>
#include <cassert>
#include <cstring>

#include "core/queue/message_table.h"
#include "core/store/bytes.h"

namespace redrive::store {
namespace {

bool decode_tail(std::string_view tail, MessageContents& contents) {
  Reader reader(tail);
  const auto group_size = reader.number<std::uint8_t>();
  const auto dedup_size = reader.number<std::uint8_t>();
  const auto sender_size = reader.number<std::uint16_t>();
  const auto trace_size = reader.number<std::uint16_t>();
  reader.number<std::uint8_t>();  // Flags: none defined yet.
  contents.attribute_count = reader.number<std::uint8_t>();
  const auto attributes_size = reader.number<std::uint32_t>();
  const auto body_size = reader.number<std::uint32_t>();
  contents.md5_of_body = reader.array<16>();
  contents.md5_of_attributes = reader.array<16>();
  contents.group = reader.raw(group_size);
  contents.dedup = reader.raw(dedup_size);
  contents.sender = reader.raw(sender_size);
  contents.trace = reader.raw(trace_size);
  contents.attributes = reader.raw(attributes_size);
  contents.body = reader.raw(body_size);
  return reader.ok() && reader.done();
}

constexpr std::size_t kGroupBytesMax = 128;

// Decodes the head and locates the tail; returns the checksum.
std::uint32_t decode_head(Reader& reader, StoredMessage& message) {
  const auto crc = reader.number<std::uint32_t>();
  const auto tail_size = reader.number<std::uint32_t>();
  message.key = reader.number<queue::MessageKey>();
  message.queue = reader.number<queue::QueueKey>();
  message.message_id.bytes = reader.array<16>();
  message.sent_wall = Timestamp(reader.number<std::int64_t>());
  message.visible_at = Timestamp(reader.number<std::int64_t>());
  message.tail = reader.raw(tail_size);
  return crc;
}

bool is_damaged_tail(std::string_view tail) {
  MessageContents contents;
  return !decode_tail(tail, contents) || md5(contents.body) != contents.md5_of_body;
}

// Whether the fields on both sides of the message id are plausible.
bool is_plausible_head(std::string_view stored, queue::MessageKey key, Timestamp now) {
  Reader reader(stored);
  StoredMessage message;
  decode_head(reader, message);
  return reader.ok() && reader.done() && message.key == key && message.sent_wall.ms() > 0 &&
         message.sent_wall <= now;
}

// `start` must have space for the whole tail.
void write_tail(char* start, const MessageContents& contents) {
  BufferWriter writer(start);
  writer.number(static_cast<std::uint8_t>(contents.group.size()));
  writer.number(static_cast<std::uint8_t>(contents.dedup.size()));
  writer.number(static_cast<std::uint16_t>(contents.sender.size()));
  writer.number(static_cast<std::uint16_t>(contents.trace.size()));
  writer.number(std::uint8_t{0});
  writer.number(contents.attribute_count);
  writer.number(static_cast<std::uint32_t>(contents.attributes.size()));
  writer.number(static_cast<std::uint32_t>(contents.body.size()));
  assert(writer.at() == start + kTailDigestAt);
  writer.raw(contents.md5_of_body);
  writer.raw(contents.md5_of_attributes);
  assert(writer.at() == start + kTailTextsAt);
  writer.raw(contents.group);
  writer.raw(contents.dedup);
  writer.raw(contents.sender);
  writer.raw(contents.trace);
  writer.raw(contents.attributes);
  writer.raw(contents.body);
}

}  // namespace

void append_attribute(std::string& out, const AttributeView& attribute) {
  Writer writer(out);
  writer.number(static_cast<std::uint16_t>(attribute.name.size()));
  writer.number(static_cast<std::uint16_t>(attribute.type.size()));
  writer.number(static_cast<std::uint32_t>(attribute.value.size()));
  writer.number(static_cast<std::uint8_t>(attribute.binary));
  writer.raw(attribute.name);
  writer.raw(attribute.type);
  writer.raw(attribute.value);
}

void MessageContents::for_each_attribute(
    const std::function<void(const AttributeView&)>& visit) const {
  Reader reader(attributes);
  for (int i = 0; i < attribute_count && reader.ok(); ++i) {
    const auto name_size = reader.number<std::uint16_t>();
    const auto type_size = reader.number<std::uint16_t>();
    const auto value_size = reader.number<std::uint32_t>();
    AttributeView attribute;
    attribute.binary = reader.number<std::uint8_t>() != 0;
    attribute.name = reader.raw(name_size);
    attribute.type = reader.raw(type_size);
    attribute.value = reader.raw(value_size);
    if (reader.ok()) visit(attribute);
  }
}

void encode_tail(std::string& out, const MessageContents& contents) {
  assert(contents.group.size() <= 128 && contents.dedup.size() <= 128);
  const std::size_t start = out.size();
  const std::size_t size = kTailTextsAt + contents.group.size() + contents.dedup.size() +
                           contents.sender.size() + contents.trace.size() +
                           contents.attributes.size() + contents.body.size();
  // Ignore the size argument: libstdc++ 12 passes the capacity instead.
  out.resize_and_overwrite(start + size, [&](char* bytes, std::size_t) {
    write_tail(bytes + start, contents);
    return start + size;
  });
}

void set_body_digest(std::string& tail, const Md5& digest) {
  assert(tail.size() >= kTailTextsAt);
  std::memcpy(tail.data() + kTailDigestAt, digest.data(), digest.size());
}

void encode_message_head(std::string& out, const StoredMessage& message) {
  std::array<char, kMessageHeadBytes> head;
  BufferWriter writer(head.data());
  writer.number(std::uint32_t{0});
  writer.number(static_cast<std::uint32_t>(message.tail.size()));
  writer.number(message.key);
  writer.number(message.queue);
  writer.raw(message.message_id.bytes);
  writer.number(message.sent_wall.ms());
  writer.number(message.visible_at.ms());
  assert(writer.at() == head.data() + head.size());
  const std::string_view summed = std::string_view(head.data(), head.size()).substr(4);
  const std::uint32_t crc = crc32c(summed, message.tail_crc);
  std::memcpy(head.data(), &crc, sizeof(crc));
  out.append(head.data(), head.size());
}

Uuid message_id_of(std::string_view head) {
  assert(head.size() >= kMessageHeadBytes);
  Reader reader(head);
  reader.raw(4 + 4 + 8 + 4);
  return Uuid{reader.array<16>()};
}

std::optional<Uuid> credible_message_id(std::string_view stored, queue::MessageKey key,
                                        std::uint32_t mark, Timestamp now) {
  if (const auto whole = decode_message(stored)) {
    return whole->key == key ? std::optional(whole->message_id) : std::nullopt;
  }
  if (!is_plausible_head(stored, key, now)) return std::nullopt;
  const Uuid id = message_id_of(stored);
  const bool credible =
      queue::lineage_mark_of(id) == mark && is_damaged_tail(stored.substr(kMessageHeadBytes));
  return credible ? std::optional(id) : std::nullopt;
}

std::string encode_message(const StoredMessage& message, const MessageContents& contents) {
  std::string tail;
  encode_tail(tail, contents);
  StoredMessage changed = message;
  changed.tail = tail;
  changed.tail_crc = crc32c(tail);
  std::string stored;
  encode_message_head(stored, changed);
  return stored + tail;
}

std::uint32_t tail_crc_in_head(std::string_view head) {
  const std::string_view summed = head.substr(4, kMessageHeadBytes - 4);
  return crc32c_first(Reader(head).number<std::uint32_t>(), crc32c(summed), summed.size());
}

StoredMessage decode_damaged_message(std::string_view stored) {
  Reader reader(stored);
  StoredMessage message;
  decode_head(reader, message);
  MessageContents contents;
  if (decode_tail(message.tail, contents) && contents.group.size() <= kGroupBytesMax &&
      contents.dedup.size() <= kGroupBytesMax) {
    message.contents.group = contents.group;
    message.contents.dedup = contents.dedup;
  }
  return message;
}

std::optional<StoredMessage> decode_message(std::string_view stored) {
  Reader reader(stored);
  StoredMessage message;
  const std::uint32_t crc = decode_head(reader, message);
  if (!reader.ok() || !reader.done()) return std::nullopt;
  message.tail_crc = crc32c(message.tail);
  if (crc32c(stored.substr(4, kMessageHeadBytes - 4), message.tail_crc) != crc) return std::nullopt;
  if (!decode_tail(message.tail, message.contents)) return std::nullopt;
  return message;
}

}  // namespace redrive::store
