#pragma once

#include <string_view>

#include "http/answer.h"
#include "http/server.h"
#include "manage/call.h"
#include "manage/failure.h"

namespace redrive::manage {

// What the management API answers to. No account has this name, so it cannot be a queue's path.
inline constexpr std::string_view kPathPrefix = "/_redrive/";

// The management API on a port: JSON over HTTP, for what SQS has no action for. Searches and
// listings take as long as there is to look at, so nothing of it is for I/O threads. An answer
// leaves when everything recorded before it is durable.
class Service {
 public:
  explicit Service(Parts parts);

  // For requests whose path begins with kPathPrefix.
  void handle(http::Exchange& exchange);
  // Whether it may take more than a few milliseconds: searches, dry runs, lists, walks.
  static bool is_slow(const http::Request& request);
  // Answers that too much is waiting already.
  void refuse_busy(http::Exchange& exchange) const;

 private:
  struct Asked;

  Result<Document> run(Match match, Asked& asked) const;
  http::Answer answer(Asked& asked) const;
  void finish(http::Exchange& exchange, const Asked& asked, const http::Answer& answer) const;
  http::Answer refusal(const Failure& failure, const Asked& asked) const;

  Parts parts_;
  const api::Witness witness_;
};

}  // namespace redrive::manage
