#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "auth/credentials.h"
#include "cli/failure.h"
#include "cli/outgoing.h"

namespace redrive::cli {

// What the command line of `send` says about the messages.
struct SendOptions {
  std::string queue;
  std::optional<std::string> body;
  std::optional<std::string> file;
  bool ndjson = false;
  std::vector<std::string> attributes;
  std::optional<std::string> group;
  std::optional<std::string> deduplication;
  std::optional<std::int32_t> delay_seconds;
  std::uint64_t repeat = 1;
  unsigned concurrency = 4;
  bool carried = false;  // Messages of another queue: their ids are for queues that take them.
};

// The messages of one `send`, one after the other: the one body repeated, or the lines of a stream,
// each repeated. What the command line says holds for messages that do not say otherwise.
class SendSource {
 public:
  static Answer<SendSource> open(const SendOptions& options, const auth::Environment& environment,
                                 std::istream& in);

  // Nothing at the end.
  Answer<std::optional<OutgoingMessage>> next();
  // How many there will be, where that is known beforehand.
  std::optional<std::uint64_t> total() const;

 private:
  SendSource(std::istream& in, const SendOptions& options) : in_(&in), options_(options) {}

  Answer<bool> read();
  Answer<OutgoingMessage> parse(std::string line) const;

  std::istream* in_;
  SendOptions options_;
  std::optional<std::string> only_body_;
  OutgoingMessage common_;  // A message with everything but a body.
  OutgoingMessage current_;
  std::uint64_t repeats_left_ = 0;
  std::uint64_t line_ = 0;
};

}  // namespace redrive::cli
