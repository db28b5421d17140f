#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "sim/chance.h"
#include "sim/driver.h"
#include "sim/faulty_files.h"
#include "sim/server.h"

namespace redrive::sim {

// A queue that feeds a handler which fails for every batch with a bad message in it, run as by the
// dispatcher, while the server loses power or is killed between any two steps. When the queue is
// empty, the dead-letter queue contains exactly the bad messages, and each of them has failed
// alone.
class IsolationRun {
 public:
  struct Options {
    std::uint64_t seed = 0;
    // Off: plain batch retries, to check that the run detects the difference.
    bool isolates = true;
    bool verbose = false;
  };
  explicit IsolationRun(const Options& options);
  ~IsolationRun();

  Verdict run();

 private:
  using Step = void (IsolationRun::*)();
  using Batch = std::vector<engine::Received>;

  // Steps.
  void send();
  void receive();
  void run_one();
  void return_one();
  void lose_power();
  void be_killed();
  void sync();
  void maintain();
  void pass_time();

  engine::Engine& engine() { return server_->engine(); }
  dead_letters::DeadLetters& dead_letters() { return server_->dead_letters(); }
  void open();
  void restart();
  void create(const std::string& name, queue::QueueSettings settings);
  void finish();
  void fail_together(const Batch& batch);
  void report(const engine::Received& message, std::size_t company);
  bool is_bad(const engine::Received& message) const { return bad_.contains(message.handle.key); }
  bool is_empty(const std::string& name);
  void only_the_bad_are_dead();

  const Options options_;
  Chance chance_;
  ManualClock clock_;
  SeededIds ids_;
  FaultyFiles files_;
  Graveyard graveyard_;
  const std::uint32_t receives_max_;
  const std::size_t batch_max_;
  std::unique_ptr<Server> server_;
  std::set<queue::MessageKey> good_;
  std::set<queue::MessageKey> bad_;
  std::vector<Batch> held_;  // Received but not run yet.
  int crashes_ = 0;
  int step_ = 0;
};

}  // namespace redrive::sim
