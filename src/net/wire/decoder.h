#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/padded_text.h"
#include "base/result.h"
#include "net/wire/arena.h"
#include "net/wire/shape.h"

// Decodes bytes into any struct with a shape.
//
// Both protocols give the same guarantees: unknown members are ignored (unless UnknownMembers says
// otherwise), null and an empty list are absent, the last of several values wins, and after success
// required members are present and ranged members are in range. Texts are UTF-8, except in members
// marked content(): an unpaired surrogate in a JSON escape, or Query bytes that are not UTF-8,
// reach the caller unchanged (the former as the three bytes of its code point), because a message
// with forbidden characters has an error of its own, and in a batch fails only its entry.

namespace redrive::wire {

// Bodies are bounded by HTTP; the largest contain function code in base64.
inline constexpr std::size_t kJsonBytesMax = 80u << 20;
inline constexpr std::size_t kQueryParametersMax = 20'000;
inline constexpr std::size_t kQueryIndexMax = 10'000;

class JsonParser;  // Wraps simdjson's parser to reuse its buffers.

// One decoded `name=value` of a Query request. The last three members are used while walking a
// shape.
struct QueryParameter {
  std::string_view key;
  std::string_view value;
  std::uint32_t order = 0;
  std::uint32_t field = 0;
  std::uint32_t index = 0;
};

// Buffers that a thread reuses for each request, so that decoding need not allocate. Views in a
// decoded struct are valid until the next decode with the same Decoder, or until the request's
// bytes are freed, whichever comes first.
class Decoder {
 public:
  Decoder();
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  Arena& arena() { return arena_; }
  JsonParser& json() { return *json_; }
  std::vector<QueryParameter>& parameters() { return parameters_; }

 private:
  Arena arena_;
  std::unique_ptr<JsonParser> json_;
  std::vector<QueryParameter> parameters_;
};

// How to treat JSON members that the shape does not have. SQS ignores them; an API that promises to
// refuse unsupported settings must not. Null, "", [] and {} are ignored in both modes:
// infrastructure tools send them for settings that are not configured.
enum class UnknownMembers : std::uint8_t { ignore, refuse };

Result<void> decode_json(Decoder& decoder, PaddedView body, const Record& record, void* out,
                         UnknownMembers unknown = UnknownMembers::ignore);
// Parameters of the form body come after those of the query string and so take precedence.
Result<void> decode_query(Decoder& decoder, std::string_view query_string,
                          std::string_view form_body, const Record& record, void* out);

template <class T>
Result<void> decode_json(Decoder& decoder, PaddedView body, T& out,
                         UnknownMembers unknown = UnknownMembers::ignore) {
  return decode_json(decoder, body, kRecord<T>, &out, unknown);
}

template <class T>
Result<void> decode_query(Decoder& decoder, std::string_view query_string,
                          std::string_view form_body, T& out) {
  return decode_query(decoder, query_string, form_body, kRecord<T>, &out);
}

// Finds a single parameter, such as Action, which determines the meaning of the others.
std::optional<std::string_view> find_query_parameter(Decoder& decoder,
                                                     std::string_view query_string,
                                                     std::string_view form_body,
                                                     std::string_view name);

}  // namespace redrive::wire
