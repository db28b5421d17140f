#pragma once

#include "aws/sqs/model/types.h"

// A dead-letter policy.

namespace redrive::documents {

struct Policy {
  std::optional<std::int64_t> max_redrives;
  std::optional<std::int64_t> redrive_after_seconds;
  std::optional<std::int64_t> backoff_rate;
  std::optional<std::int64_t> max_redrive_after_seconds;
  std::optional<std::string_view> then;  // park, discard, archive
  std::optional<bool> archive_expiring;
  std::optional<std::string_view> archive;  // bucket/prefix
  std::optional<std::string_view> source;   // queue, configuration, none; not for setting.
};
consteval auto shape_of(Policy*) {
  using In = Policy;
  return wire::shape(wire::optional("maxRedrives", &In::max_redrives)
                         .between(0, 1000, "Must be between 0 and 1000."),
                     wire::optional("redriveAfterSeconds", &In::redrive_after_seconds)
                         .between(0, 1'209'600, "Must be between 0 and 1209600."),
                     wire::optional("backoffRate", &In::backoff_rate)
                         .between(1, 100, "Must be between 1 and 100."),
                     wire::optional("maxRedriveAfterSeconds", &In::max_redrive_after_seconds)
                         .between(1, 1'209'600, "Must be between 1 and 1209600."),
                     wire::optional("then", &In::then),
                     wire::optional("archiveExpiring", &In::archive_expiring),
                     wire::optional("archive", &In::archive),
                     wire::optional("source", &In::source));
}

}  // namespace redrive::documents
