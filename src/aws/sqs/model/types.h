#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/ids.h"
#include "net/wire/shape.h"

// Types of several actions. Each struct has its shape next to it; texts are views of the request
// (inputs) or of texts that the caller keeps (outputs).

namespace redrive::sqs {

using StringList = std::vector<std::string_view>;
using StringMap = std::vector<std::pair<std::string_view, std::string_view>>;

// Decoded without checks, because an invalid attribute fails only its entry of a batch. The two
// lists are reserved by the API and refused later.
struct MessageAttributeValue {
  std::string_view data_type;
  std::optional<std::string_view> string_value;
  std::optional<wire::Blob> binary_value;
  StringList string_list_values;
  std::vector<wire::Blob> binary_list_values;

  bool operator==(const MessageAttributeValue&) const = default;
};
consteval auto shape_of(MessageAttributeValue*) {
  using Value = MessageAttributeValue;
  return wire::shape(
      wire::optional("StringValue", &Value::string_value).sensitive(),
      wire::optional("BinaryValue", &Value::binary_value).sensitive(),
      wire::optional("StringListValues", &Value::string_list_values).each("StringListValue"),
      wire::optional("BinaryListValues", &Value::binary_list_values).each("BinaryListValue"),
      wire::optional("DataType", &Value::data_type));
}

using MessageAttributes = std::vector<std::pair<std::string_view, MessageAttributeValue>>;

// Why one entry of a batch failed. `code` is the Query code of the error.
struct BatchResultErrorEntry {
  std::string_view id;
  bool sender_fault = true;
  std::string_view code;
  std::string_view message;

  bool operator==(const BatchResultErrorEntry&) const = default;
};
consteval auto shape_of(BatchResultErrorEntry*) {
  using Entry = BatchResultErrorEntry;
  return wire::shape(wire::required("Id", &Entry::id),
                     wire::required("SenderFault", &Entry::sender_fault),
                     wire::required("Code", &Entry::code),
                     wire::optional("Message", &Entry::message));
}

// The parameter that addresses a queue. It is never required here: a Query request may name the
// queue by its path instead, so Call::queue() reports a missing queue.
template <class In>
consteval auto queue_url(std::string_view In::*place) {
  return wire::optional("QueueUrl", place).queue();
}

// Whether an action's input addresses a queue by `queue_url`.
template <class In>
inline constexpr bool names_queue = [] {
  for (const wire::Field& field : wire::kRecord<In>.fields) {
    if (field.traits.queue) return true;
  }
  return false;
}();

}  // namespace redrive::sqs
