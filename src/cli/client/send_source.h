#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "cli/client/failure.h"
#include "cli/client/outgoing.h"
#include "net/auth/credentials.h"

namespace redrive::cli {

// Command-line options of `send` that describe the messages.
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
  bool carried = false;  // Messages come from another queue: their ids are kept only for queues
                         // that accept them.
};

// The messages of one `send`: one body repeated, or the lines of a stream, each repeated.
// Command-line options are defaults for messages that do not set them.
class SendSource {
 public:
  static Answer<SendSource> open(const SendOptions& options, const auth::Environment& environment,
                                 std::istream& in);

  // nullopt at the end.
  Answer<std::optional<OutgoingMessage>> next();
  // The number of messages, if known in advance.
  std::optional<std::uint64_t> total() const;

 private:
  SendSource(std::istream& in, const SendOptions& options) : in_(&in), options_(options) {}

  Answer<bool> read();
  Answer<OutgoingMessage> parse(std::string line) const;

  std::istream* in_;
  SendOptions options_;
  std::optional<std::string> only_body_;
  OutgoingMessage common_;  // A message with everything except its body.
  OutgoingMessage current_;
  std::uint64_t repeats_left_ = 0;
  std::uint64_t line_ = 0;
};

}  // namespace redrive::cli
