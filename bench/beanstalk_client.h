#pragma once

#include <string>
#include <string_view>

#include "bench/client.h"
#include "bench/stamped.h"

namespace redrive::bench {

// A beanstalkd tube as a queue: put, reserve-with-timeout, delete. A batch is several commands in
// one write; in a batch of reserves only the first waits.
class BeanstalkClient final : public Client {
 public:
  explicit BeanstalkClient(const Task& task);

  Result<Progress> greet(std::string& in, std::string& out) override;
  void send(std::string& out, Nanos sent) override;
  Progress receive(std::string& out) override;
  Progress remove(std::string& out) override;
  Result<Progress> take(std::string& in, std::string& out) override;

 private:
  void begin(Phase phase, std::size_t answers);
  // Size of the response at the start of `rest`, or 0 while it is incomplete.
  Result<std::size_t> take_one(std::string_view rest);
  Result<std::size_t> take_reserved(std::string_view rest, std::string_view line);

  const Task task_;
  const Stamped send_;
  const std::string receive_;
  std::size_t awaited_ = 0;  // Outstanding responses to the current request.
  bool greeted_ = false;
};

}  // namespace redrive::bench
