#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redrive::events {

// The queue that messages come from.
struct EventSource {
  std::string arn;
  std::string region;
};

struct RecordAttribute {
  std::string_view name;
  std::string_view type;
  std::string_view value;
  bool binary = false;
};

// One received message as a handler is to see it. What it views must outlive it.
struct Record {
  std::string_view message_id;
  std::string_view receipt_handle;
  std::string_view body;
  std::vector<std::pair<std::string_view, std::string_view>> attributes;  // The system's, in order.
  std::vector<RecordAttribute> message_attributes;
  std::string_view md5_of_message_attributes;  // Meaningless without any.
  std::string_view md5_of_body;
};

}  // namespace redrive::events
