#pragma once

#include <string>
#include <vector>

#include "bench/client.h"
#include "bench/requests.h"

namespace redrive::bench {

// What the clients of a run ask, made once for all of them.
struct SqsTarget {
  Endpoint endpoint;
  std::string queue_url;  // Consumers' queue.
  std::string receive_request;
  std::vector<Stamped> sends;  // Taken in turn, by all clients together: queues, or groups.
  std::size_t sends_next = 0;
};

// The JSON protocol over HTTP. The queue is there already.
class SqsClient final : public Client {
 public:
  explicit SqsClient(SqsTarget& target) : target_(target) {}

  void send(std::string& out, Nanos sent) override;
  Progress receive(std::string& out) override;
  Progress remove(std::string& out) override;
  Result<Progress> take(std::string& in, std::string& out) override;

 private:
  void note_messages(std::string_view body);

  SqsTarget& target_;
};

}  // namespace redrive::bench
