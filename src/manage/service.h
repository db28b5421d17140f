#pragma once

#include <string_view>

#include "front/pipeline.h"
#include "manage/call.h"

namespace redrive::manage {

// The path prefix of the management API. No account has this name, so it cannot be a queue's path.
inline constexpr std::string_view kPathPrefix = "/_redrive/";

// The management API on a port: JSON over HTTP, for what SQS has no action for. An answer is sent
// when everything recorded before it is durable.
class Service final : private front::Api {
 public:
  explicit Service(Parts parts);

  // For requests whose path begins with kPathPrefix.
  void handle(http::Exchange& exchange) const { pipeline_.handle(exchange); }

  front::Pace pace(const http::Request& request) const override;

 private:
  front::Outcome<void> route(front::RequestContext& context) const override;
  front::Outcome<http::Answer> run(front::RequestContext& context,
                                   const front::Respond& respond) const override;

  const Parts parts_;
  const front::Pipeline pipeline_;
};

}  // namespace redrive::manage
