#include "alarms/target.h"

#include <algorithm>

namespace redrive::alarms {
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
