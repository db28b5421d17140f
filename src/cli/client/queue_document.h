#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "aws/sqs/model/actions.h"
#include "cli/client/session.h"

namespace redrive::cli {

// The --json output of `queue` commands for one queue.
struct QueueDocument {
  std::string_view queue_url;
  sqs::StringMap attributes;
  sqs::StringMap tags;
  sqs::StringList dead_letter_source_queue_urls;
};
consteval auto shape_of(QueueDocument*) {
  using Document = QueueDocument;
  return wire::shape(
      wire::required("QueueUrl", &Document::queue_url),
      wire::optional("Attributes", &Document::attributes).each("Attribute"),
      wire::optional("Tags", &Document::tags).each("Tag", "Key"),
      wire::optional("DeadLetterSourceQueueUrls", &Document::dead_letter_source_queue_urls)
          .each("QueueUrl"));
}

// A document as one line, safe for a terminal: see harmless_json.
template <class T>
std::string json_line(const T& document) {
  std::string out;
  wire::encode_json(out, document);
  return harmless_json(out) + "\n";
}

// `purged orders`, or with --json a document with the queue's URL.
void announce(Session& session, std::string_view done, std::string_view queue_url);

// The value of an attribute; empty if the queue does not have it.
std::string_view attribute_of(const sqs::StringMap& attributes, std::string_view name);

// The displayed part of a RedrivePolicy.
struct DeadLetterTarget {
  std::string arn;
  std::int64_t receive_count_max = 0;
};
std::optional<DeadLetterTarget> parse_redrive_policy(std::string_view policy);
std::string format_redrive_policy(const DeadLetterTarget& target);

}  // namespace redrive::cli
