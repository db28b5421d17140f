#pragma once

#include <string_view>

#include "http/answer.h"
#include "http/server.h"
#include "manage/call.h"
#include "manage/failure.h"

namespace redrive::manage {

// What the management API answers to. No account has this name, so it cannot be a queue's path.
inline constexpr std::string_view kPathPrefix = "/_redrive/";

// The management API on a port: JSON over HTTP, for what SQS has no action for. Like the SQS API it
// runs on the connection's I/O thread, and an answer leaves when everything recorded before it is
// durable.
class Service {
 public:
  explicit Service(Parts parts);

  // For requests whose path begins with kPathPrefix.
  void handle(http::Exchange& exchange);

 private:
  struct Asked;

  Result<Document> run(Match match, Asked& asked) const;
  http::Answer answer(Asked& asked) const;
  http::Answer refusal(const Failure& failure, const Asked& asked) const;

  Parts parts_;
  const api::Witness witness_;
};

}  // namespace redrive::manage
