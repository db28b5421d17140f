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

// One request, for logs and metrics.
struct RequestMark {
  std::string_view id;  // As returned to the client.
  std::string_view peer;
  std::size_t action;  // Index in the actions of its API.
};

// A failed request for the log: an error of the server, or a caller that is not authenticated.
struct FailedRequest {
  const Refusal& refusal;
  std::string_view request_id;
  std::string_view service;
  std::string_view action;
  std::string_view peer;
};

// One audit entry: a change, or an attempt at one.
struct AuditEntry {
  std::string_view resource;           // Empty: the request failed before it named one.
  const Refusal* refused = nullptr;    // Null: it succeeded.
  std::string_view request_json = {};  // Empty: not recorded.
};

// Receivers of telemetry. Each may be empty.
struct Observers {
  std::function<void(std::string)> audit;  // Takes a line for the audit log.
  // Whether another refusal of that caller gets an audit entry; empty: always.
  std::function<bool(std::string_view who, std::string_view from)> audits_refusal = {};
  std::function<void(const FailedRequest&)> failed;  // Can be called thousands of times a second.
  metrics::ServerMetrics* recorded = nullptr;
};

// Latency and errors of each action (metrics), failures (the log) and changes (the audit log) of
// one API. Every API of the server has one, so that all use the same names. Thread-safe.
class RequestTelemetry {
 public:
  // `actions` is a closed list; one more index, unknown(), is for requests that name none of them.
  RequestTelemetry(Observers observers, std::string service, std::vector<std::string_view> actions);

  std::size_t unknown() const { return actions_->size() - 1; }
  metrics::ActionMetrics& actions() const { return *actions_; }
  // The latency histogram of the action for this thread.
  metrics::Histogram& latency(std::size_t action) const { return actions_->latency(action); }

  // Counts the refusal, and logs it if operators need to know.
  void refused(const RequestMark& request, const Refusal& how) const;
  // The same without counting.
  void tell(const RequestMark& request, const Refusal& how) const;
  bool audits() const { return static_cast<bool>(observers_.audit); }
  // A line has at most about 16 KiB; longer texts are cut.
  void audit(const RequestMark& request, const Caller& caller, const AuditEntry& entry,
             Timestamp wall) const;

 private:
  const Observers observers_;
  const std::shared_ptr<metrics::ActionMetrics> actions_;
};

// Whether the error means that the caller is not authenticated.
bool is_unauthenticated(ErrorCode code);

// A unique request id.
std::string new_request_id();

}  // namespace redrive::front
