// An untrusted template: it is read or refused, what was read can be written as JSON and read
// again, and resolving it terminates.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "stack/stack.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace redrive::stack;
  const auto root = read_yaml({reinterpret_cast<const char*>(data), size});
  if (!root) return 0;
  const auto again = read_json(root->json());
  // Names that JSON cannot represent (not UTF-8) are refused there, and so is deep nesting.
  if (again && !again->means(*root)) std::abort();
  static const Surroundings kAround{.stack_name = "s",
                                    .account = "000000000000",
                                    .region = "r",
                                    .endpoint = "http://h",
                                    .directory = "/d",
                                    .parameters = {}};
  (void)read_template(*root, Node(), kAround);
  return 0;
}
