#include "bench/client.h"

#include <fmt/format.h>

namespace redrive::bench {

Result<Progress> Client::greet(std::string&, std::string&) {
  return Progress::done;
}

std::unexpected<Error> unwelcome(std::string_view server, std::string_view words) {
  constexpr std::size_t kQuotedMax = 300;
  return fail(ErrorCode::network,
              fmt::format("{} answered: {}", server, words.substr(0, kQuotedMax)));
}

}  // namespace redrive::bench
