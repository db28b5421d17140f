#pragma once

#include <string>
#include <vector>

#include "bench/client.h"
#include "bench/requests.h"

namespace redrive::bench {

// Prepared requests shared by the clients of a run.
struct SqsTarget {
  Endpoint endpoint;
  std::string queue_url;  // The consumers' queue.
  std::string receive_request;
  std::vector<Stamped> sends;  // Used in turn by all clients: queues, or groups.
  std::size_t sends_next = 0;
};

// The JSON protocol over HTTP. The queue already exists.
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
