#include "functions/events/marshal_document.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/text.h"
#include "net/wire/encode.h"
#include "net/wire/scan.h"

namespace redrive::events::marshal {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr char kTuple = ')';  // Up to 255 items.
constexpr char kDict = '{';
constexpr char kDictEnd = '0';
constexpr char kList = '[';
constexpr char kReference = 'r';
constexpr char kShortAscii = 'z';
constexpr char kAscii = 'a';
constexpr char kUtf8 = 'u';
constexpr char kToBeReferredTo = static_cast<char>(0x80);

// The texts before an event, by index. Those of the source come last.
enum class Known : std::uint32_t {
  records,
  message_id,
  receipt_handle,
  body,
  attributes,
  receive_count,
  sent,
  sender,
  first_received,
  message_attributes,
  md5_of_body,
  event_source,
  aws_sqs,
  event_source_arn,
  aws_region,
  arn,
  region,
};
constexpr std::array<std::string_view, 15> kKnown = {"Records",
                                                     "messageId",
                                                     "receiptHandle",
                                                     "body",
                                                     "attributes",
                                                     "ApproximateReceiveCount",
                                                     "SentTimestamp",
                                                     "SenderId",
                                                     "ApproximateFirstReceiveTimestamp",
                                                     "messageAttributes",
                                                     "md5OfBody",
                                                     "eventSource",
                                                     "aws:sqs",
                                                     "eventSourceARN",
                                                     "awsRegion"};
static_assert(kKnown.size() == static_cast<std::size_t>(Known::arn));
// The system attributes among them.
constexpr auto kSystemFirst = static_cast<std::size_t>(Known::receive_count);
constexpr auto kSystemLast = static_cast<std::size_t>(Known::first_received);

// Upper bounds for the size of a record, or a message attribute, without its texts.
constexpr std::size_t kRecordFrame = 256;
constexpr std::size_t kAttributeFrame = 128;
constexpr std::size_t kTextFrame = 5;

// Stops a scan at the first non-ASCII byte.
struct NotAscii {
  static bool holds(char c) { return static_cast<unsigned char>(c) >= 0x80; }
#if defined(__SSE2__)
  static __m128i found(__m128i bytes) {
    return bytes;
  }  // Only the top bit of each byte is used.
  static unsigned mask(__m128i bytes) {
    return static_cast<unsigned>(_mm_movemask_epi8(bytes));
  }
#endif
};

bool all_ascii(std::string_view text) {
  const char* const end = text.data() + text.size();
  return wire::scan_to<NotAscii>(text.data(), end) == end;
}

// Maximum encoded size of `text`: an invalid byte becomes the three bytes of U+FFFD.
std::size_t encoded_bytes_max(std::string_view text) {
  return all_ascii(text) ? text.size() : 3 * text.size();
}

// Writes into preallocated memory, without bounds checks.
class Writer {
 public:
  explicit Writer(char* at) : at_(at) {}
  char* at() const { return at_; }

  void code(char code) { *at_++ = code; }
  void number(std::uint32_t value) {
    std::memcpy(at_, &value, sizeof value);
    at_ += sizeof value;
  }
  void known(Known text) {
    code(kReference);
    number(static_cast<std::uint32_t>(text));
  }
  // Python rejects a whole event if one text is not UTF-8; texts stored by an older version may not
  // be.
  void text(std::string_view text, char flag = 0) {
    const bool ascii = all_ascii(text);
    if (!ascii && !simdjson::validate_utf8(text.data(), text.size())) {
      return valid_text(replace_invalid(text), flag, false);
    }
    valid_text(text, flag, ascii);
  }
  void valid_text(std::string_view text, char flag, bool ascii) {
    if (ascii && text.size() <= 0xff) {
      code(static_cast<char>(kShortAscii | flag));
      code(static_cast<char>(text.size()));
    } else {
      assert(text.size() <= INT32_MAX);
      code(static_cast<char>((ascii ? kAscii : kUtf8) | flag));
      number(static_cast<std::uint32_t>(text.size()));
    }
    at_ += text.copy(at_, text.size());
  }
  void pair(Known key, std::string_view value) {
    known(key);
    text(value);
  }
  void pair(std::string_view key, std::string_view value) {
    text(key);
    text(value);
  }
  void empty_list(std::string_view key) {
    text(key);
    code(kList);
    number(0);
  }
  void bytes(std::string_view bytes) { at_ += bytes.copy(at_, bytes.size()); }

 private:
  char* at_;
};

template <class Write>
void append(std::string& out, std::size_t size_max, Write write) {
  const std::size_t before = out.size();
  out.resize_and_overwrite(before + size_max, [&](char* bytes, std::size_t) {
    Writer writer(bytes + before);
    write(writer);
    const auto size = static_cast<std::size_t>(writer.at() - bytes);
    assert(size <= before + size_max);
    return size;
  });
}

constexpr std::size_t base64_size(std::size_t bytes) {
  return (bytes + 2) / 3 * 4;
}

std::size_t size_max_of(const Record& record) {
  std::size_t size = kRecordFrame + record.message_id.size() + record.receipt_handle.size() +
                     encoded_bytes_max(record.body) + record.md5_of_body.size() +
                     record.md5_of_message_attributes.size();
  for (const auto& [name, text] : record.attributes)
    size += 2 * kTextFrame + name.size() + encoded_bytes_max(text);
  for (const RecordAttribute& attribute : record.message_attributes) {
    size += kAttributeFrame + encoded_bytes_max(attribute.name) +
            encoded_bytes_max(attribute.type) +
            (attribute.binary ? base64_size(attribute.value.size())
                              : encoded_bytes_max(attribute.value));
  }
  return size;
}

void write_system_attribute(Writer& writer, std::string_view name, std::string_view text) {
  for (std::size_t i = kSystemFirst; i <= kSystemLast; ++i)
    if (kKnown[i] == name) return writer.pair(static_cast<Known>(i), text);
  writer.pair(name, text);
}

void write_message_attribute(Writer& writer, const RecordAttribute& attribute) {
  writer.text(attribute.name);
  writer.code(kDict);
  if (attribute.binary) {
    writer.pair("binaryValue", base64_encode(attribute.value));
  } else {
    writer.pair("stringValue", attribute.value);
  }
  writer.empty_list("stringListValues");
  writer.empty_list("binaryListValues");
  writer.pair("dataType", attribute.type);
  writer.code(kDictEnd);
}

void write_record(Writer& writer, const Record& record) {
  writer.code(kDict);
  writer.pair(Known::message_id, record.message_id);
  writer.pair(Known::receipt_handle, record.receipt_handle);
  writer.pair(Known::body, record.body);
  writer.known(Known::attributes);
  writer.code(kDict);
  for (const auto& [name, text] : record.attributes) write_system_attribute(writer, name, text);
  writer.code(kDictEnd);
  writer.known(Known::message_attributes);
  writer.code(kDict);
  for (const RecordAttribute& attribute : record.message_attributes)
    write_message_attribute(writer, attribute);
  writer.code(kDictEnd);
  if (!record.message_attributes.empty())
    writer.pair("md5OfMessageAttributes", record.md5_of_message_attributes);
  writer.pair(Known::md5_of_body, record.md5_of_body);
}

// Parses what is written above.
class Reader {
 public:
  // `event`: an event, or its head alone.
  explicit Reader(std::string_view event) : rest_(event) {
    expect(kTuple);
    expect(2);
    expect(kTuple);
    for (std::size_t left = size8(); left > 0; --left) known_.push_back(text());
  }
  void go_to(std::string_view record) { rest_ = record; }

  // Recursion is bounded by the event's depth.
  void append_json(std::string& out) {
    if (rest_.front() == kDict) return append_dict(out);
    if (rest_.front() == kList) return append_list(out);
    wire::append_json_text(out, text());
  }

 private:
  std::string_view take(std::size_t size) {
    assert(size <= rest_.size());
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  std::size_t size8() { return static_cast<unsigned char>(take(1).front()); }
  std::size_t size32() {
    std::uint32_t value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  void expect(char code) {
    [[maybe_unused]] const char found = take(1).front();
    assert(found == code);
  }
  std::string_view text() {
    const char code = static_cast<char>(take(1).front() & ~kToBeReferredTo);
    if (code == kReference) return known_.at(size32());
    if (code == kShortAscii) return take(size8());
    assert(code == kAscii || code == kUtf8);
    return take(size32());
  }
  void append_dict(std::string& out) {
    expect(kDict);
    out += '{';
    for (bool first = true; rest_.front() != kDictEnd; first = false) {
      if (!first) out += ',';
      wire::append_json_text(out, text());
      out += ':';
      append_json(out);
    }
    expect(kDictEnd);
    out += '}';
  }
  void append_list(std::string& out) {
    expect(kList);
    out += '[';
    const std::size_t count = size32();
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) out += ',';
      append_json(out);
    }
    out += ']';
  }

  std::string_view rest_;
  std::vector<std::string_view> known_;
};

}  // namespace

std::string event_head(const EventSource& source) {
  std::string out;
  const std::size_t size_max =
      1024 + encoded_bytes_max(source.arn) + encoded_bytes_max(source.region);
  append(out, size_max, [&](Writer& writer) {
    writer.code(kTuple);
    writer.code(2);
    writer.code(kTuple);
    writer.code(static_cast<char>(kKnown.size() + 2));
    for (const std::string_view text : kKnown) writer.text(text, kToBeReferredTo);
    writer.text(source.arn, kToBeReferredTo);
    writer.text(source.region, kToBeReferredTo);
    writer.code(kDict);
    writer.known(Known::records);
    writer.code(kList);
    writer.number(0);
  });
  return out;
}

std::string record_foot() {
  std::string out;
  append(out, 64, [](Writer& writer) {
    writer.known(Known::event_source);
    writer.known(Known::aws_sqs);
    writer.known(Known::event_source_arn);
    writer.known(Known::arn);
    writer.known(Known::aws_region);
    writer.known(Known::region);
    writer.code(kDictEnd);
  });
  return out;
}

void append_record(std::string& out, const Record& record, std::string_view foot) {
  append(out, size_max_of(record) + foot.size(), [&](Writer& writer) {
    write_record(writer, record);
    writer.bytes(foot);
  });
}

void set_count(std::string& event, std::size_t head_size, std::size_t count) {
  const auto value = static_cast<std::uint32_t>(count);
  std::memcpy(event.data() + head_size - sizeof value, &value, sizeof value);
}

std::string json_of_event(std::string_view event) {
  std::string out;
  out.reserve(event.size() + event.size() / 2);
  Reader(event).append_json(out);
  return out;
}

std::string json_of_record(std::string_view record, std::string_view head) {
  std::string out;
  Reader reader(head);
  reader.go_to(record);
  reader.append_json(out);
  return out;
}

}  // namespace redrive::events::marshal
