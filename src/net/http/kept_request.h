#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "net/http/message.h"

namespace redrive::http {

// A copy of a request that owns its strings, so that it can outlive the connection's buffers.
class KeptRequest {
 public:
  explicit KeptRequest(const Request& original);
  KeptRequest(const KeptRequest&) = delete;
  KeptRequest& operator=(const KeptRequest&) = delete;

  const Request& get() const { return request_; }

 private:
  std::string_view keep(std::string_view text);

  Request request_;
  std::deque<std::string> texts_;  // Backing storage for the views in request_.
};

}  // namespace redrive::http
