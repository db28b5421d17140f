#include "dead_letters/archive/document.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <array>
#include <chrono>

#include "base/calendar.h"
#include "base/text.h"
#include "net/wire/encode.h"

namespace redrive::archive {
namespace {

namespace dom = simdjson::dom;

constexpr std::string_view kEnd = ".json";

void append_member(std::string& out, std::string_view name, std::string_view text) {
  if (out.back() != '{') out += ", ";
  wire::append_json_text(out, name);
  out += ": ";
  wire::append_json_text(out, text);
}

void open_member(std::string& out, std::string_view name) {
  if (out.back() != '{') out += ", ";
  wire::append_json_text(out, name);
  out += ": {";
}

void append_attribute(std::string& out, const LetterAttribute& attribute) {
  open_member(out, attribute.name);
  if (attribute.is_binary()) {
    append_member(out, "BinaryValue", base64_encode(attribute.value));
  } else {
    append_member(out, "StringValue", attribute.value);
  }
  append_member(out, "DataType", attribute.data_type);
  out += "}";
}

std::string text_in(dom::object object, std::string_view name) {
  std::string_view text;
  return object[name].get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

std::unexpected<Error> unreadable(std::string_view why) {
  return fail(ErrorCode::invalid_message_contents,
              fmt::format("This is not an archived message: {}.", why));
}

Result<LetterAttribute> decode_attribute(std::string_view name, dom::element element) {
  dom::object object;
  if (element.get(object) != simdjson::SUCCESS) return unreadable("an attribute is not an object");
  LetterAttribute attribute{.name = std::string(name), .data_type = text_in(object, "DataType")};
  if (attribute.data_type.empty()) attribute.data_type = "String";
  if (!attribute.is_binary()) {
    attribute.value = text_in(object, "StringValue");
    return attribute;
  }
  auto bytes = base64_decode(text_in(object, "BinaryValue"));
  if (!bytes) return unreadable("a binary attribute is not base64");
  attribute.value = *std::move(bytes);
  return attribute;
}

void decode_own(dom::object root, ArchivedLetter& archived) {
  dom::object own;
  if (root["Redrive"].get(own) != simdjson::SUCCESS) return;
  archived.letter.message_id = text_in(own, "MessageId");
  archived.source = text_in(own, "Source");
  archived.dlq = text_in(own, "Dlq");
  dom::object attributes;
  if (own["Attributes"].get(attributes) != simdjson::SUCCESS) return;
  for (const auto& [name, value] : attributes) {
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) continue;
    archived.letter.system_attributes.emplace_back(name, text);
  }
}

}  // namespace

std::string encode_archived(const ArchivedLetter& archived) {
  const Letter& letter = archived.letter;
  std::string out = "{";
  append_member(out, "Body", letter.body);
  open_member(out, "Attribute");
  for (const LetterAttribute& attribute : letter.attributes) append_attribute(out, attribute);
  out += "}";
  open_member(out, "Redrive");
  append_member(out, "MessageId", letter.message_id);
  if (!archived.source.empty()) append_member(out, "Source", archived.source);
  if (!archived.dlq.empty()) append_member(out, "Dlq", archived.dlq);
  open_member(out, "Attributes");
  for (const auto& [name, value] : letter.system_attributes) append_member(out, name, value);
  out += "}}";
  if (!archived.lineage.empty()) out.append(", \"Lineage\": ").append(archived.lineage);
  return out += "}\n";
}

Result<ArchivedLetter> decode_archived(std::string_view text) {
  dom::parser parser;
  dom::object root;
  if (parser.parse(text.data(), text.size()).get(root) != simdjson::SUCCESS) {
    return unreadable("it is not a JSON object");
  }
  ArchivedLetter archived;
  std::string_view body;
  if (root["Body"].get(body) != simdjson::SUCCESS) return unreadable("it has no Body");
  archived.letter.body = body;
  dom::object attributes;
  if (root["Attribute"].get(attributes) == simdjson::SUCCESS) {
    for (const auto& [name, value] : attributes) {
      archived.letter.attributes.push_back(TRY(decode_attribute(name, value)));
    }
  }
  decode_own(root, archived);
  dom::element lineage;
  if (root["Lineage"].get(lineage) == simdjson::SUCCESS && lineage.is_object()) {
    archived.lineage = simdjson::minify(lineage);
  }
  return archived;
}

std::string archive_day(Timestamp time) {
  using namespace std::chrono;
  constexpr std::array<std::string_view, 12> kMonths = {
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const year_month_day date(floor<days>(sys_time<milliseconds>(milliseconds(time.ms()))));
  return fmt::format("{}-{:02}-{:04}",
                     kMonths[static_cast<unsigned>(date.month()) - 1],
                     static_cast<unsigned>(date.day()),
                     static_cast<int>(date.year()));
}

std::string archive_key(std::string_view prefix, Timestamp time, std::string_view message_id) {
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  return fmt::format("{}{}{}/{}.{:03}_{}{}",
                     prefix,
                     prefix.empty() ? "" : "/",
                     archive_day(time),
                     time.ms() / 1000,
                     time.ms() % 1000,
                     message_id,
                     kEnd);
}

Timestamp archive_time(const Letter& letter, Timestamp now) {
  const auto first =
      parse_int<std::int64_t>(letter.system_attribute("ApproximateFirstReceiveTimestamp"));
  // Not compared with `now`: another machine's clock may be ahead of ours.
  return first && *first > 0 && Timestamp(*first) <= kCalendarEnd ? Timestamp(*first) : now;
}

std::optional<ArchiveKey> parse_archive_key(std::string_view key) {
  if (!key.ends_with(kEnd)) return std::nullopt;
  key.remove_suffix(kEnd.size());
  const auto parts = split(key, '/');
  if (parts.size() < 2) return std::nullopt;
  const std::string_view name = parts.back();
  const std::size_t underscore = name.find('_');
  if (underscore == std::string_view::npos) return std::nullopt;
  const std::string_view stamp = name.substr(0, underscore);
  const std::size_t dot = std::min(stamp.find('.'), stamp.size());
  const auto seconds = parse_int<std::int64_t>(stamp.substr(0, dot));
  if (!seconds || *seconds < 0 || *seconds > kNever.ms() / 2000) return std::nullopt;
  std::string fraction(stamp.substr(std::min(dot + 1, stamp.size())));
  fraction.resize(3, '0');
  const auto milliseconds = parse_int<std::int64_t>(fraction);
  if (!milliseconds || *milliseconds < 0) return std::nullopt;
  return ArchiveKey{.day = std::string(parts[parts.size() - 2]),
                    .time = Timestamp(*seconds * 1000 + *milliseconds),
                    .message_id = std::string(name.substr(underscore + 1))};
}

}  // namespace redrive::archive
