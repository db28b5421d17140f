#include "cli/client/send_source.h"

#include <fmt/format.h>

#include <utility>

namespace redrive::cli {

Answer<SendSource> SendSource::open(const SendOptions& options,
                                    const auth::Environment& environment, std::istream& in) {
  if (options.body && options.file) return usage_failure("pass either BODY or --file");
  if (options.ndjson && (options.body || options.file)) {
    return usage_failure("--ndjson reads standard input and excludes BODY and --file");
  }
  SendSource source(in, options);
  source.only_body_ = options.body;
  if (options.file) {
    source.only_body_ = environment.file(*options.file);
    if (!source.only_body_) return usage_failure(fmt::format("cannot read {}", *options.file));
  }
  source.common_ = {.group = options.group,
                    .deduplication = options.deduplication,
                    .delay_seconds = options.delay_seconds};
  for (const std::string& text : options.attributes) {
    source.common_.attributes.push_back(TRY(parse_attribute(text, environment)));
  }
  if (source.only_body_) {
    source.current_ = source.common_;
    source.current_.body = *source.only_body_;
    source.repeats_left_ = options.repeat;
  }
  return source;
}

std::optional<std::uint64_t> SendSource::total() const {
  return only_body_ ? std::optional(options_.repeat) : std::nullopt;
}

Answer<std::optional<OutgoingMessage>> SendSource::next() {
  if (repeats_left_ == 0 && (only_body_ || !TRY(read()))) return std::nullopt;
  --repeats_left_;
  return current_;
}

// The next non-empty line: queues refuse empty bodies.
Answer<bool> SendSource::read() {
  std::string line;
  while (std::getline(*in_, line)) {
    ++line_;
    if (line.empty()) continue;
    current_ = TRY(parse(std::move(line)));
    repeats_left_ = options_.repeat;
    return true;
  }
  return false;
}

Answer<OutgoingMessage> SendSource::parse(std::string line) const {
  OutgoingMessage message = common_;
  message.body = std::move(line);
  if (!options_.ndjson) return message;
  auto parsed = parse_message_line(message.body);
  if (!parsed) {
    return usage_failure(fmt::format("line {}: {}", line_, parsed.error().message));
  }
  if (!parsed->group) parsed->group = common_.group;
  if (!parsed->deduplication) parsed->deduplication = common_.deduplication;
  if (!parsed->delay_seconds) parsed->delay_seconds = common_.delay_seconds;
  parsed->attributes.insert(
      parsed->attributes.end(), common_.attributes.begin(), common_.attributes.end());
  return parsed;
}

}  // namespace redrive::cli
