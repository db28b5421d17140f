#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "front/gate.h"
#include "front/refusal.h"
#include "front/request_context.h"
#include "front/request_telemetry.h"
#include "net/http/answer.h"
#include "net/http/offload_pool.h"
#include "net/http/server.h"

// The request pipeline of every API on the port:
//
//   choose a thread → authenticate → route → authorise and run → encode → count → audit
//
// A service implements Api and hands its requests to a Pipeline. Services of AWS that have a table
// of actions use TableApi (front/action_table.h), which implements Api for them.
// docs/adding-a-service.md shows the whole way.

namespace redrive::front {

// Where a request runs.
enum class Pace : std::uint8_t {
  loop,   // On the I/O thread of its connection: takes less than a millisecond, whatever is stored.
  quick,  // On the offload pool.
  slow,   // On the offload pool, within its limits for slow requests.
};

// Runs `serve` on another thread. False: too much is waiting there.
using Offload =
    std::function<bool(http::Exchange&, http::OffloadPool::Pace, http::OffloadPool::Serve serve)>;

// Answers a request, once, from any thread.
using Respond = std::function<void(Outcome<http::Answer>)>;

// Constants of an API. Answers can be given after the service is destroyed, so nothing here refers
// to it.
struct ApiTraits {
  std::string_view name;                  // In metrics, the log and the audit log.
  Gate::Api scope;                        // What signatures must be scoped to.
  std::vector<std::string_view> actions;  // RequestContext::action is an index of this.
  // The error table: status and code of an error from a lower module.
  Refusal (*refusal_of)(const Error& error);
  std::function<http::Answer(const RequestContext& context, const Refusal& refusal)> encode;
  // Answered when the offload pool is full.
  Refusal busy = Error{ErrorCode::service_unavailable, "The server is busy. Please try again."};
  std::string_view id_header = "x-amzn-RequestId";
  std::vector<http::Header> headers = {};  // Of every answer.
  // Whether an unknown address is refused before the signature is checked.
  bool routes_first = false;
};

// A service as the pipeline sees it. Called from any thread.
class Api {
 public:
  virtual ~Api() = default;

  virtual Pace pace(const http::Request& request) const = 0;
  // Finds the action of a request: sets context.action and context.parameters.
  virtual Outcome<void> route(RequestContext& context) const = 0;
  // Authorises and serves an authenticated request; sets context.audit before it is authorised.
  // May set context.later and respond after it has returned, unless it returns a refusal.
  virtual Outcome<http::Answer> run(RequestContext& context, const Respond& respond) const = 0;
};

class Pipeline {
 public:
  struct Parts {
    const Gate& gate;
    Observers observers = {};
    Offload offload = {};  // Empty: everything runs on the thread that calls handle().
    // The journal position that an answer waits for: answers leave when everything recorded before
    // them is durable. Empty: nothing is waited for.
    std::function<http::SyncPoint()> recorded = {};
  };
  // `api` must outlive the pipeline.
  Pipeline(const Api& api, ApiTraits traits, Parts parts);

  void handle(http::Exchange& exchange) const;
  bool audits() const;

 private:
  struct State;
  // Appends the response, and returns the journal position that it waits for.
  using Write = std::function<http::SyncPoint(std::string& out)>;
  // Sends what `write` appends, and records the latency.
  using Send = std::function<void(Write write, metrics::Histogram& latency)>;

  void serve(const std::shared_ptr<RequestContext>& context, Send send) const;
  Outcome<http::Answer> answer(RequestContext& context, const Respond& respond) const;
  Outcome<void> authenticate(RequestContext& context) const;
  void audit(const RequestContext& context, const Outcome<http::Answer>& answer) const;

  const Api& api_;
  const Offload offload_;
  const std::shared_ptr<const State> state_;
};

}  // namespace redrive::front
