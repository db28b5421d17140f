#pragma once

#include <string>

#include "bench/client.h"
#include "bench/resp.h"
#include "bench/stamped.h"

namespace redrive::bench {

// A Redis stream with one consumer group as a queue: XADD, XREADGROUP, XACK and XDEL. A batch is
// several commands in one write.
class RedisClient final : public Client {
 public:
  explicit RedisClient(const Task& task);

  Result<Progress> greet(std::string& in, std::string& out) override;
  void send(std::string& out, Nanos sent) override;
  Progress receive(std::string& out) override;
  Progress remove(std::string& out) override;
  Result<Progress> take(std::string& in, std::string& out) override;

 private:
  void begin(Phase phase, int answers);
  void note_messages(const RespReply& reply);

  const Task task_;
  const Stamped send_;
  std::string receive_;
  int awaited_ = 0;  // Outstanding responses to the current request.
  bool greeted_ = false;
};

}  // namespace redrive::bench
