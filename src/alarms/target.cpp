#include "alarms/target.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace redrive::alarms {
namespace {

struct Network {
  std::array<std::uint8_t, 4> address;
  unsigned bits;
};

// This host, private use, shared address space, link-local, documentation, benchmarks, multicast
// and what is reserved.
constexpr Network kNotPublic[] = {
    {{0, 0, 0, 0}, 8},
    {{10, 0, 0, 0}, 8},
    {{100, 64, 0, 0}, 10},
    {{127, 0, 0, 0}, 8},
    {{169, 254, 0, 0}, 16},
    {{172, 16, 0, 0}, 12},
    {{192, 0, 0, 0}, 24},
    {{192, 0, 2, 0}, 24},
    {{192, 168, 0, 0}, 16},
    {{198, 18, 0, 0}, 15},
    {{198, 51, 100, 0}, 24},
    {{203, 0, 113, 0}, 24},
    {{224, 0, 0, 0}, 4},
    {{240, 0, 0, 0}, 4},
};

bool is_within(const std::uint8_t* address, const Network& network) {
  for (unsigned bit = 0; bit < network.bits; ++bit) {
    const auto mask = static_cast<std::uint8_t>(0x80u >> (bit % 8));
    if ((address[bit / 8] & mask) != (network.address[bit / 8] & mask)) return false;
  }
  return true;
}

bool is_public_v4(const std::uint8_t* address) {
  return std::ranges::none_of(kNotPublic,
                              [&](const Network& network) { return is_within(address, network); });
}

}  // namespace

Target Target::parse(std::string text, bool trusted) {
  Target target{.kind = Kind::unknown, .text = std::move(text), .trusted = trusted};
  const std::string_view view = target.text;
  if (view.starts_with("arn:aws:sqs:")) target.kind = Kind::queue;
  if (view.starts_with("arn:aws:lambda:")) target.kind = Kind::function;
  if (view.starts_with("http://") || view.starts_with("https://")) target.kind = Kind::webhook;
  if (view.starts_with("smtp://") || view.starts_with("smtps://")) target.kind = Kind::mail;
  if (view.starts_with("command:")) target.kind = Kind::command;
  return target;
}

std::string shown_target(const std::string& text) {
  const std::size_t scheme = text.find("://");
  if (scheme == std::string::npos) return text;
  const std::size_t host = scheme + 3;
  const std::size_t end = std::min(text.find_first_of("/?", host), text.size());
  const std::size_t at = text.rfind('@', end);
  const std::size_t from = at == std::string::npos || at < host ? host : at + 1;
  return text.substr(0, host) + (from == host ? "" : "***@") + text.substr(from, end - from) +
         (end == text.size() ? "" : "/...");
}

bool is_public_address(std::string_view address) {
  const std::string text(address);
  std::array<std::uint8_t, 16> bytes{};
  if (inet_pton(AF_INET, text.c_str(), bytes.data()) == 1) return is_public_v4(bytes.data());
  if (inet_pton(AF_INET6, text.c_str(), bytes.data()) != 1) return false;
  constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  constexpr std::array<std::uint8_t, 12> kTranslated{0, 0x64, 0xff, 0x9b};
  if (std::equal(kMapped.begin(), kMapped.end(), bytes.begin()) ||
      std::equal(kTranslated.begin(), kTranslated.end(), bytes.begin())) {
    return is_public_v4(bytes.data() + 12);
  }
  // Of the rest only 2000::/3 is for the world; within it, 2001:db8::/32 and 2002::/16 are not.
  const bool global = (bytes[0] & 0xe0) == 0x20;
  const bool documentation =
      bytes[0] == 0x20 && bytes[1] == 0x01 && bytes[2] == 0x0d && bytes[3] == 0xb8;
  const bool six_to_four = bytes[0] == 0x20 && bytes[1] == 0x02;
  return global && !documentation && !six_to_four;
}

}  // namespace redrive::alarms
