#include "observe/alarms/target.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace redrive::alarms {

std::string literal_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  const bool is_address = inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
                          inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
  if (is_address) return host;
  constexpr std::string_view kLocal = "localhost";
  return iequals(host, kLocal) || host.ends_with(".localhost") ? "127.0.0.1" : "";
}

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

}  // namespace redrive::alarms
