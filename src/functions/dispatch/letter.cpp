#include "functions/dispatch/letter.h"

#include "base/digest.h"

namespace redrive::dispatch {
namespace {

// Four-byte big-endian length, then the text: SQS's encoding for attribute digests.
void append_measured(std::string& out, std::string_view text) {
  for (int shift = 24; shift >= 0; shift -= 8)
    out += static_cast<char>(text.size() >> shift & 0xff);
  out += text;
}

Md5 digest_of(std::span<const store::AttributeView> attributes) {
  std::string digested;
  for (const store::AttributeView& attribute : attributes) {
    append_measured(digested, attribute.name);
    append_measured(digested, attribute.type);
    digested += attribute.binary ? '\x02' : '\x01';
    append_measured(digested, attribute.value);
  }
  return md5(digested);
}

}  // namespace

Letter::Letter(const Contents& contents) : group_(contents.group), dedup_(contents.dedup) {
  std::string attributes;
  for (const store::AttributeView& attribute : contents.attributes)
    store::append_attribute(attributes, attribute);
  store::encode_tail(tail_,
                     {.group = group_,
                      .dedup = dedup_,
                      .sender = contents.sender,
                      .trace = contents.trace,
                      .md5_of_body = md5(contents.body),
                      .md5_of_attributes = digest_of(contents.attributes),
                      .attribute_count = static_cast<std::uint8_t>(contents.attributes.size()),
                      .attributes = attributes,
                      .body = contents.body});
}

queue::Draft Letter::draft() const {
  return {.group = group_,
          .dedup = dedup_,
          .tail = tail_,
          .tail_crc = crc32c(tail_),
          .delay = std::nullopt};
}

std::vector<queue::Draft> drafts_of(const std::vector<Letter>& letters) {
  std::vector<queue::Draft> drafts;
  for (const Letter& letter : letters) drafts.push_back(letter.draft());
  return drafts;
}

}  // namespace redrive::dispatch
