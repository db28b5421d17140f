#pragma once

#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/engine/engine.h"
#include "core/queue/ids.h"
#include "front/gate.h"

namespace redrive::sqs {

// Configuration.
struct ServiceOptions {
  bool strict_timing = false;  // Refuse to create a queue within 60 seconds of deleting one of that
                               // name, as AWS does.
  std::size_t waiting_receives_max = 20'000;
};

struct FoundQueue {
  queue::QueueKey key;
  std::shared_ptr<const queue::QueueSettings> settings;
};

// One request: its caller, its address, and storage for texts of the answer.
class Call : public front::Caller {
 public:
  Call(engine::Engine& the_engine, const ServiceOptions& the_options)
      : engine(the_engine), options(the_options) {}

  engine::Engine& engine;
  const ServiceOptions& options;

  std::string_view host;   // host:port as the client addressed the server.
  std::string_view path;   // May name the queue in the Query protocol.
  std::string_view trace;  // X-Amzn-Trace-Id of the request.
  std::string_view agent;  // User-Agent, of receives only.

  // The answer may leave when this is synced.
  engine::Sequence after = 0;

  // The name of the consumer in histories: identity, address, and the program according to its
  // User-Agent. See queue::ConsumerName.
  std::string consumer() const;

  // Keeps a text alive until the answer is written.
  std::string_view keep(std::string text) { return kept_.emplace_back(std::move(text)); }

  // The queue that a request names: by the parameter if there is one, else by the path.
  Result<queue::QueueIdentity> queue(std::string_view queue_url) const;
  std::string url_of(const queue::QueueIdentity& identity) const;
  // The current queue. Messages are checked against its settings outside the turn.
  Result<FoundQueue> find(const queue::QueueIdentity& identity) const;
  // The same by a request's parameter. Cached per thread until a queue changes.
  Result<FoundQueue> find(std::string_view queue_url) const;

 private:
  std::list<std::string> kept_;
};

// Account and name from the last two segments of a URL or path, or a name in the caller's account.
std::optional<queue::QueueIdentity> identity_from_url(std::string_view url,
                                                      std::string_view own_account,
                                                      std::string_view region);

}  // namespace redrive::sqs
