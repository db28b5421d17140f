#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aws/sqs/model/types.h"
#include "cli/client/failure.h"
#include "net/auth/credentials.h"

namespace redrive::cli {

struct OutgoingAttribute {
  std::string name;
  std::string type;   // String, Number or Binary, with an optional label after a dot.
  std::string value;  // For Binary the raw bytes.

  bool operator==(const OutgoingAttribute&) const = default;
};

// A message to be sent to a queue.
struct OutgoingMessage {
  std::string body;
  std::vector<OutgoingAttribute> attributes;
  std::optional<std::string> group;
  std::optional<std::string> deduplication;
  std::optional<std::int32_t> delay_seconds;
  std::optional<std::string> trace_header;  // AWSTraceHeader; not counted in the size.

  // As counted by SQS: the body, and the name, type and value of each attribute.
  std::size_t size() const;
  bool operator==(const OutgoingMessage&) const = default;
};

bool is_binary(std::string_view type);

// The attribute for a request; views its argument.
sqs::MessageAttributeValue to_value(const OutgoingAttribute& attribute);

// `name=value`, `name:Type=value`, and `@path` for a Binary value.
Answer<OutgoingAttribute> parse_attribute(std::string_view text,
                                          const auth::Environment& environment);

// `name=value`, for queue attributes and tags; the value may be empty.
Answer<std::pair<std::string, std::string>> parse_pair(std::string_view text);

// One line of `send --ndjson`: {"Body": …, "MessageAttributes": …, "MessageGroupId": …}. Also
// accepts the output of `receive --json`, so that messages can be piped from queue to queue.
Answer<OutgoingMessage> parse_message_line(std::string_view line);

}  // namespace redrive::cli
