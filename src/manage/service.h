#pragma once

#include <string_view>

#include <memory>

#include "front/pipeline.h"
#include "manage/call.h"
#include "manage/change_feed.h"

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

  // Answers the long polls that wait; later ones do not wait. For the end of the server.
  void stop() const { feed_->stop(); }

 private:
  front::Outcome<http::Answer> read_changes(front::RequestContext& context, Call& call,
                                            const front::Respond& respond) const;
  front::Outcome<void> route(front::RequestContext& context) const override;
  front::Outcome<http::Answer> run(front::RequestContext& context,
                                   const front::Respond& respond) const override;

  const Parts parts_;
  const front::Pipeline pipeline_;
  const std::unique_ptr<ChangeFeed> feed_;
};

}  // namespace redrive::manage
