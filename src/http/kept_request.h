#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "http/message.h"

namespace redrive::http {

// A request that no longer depends on its connection: the same, with texts of its own.
class KeptRequest {
 public:
  explicit KeptRequest(const Request& original);
  KeptRequest(const KeptRequest&) = delete;
  KeptRequest& operator=(const KeptRequest&) = delete;

  const Request& get() const { return request_; }

 private:
  std::string_view keep(std::string_view text);

  Request request_;
  std::deque<std::string> texts_;  // What the views of request_ point into.
};

}  // namespace redrive::http
