#pragma once

#include <string_view>

#include "base/error.h"

namespace redrive::sqs {

enum class Fault { sender, receiver };

// How an error travels. JSON clients see `json_type`; Query clients, the x-amzn-query-error header
// and the Failed entries of a batch have the older `query_code`.
struct ErrorRow {
  ErrorCode code;
  int json_status;
  int query_status;
  Fault fault;
  std::string_view json_type;
  std::string_view query_code;
};

// Every code has a row. Those that only start-up, storage and outgoing calls produce are internal
// failures to a client.
const ErrorRow& error_row(ErrorCode code);

}  // namespace redrive::sqs
