#include "app/notices.h"

namespace redrive::app {
namespace {

// The request id is the one that the client was given, so that both sides can be found by it.
engine::Notice notice_of(const front::FailedRequest& failed) {
  using Weight = engine::Notice::Weight;
  return {.weight = failed.refusal.status >= 500 ? Weight::fault : Weight::swarm,
          .event = failed.refusal.status >= 500 ? "request failed" : "signature refused",
          .fields = {{"request-id", std::string(failed.request_id)},
                     {"service", std::string(failed.service)},
                     {"action", std::string(failed.action)},
                     {"code", failed.refusal.code},
                     {"message", failed.refusal.message},
                     {"peer", std::string(failed.peer)}}};
}

}  // namespace

void Notices::write(const engine::Notice& notice) {
  log_.write(notice);
  if (tracing_ != nullptr) tracing_->noticed(notice);
}

void Notices::write(const front::FailedRequest& failed) {
  log_.write(notice_of(failed));
}

}  // namespace redrive::app
