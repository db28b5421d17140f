#include "net/wire/scalar_text.h"

#include <array>
#include <cassert>
#include <charconv>

#include "base/calendar.h"
#include "base/digest.h"
#include "base/ids.h"
#include "base/text.h"
#include "base/time.h"

namespace redrive::wire {
namespace {

template <class Number>
void append_number(std::string& out, Number value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

void append_decimal(std::string& out, double value) {
  const std::size_t start = out.size();
  append_number(out, value);
  if (out.find_first_of(".en", start) == std::string::npos) out += ".0";
}

void append_uuid(std::string& out, const Uuid& id) {
  std::array<char, 36> text;
  id.format(text.data());
  out.append(text.data(), text.size());
}

void append_md5(std::string& out, const Md5& digest) {
  std::array<char, 32> text;
  write_hex(text.data(), digest.data(), digest.size());
  out.append(text.data(), text.size());
}

}  // namespace

void append_scalar(std::string& out, const Type& type, const void* value) {
  switch (type.kind) {
    case Kind::flag:
      out += *static_cast<const bool*>(value) ? "true" : "false";
      return;
    case Kind::int32:
      return append_number(out, *static_cast<const std::int32_t*>(value));
    case Kind::int64:
      return append_number(out, *static_cast<const std::int64_t*>(value));
    case Kind::number:
      return append_number(out, *static_cast<const double*>(value));
    case Kind::decimal:
      return append_decimal(out, static_cast<const Decimal*>(value)->value);
    case Kind::time:
      out += format_utc(*static_cast<const Timestamp*>(value));
      return;
    case Kind::uuid:
      return append_uuid(out, *static_cast<const Uuid*>(value));
    case Kind::md5:
      return append_md5(out, *static_cast<const Md5*>(value));
    case Kind::blob:
      return base64_append(out, static_cast<const Blob*>(value)->bytes);
    default:
      assert(!"not a scalar with a text of its own");
  }
}

}  // namespace redrive::wire
