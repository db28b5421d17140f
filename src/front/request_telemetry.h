#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "front/gate.h"
#include "front/refusal.h"
#include "observe/metrics/server_metrics.h"

namespace redrive::front {

// One request as others hear of it.
struct RequestMark {
  std::string_view id;  // The one that its client is told.
  std::string_view peer;
  std::size_t action;  // Of the names of its API.
};

// A request that operators want to read of: a fault of ours, or a caller who is not let in.
struct FailedRequest {
  const Refusal& refusal;
  std::string_view request_id;
  std::string_view service;
  std::string_view action;
  std::string_view peer;
};

// What a request did, or tried to do, that operators answer for.
struct AuditEntry {
  std::string_view resource;           // Empty: it did not come so far as to name one.
  const Refusal* refused = nullptr;    // None: it was done.
  std::string_view request_json = {};  // What was asked for; empty: not to be told.
};

// Who hears of requests. Each may be empty.
struct Observers {
  std::function<void(std::string)> audit;  // Takes a line for the audit log.
  // Whether one more refusal of that caller is for the audit log; empty: always.
  std::function<bool(std::string_view who, std::string_view from)> audits_refusal = {};
  std::function<void(const FailedRequest&)> failed;  // May come by the thousand.
  metrics::ServerMetrics* recorded = nullptr;
};

// Through this an API tells of the requests it serves: how long each action takes and how it is
// refused (metrics), what went wrong (the log), who changed what (the audit log). Every API of the
// server has one, so that all of them tell the same under the same names. From any thread.
class RequestTelemetry {
 public:
  // The actions are a closed list; behind them stands one for requests that name none of them.
  RequestTelemetry(Observers observers, std::string service, std::vector<std::string_view> actions);

  std::size_t unknown() const { return actions_->size() - 1; }
  metrics::ActionMetrics& actions() const { return *actions_; }
  // Where this thread records how long that action takes.
  metrics::Histogram& latency(std::size_t action) const { return actions_->latency(action); }

  // Counts it, and tells operators if it is for them.
  void refused(const RequestMark& request, const Refusal& how) const;
  // Tells operators if it is for them; whoever calls this has counted it.
  void tell(const RequestMark& request, const Refusal& how) const;
  bool audits() const { return static_cast<bool>(observers_.audit); }
  // A line is at most about 16 KiB long, whatever was asked for: of longer texts it has the start.
  void audit(const RequestMark& request, const Caller& caller, const AuditEntry& entry,
             Timestamp wall) const;

 private:
  const Observers observers_;
  const std::shared_ptr<metrics::ActionMetrics> actions_;
};

// Whether the error says that a caller could not prove who it is.
bool is_unauthenticated(ErrorCode code);

// An id that no other request has.
std::string new_request_id();

}  // namespace redrive::front
