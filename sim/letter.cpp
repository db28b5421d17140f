#include "sim/letter.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "core/store/message_codec.h"
#include "sim/violation.h"

namespace redrive::sim {
namespace {

constexpr std::uint64_t kGroupsInLetters = 4;
constexpr std::uint64_t kDedupIds = 8;  // Few, so that they repeat.

std::string write_body(Chance& chance, std::size_t bytes_max) {
  // Usually small, sometimes large, so that records vary in how much they hold.
  const std::size_t most = chance.one_in(8) ? bytes_max : bytes_max / 8;
  std::string body(1 + chance.below(most), '\0');
  SeededIds text = chance.details();
  for (char& c : body) c = static_cast<char>('a' + text.bits() % 26);
  return body;
}

std::string encode(const Letter& letter) {
  store::MessageContents contents;
  contents.group = letter.group;
  contents.dedup = letter.dedup;
  contents.sender = letter.sender;
  contents.trace = letter.trace;
  contents.md5_of_body = md5(letter.body);
  contents.attribute_count = static_cast<std::uint8_t>(letter.attributes.size());
  std::string attributes;
  for (const auto& [name, type, value] : letter.attributes) {
    store::append_attribute(attributes, {name, type, value, type == "Binary"});
  }
  contents.attributes = attributes;
  contents.body = letter.body;
  std::string tail;
  store::encode_tail(tail, contents);
  return tail;
}

constexpr std::string_view kWhole = "bodies come back as they were sent";

void attributes_are_the_letters(const store::MessageContents& contents, const Letter& letter) {
  std::size_t i = 0;
  contents.for_each_attribute([&](const store::AttributeView& view) {
    require(i < letter.attributes.size(),
            kWhole,
            "message {}: too many attributes",
            number(letter.key));
    const auto& [name, type, value] = letter.attributes[i++];
    require(view.name == name && view.type == type && view.value == value &&
                view.binary == (type == "Binary"),
            kWhole,
            "message {}: attribute {}",
            number(letter.key),
            name);
  });
  require(
      i == letter.attributes.size(), kWhole, "message {}: {} attributes", number(letter.key), i);
}

}  // namespace

Letter write_letter(Chance& chance, Post post, std::size_t body_bytes_max) {
  Letter letter;
  letter.body = write_body(chance, body_bytes_max);
  letter.sender = chance.one_in(2) ? "AIDASENDER" : "";
  letter.trace = chance.one_in(8) ? "Root=1-5759e988-bd862e3fe1be46a994272793" : "";
  if (chance.one_in(4)) letter.attributes.push_back({"kind", "String", "order"});
  if (chance.one_in(8))
    letter.attributes.push_back({"raw", "Binary", std::string("\0\x01\xff", 3)});
  if (post == Post::fifo || chance.one_in(3))
    letter.group = fmt::format("g{}", chance.below(kGroupsInLetters));
  if (post == Post::fifo) {
    letter.dedup = chance.one_in(4) ? fmt::format("d{}", chance.below(kDedupIds))
                                    : fmt::format("u{:x}", chance.below(std::uint64_t{1} << 32));
  } else if (chance.one_in(4)) {
    letter.delay = std::chrono::seconds(chance.below(20));
  }
  letter.tail = encode(letter);
  return letter;
}

queue::Draft draft_of(const Letter& letter) {
  return {.group = letter.group,
          .dedup = letter.dedup,
          .tail = letter.tail,
          .tail_crc = crc32c(letter.tail),
          .delay = letter.delay};
}

Letter rewrite_letter(Chance& chance, const Letter& letter, std::size_t body_bytes_max) {
  Letter rewritten = letter;
  rewritten.body = write_body(chance, body_bytes_max);
  if (chance.one_in(2)) rewritten.attributes.push_back({"corrected", "String", "yes"});
  if (rewritten.attributes.size() > 4) rewritten.attributes.clear();
  rewritten.tail = encode(rewritten);
  return rewritten;
}

std::string stored_bytes(const Letter& letter) {
  std::string out;
  store::encode_message_head(out,
                             {.key = letter.key,
                              .queue = letter.queue,
                              .message_id = letter.message_id,
                              .sent_wall = letter.sent_wall,
                              .visible_at = letter.visible_at,
                              .contents = {},
                              .tail_crc = crc32c(letter.tail),
                              .tail = letter.tail});
  return out + letter.tail;
}

void stored_bytes_are_the_letters(std::string_view stored, const Letter& letter) {
  const auto key = number(letter.key);
  const auto message = store::decode_message(stored);
  require(message.has_value(), kWhole, "message {}: its bytes are damaged", key);
  require(message->key == letter.key && message->queue == letter.queue &&
              message->message_id == letter.message_id && message->sent_wall == letter.sent_wall &&
              message->visible_at == letter.visible_at,
          kWhole,
          "message {}: another head",
          key);
  const store::MessageContents& contents = message->contents;
  require(contents.body == letter.body && contents.md5_of_body == md5(letter.body),
          kWhole,
          "message {}: another body",
          key);
  require(contents.group == letter.group && contents.dedup == letter.dedup &&
              contents.sender == letter.sender && contents.trace == letter.trace,
          kWhole,
          "message {}: other ids or sender",
          key);
  attributes_are_the_letters(contents, letter);
  require(message->tail == letter.tail, kWhole, "message {}: another tail", key);
}

}  // namespace redrive::sim
