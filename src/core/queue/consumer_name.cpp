#include "core/queue/consumer_name.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"

namespace redrive::queue {
namespace {

constexpr std::string_view kFunctionPrefix = "function:";

struct ConsumerField {
  std::string_view key;
  std::string ConsumerName::*value;
};
constexpr std::array<ConsumerField, 5> kConsumerFields = {{{"code", &ConsumerName::code},
                                                           {"version", &ConsumerName::version},
                                                           {"app", &ConsumerName::app},
                                                           {"runtime", &ConsumerName::interpreter},
                                                           {"agent", &ConsumerName::agent}}};

bool is_field_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("._-+/:#@~").find(c) != std::string_view::npos;
}

std::string field_value(std::string_view text) {
  std::string value(text.substr(0, kConsumerFieldBytes));
  std::ranges::replace_if(
      value, [](char c) { return !is_field_character(c); }, '-');
  return value;
}

// Moves the last word of `text` into its field; false if it is not a field.
bool take_field(std::string_view& text, ConsumerName& into) {
  const std::size_t space = text.rfind(' ');
  if (space == std::string_view::npos) return false;
  const std::string_view word = text.substr(space + 1);
  for (const ConsumerField& field : kConsumerFields) {
    if (word.size() <= field.key.size() || !word.starts_with(field.key)) continue;
    if (word[field.key.size()] != '=' || !(into.*field.value).empty()) continue;
    into.*field.value = word.substr(field.key.size() + 1);
    text = text.substr(0, space);
    return true;
  }
  return false;
}

bool is_address(std::string_view word) {
  const bool digits = std::ranges::all_of(word, [](char c) {
    return std::isxdigit(static_cast<unsigned char>(c)) != 0 || c == '.' || c == ':' || c == '%';
  });
  return digits && word.find_first_of(".:") != std::string_view::npos;
}

void append_field(std::string& text, std::string_view key, const std::string& value) {
  if (!value.empty()) text.append(" ").append(key).append("=").append(field_value(value));
}

}  // namespace

std::string ConsumerName::role() const {
  return kind == Kind::function ? std::string(kFunctionPrefix) + name : name;
}

std::string ConsumerName::plain() const {
  std::string text = role();
  if (!address.empty()) text.append(" ").append(address);
  return text;
}

std::string ConsumerName::code_key() const {
  std::string text = role();
  append_field(text, kind == Kind::function ? "code" : "app", code_version());
  return text;
}

std::string ConsumerName::text() const {
  std::string text = plain();
  for (const ConsumerField& field : kConsumerFields) {
    append_field(text, field.key, this->*field.value);
  }
  return text;
}

ConsumerName parse_consumer_name(std::string_view text) {
  ConsumerName read;
  while (take_field(text, read)) {
  }
  if (text.starts_with(kFunctionPrefix)) {
    read.kind = ConsumerName::Kind::function;
    read.name = text.substr(kFunctionPrefix.size());
    return read;
  }
  const std::size_t space = text.rfind(' ');
  if (space != std::string_view::npos && is_address(text.substr(space + 1))) {
    read.address = text.substr(space + 1);
    text = text.substr(0, space);
  }
  read.name = text;
  return read;
}

UserAgent parse_user_agent(std::string_view header) {
  UserAgent read;
  for (const std::string_view word : split(header, ' ')) {
    if (word.empty()) continue;
    if (read.agent.empty()) read.agent = field_value(word);
    const auto after = [&](std::string_view prefix) {
      return field_value(word.substr(prefix.size()));
    };
    if (read.app.empty() && word.starts_with("app/")) read.app = after("app/");
    if (word.starts_with("lang/python#")) read.interpreter = "python" + after("lang/python#");
    if (word.starts_with("Python/")) read.interpreter = "python" + after("Python/");
    if (word.starts_with("md/nodejs#")) read.interpreter = "nodejs" + after("md/nodejs#");
    if (word.starts_with("lang/java#")) read.interpreter = "java" + after("lang/java#");
    if (word.starts_with("lang/go#")) read.interpreter = "go" + after("lang/go#");
  }
  return read;
}

std::string code_digits(std::string_view sha256_base64) {
  const auto digest = base64_decode(sha256_base64);
  if (!digest || digest->size() < kCodeDigits / 2) return {};
  return to_hex(std::string_view(*digest).substr(0, kCodeDigits / 2));
}

}  // namespace redrive::queue
