// Arbitrary bytes as the JSON body of any action: decoded or refused, never a crash; and a decoded
// value survives an encode/decode round trip. The first byte chooses the action, the lowest bit of
// the second whether the rest is read as the action's input or output.

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "aws/sqs/model/actions.h"
#include "base/padded_text.h"
#include "base/text.h"
#include "net/wire/decoder.h"
#include "net/wire/encode.h"

namespace {

using namespace redrive;

// A copy followed by exactly the padding that the decoder requires.
struct Body {
  explicit Body(std::string_view text)
      : bytes(std::make_unique<char[]>(text.size() + kTextPadding)), size(text.size()) {
    text.copy(bytes.get(), size);
  }
  PaddedView view() const { return PaddedView::guaranteed({bytes.get(), size}); }

  std::unique_ptr<char[]> bytes;
  std::size_t size;
};

template <class T>
void check(std::string_view text) {
  static wire::Decoder decoder;
  static wire::Decoder again;
  T first;
  const Body body(text);
  if (!wire::decode_json(decoder, body.view(), first)) return;
  std::string encoded;
  wire::encode_json(encoded, first);
  assert(is_utf8(encoded));
  T second;
  const Body copy(encoded);
  const bool decoded = wire::decode_json(again, copy.view(), second).has_value();
  assert(decoded);
  // An unpaired surrogate in a message comes back as U+FFFD: JSON cannot represent it.
  const bool replaced = encoded.find("\uFFFD") != encoded.npos;
  assert(replaced || first == second);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  using Check = void (*)(std::string_view);
  constexpr auto kInputs = sqs::AllActions::table<Check>(
      []<class Action>() -> Check { return &check<typename Action::Input>; });
  constexpr auto kOutputs = sqs::AllActions::table<Check>(
      []<class Action>() -> Check { return &check<typename Action::Output>; });
  const auto& checks = (data[1] & 1) == 0 ? kInputs : kOutputs;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  checks[data[0] % checks.size()](text);
  return 0;
}
