#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redrive::events {

struct RecordAttribute {
  std::string_view name;
  std::string_view type;
  std::string_view value;
  bool binary = false;
};

// One received message as a handler is to see it. Views must outlive it.
struct Record {
  std::string message_id;
  std::string receipt_handle;
  std::string_view body;
  std::vector<std::pair<std::string_view, std::string>> attributes;  // The system's, in order.
  std::vector<RecordAttribute> message_attributes;
  std::string md5_of_message_attributes;  // Meaningless without any.
  std::string md5_of_body;
};

}  // namespace redrive::events
