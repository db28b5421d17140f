// Arbitrary bytes as the query string and form body of any action: decoded or refused, never a
// crash; and a decoded value survives an encode/decode round trip. The first byte chooses the
// action; a line feed separates the query string from the body.

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>

#include "aws/sqs/model/actions.h"
#include "net/wire/decoder.h"
#include "net/wire/encode.h"

namespace {

using namespace redrive;

template <class T>
void check(std::string_view query, std::string_view form) {
  static wire::Decoder decoder;
  static wire::Decoder again;
  T first;
  if (!wire::decode_query(decoder, query, form, first)) return;
  std::string encoded;
  wire::encode_query(encoded, first);
  T second;
  const bool decoded = wire::decode_query(again, "", encoded, second).has_value();
  assert(decoded && first == second);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  using Check = void (*)(std::string_view, std::string_view);
  constexpr auto kChecks = sqs::AllActions::table<Check>(
      []<class Action>() -> Check { return &check<typename Action::Input>; });
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string_view query = text.substr(0, text.find('\n'));
  const std::string_view form = text.substr(std::min(text.size(), query.size() + 1));
  kChecks[data[0] % kChecks.size()](query, form);
  return 0;
}
