// The part before the first zero byte is a handler's response or error document, the rest the log
// of its run.

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "functions/events/item_causes.h"

namespace {

using namespace redrive::events;

constexpr std::string_view kMessageIds[] = {"aaaaaaaa-0000-4000-8000-000000000001",
                                            "bbbbbbbb-0000-4000-8000-000000000002"};

void check(const std::vector<ItemCause>& causes) {
  for (const ItemCause& cause : causes)
    assert((cause.source == ItemCause::Source::none) == cause.error.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t zero = std::min(text.find('\0'), text.size());
  const std::string_view log = text.substr(std::min(zero + 1, text.size()));
  for (const std::vector<bool>& failed : {std::vector{true, true}, std::vector{false, true}}) {
    const auto causes = item_causes(text.substr(0, zero), log, kMessageIds, failed);
    assert(causes.size() == 2);
    check(causes);
  }
  check(attached_causes(text.substr(0, zero), kMessageIds));
  return 0;
}
