#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wire/arena.h"
#include "wire/shape.h"

// From bytes to structs, for any struct with a shape.
//
// Both protocols keep the same promises: unknown members are ignored (unless UnknownMembers says
// otherwise), null and an empty list are
// absent, the last of several values wins, what is required is there and what has a range is in it
// when decoding succeeds. Texts are UTF-8, except in members marked content(): a JSON escape that
// is half a surrogate pair, or Query bytes that are no UTF-8, reach the caller as they stand (the
// former as the three bytes that code point would have), because a message with forbidden
// characters is answered with an error of its own, and in a batch for its entry alone.

namespace redrive::wire {

// Bodies are bounded by HTTP; the largest bring the code of functions, in base64.
inline constexpr std::size_t kJsonBytesMax = 80u << 20;
inline constexpr std::size_t kQueryParametersMax = 20'000;
inline constexpr std::size_t kQueryIndexMax = 10'000;

class JsonParser;  // simdjson's, kept for its buffers.

// One `name=value` of a Query request, decoded. The last three members serve the walk over a shape.
struct QueryParameter {
  std::string_view key;
  std::string_view value;
  std::uint32_t order = 0;
  std::uint32_t field = 0;
  std::uint32_t index = 0;
};

// What one thread keeps from request to request, so that decoding need not allocate. The views in a
// decoded struct live until the next decode with the same Decoder, or until the request's own bytes
// go, whichever is first.
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

// What becomes of JSON members that the shape does not have. SQS ignores them; an API that promises
// to refuse what it does not support must not. Null, "", [] and {} ask for nothing, and are ignored
// either way: infrastructure tools send them for what is not configured.
enum class UnknownMembers : std::uint8_t { ignore, refuse };

// At least 64 readable bytes must follow `padded_body`; their content does not matter.
Result<void> decode_json(Decoder& decoder, std::string_view padded_body, const Record& record,
                         void* out, UnknownMembers unknown = UnknownMembers::ignore);
// Parameters of the form body come after, and so win over, those of the query string.
Result<void> decode_query(Decoder& decoder, std::string_view query_string,
                          std::string_view form_body, const Record& record, void* out);

template <class T>
Result<void> decode_json(Decoder& decoder, std::string_view padded_body, T& out,
                         UnknownMembers unknown = UnknownMembers::ignore) {
  return decode_json(decoder, padded_body, kRecord<T>, &out, unknown);
}

template <class T>
Result<void> decode_query(Decoder& decoder, std::string_view query_string,
                          std::string_view form_body, T& out) {
  return decode_query(decoder, query_string, form_body, kRecord<T>, &out);
}

// One parameter on its own, such as Action, which decides what the others mean.
std::optional<std::string_view> find_query_parameter(Decoder& decoder,
                                                     std::string_view query_string,
                                                     std::string_view form_body,
                                                     std::string_view name);

}  // namespace redrive::wire
