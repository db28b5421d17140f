#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redrive::events {

// The queue that the messages come from.
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

// One received message as a handler sees it. The viewed data must outlive it.
struct Record {
  std::string_view message_id;
  std::string_view receipt_handle;
  std::string_view body;
  // System attributes, in order.
  std::vector<std::pair<std::string_view, std::string_view>> attributes;
  std::vector<RecordAttribute> message_attributes;
  std::string_view md5_of_message_attributes;  // Meaningless if there are none.
  std::string_view md5_of_body;
};

}  // namespace redrive::events
