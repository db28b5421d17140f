#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/session.h"
#include "sqs/actions.h"

namespace redrive::cli {

// What the verbs of `queue` print about one queue with --json.
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

// A document as one line, fit for a terminal: see harmless_json.
template <class T>
std::string json_line(const T& document) {
  std::string out;
  wire::encode_json(out, document);
  return harmless_json(out) + "\n";
}

// `purged orders`, or with --json the queue's URL as a document.
void announce(Session& session, std::string_view done, std::string_view queue_url);

// The value of one attribute; empty when the queue has none.
std::string_view attribute_of(const sqs::StringMap& attributes, std::string_view name);

// A RedrivePolicy, as far as people want to see it.
struct DeadLetterTarget {
  std::string arn;
  std::int64_t receive_count_max = 0;
};
std::optional<DeadLetterTarget> parse_redrive_policy(std::string_view policy);
std::string format_redrive_policy(const DeadLetterTarget& target);

}  // namespace redrive::cli
