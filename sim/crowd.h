#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "sim/chance.h"
#include "sim/driver.h"
#include "sim/faulty_files.h"
#include "sim/server.h"

namespace redrive::sim {

// Maximum units of work per engine turn (queue::State::work): at half a microsecond per unit, what
// a probe that sends a message every few milliseconds may notice.
inline constexpr std::uint64_t kWorkPerTurnMax = 10'000;

// Thousands of messages at once: messages without receives left in front of a consumer, expiry,
// policies, jobs, purges, new delays, checkpoints, resets and restarts; and thousands of queues,
// waiting receives, calls, failure groups, jobs and documents. The model is coarse (how many
// messages are where, and that none is delivered after its time); what matters is that no turn
// exceeds its share of work, however much there is to do.
class Crowd {
 public:
  explicit Crowd(std::uint64_t seed, bool verbose = false);
  ~Crowd();

  Verdict run();

 private:
  using Step = void (Crowd::*)();

  // Steps.
  void send_many();
  void receive_all();
  void let_die();
  void change_policy();
  void change_another_queue();
  void start_job();
  void purge();
  void shorten_retention();
  void expire_everything();
  void restart();
  void change_delay();
  void wait_often();
  void call_often();
  void learn_groups();
  void run_many_jobs();
  void put_documents();
  void reset();

  engine::Engine& engine() { return server_->engine(); }
  const queue::State& state() { return server_->store().state(); }
  queue::Queue& queue(const std::string& name);
  void open();
  void create(const std::string& name, queue::QueueSettings settings);
  void create_all();
  void remove(const std::string& name);
  void send(const std::string& name, std::size_t count);
  void change(const std::string& name, const queue::QueueSettings& settings);
  // Short poll, running due work until it is answered.
  std::vector<engine::Received> receive(const std::string& name, Duration visibility);
  // Runs due work until there is none.
  void pump();
  void pass(Duration time);
  // Stops everything that moves messages by itself.
  void quiet_down();
  void check();
  std::size_t size(const std::string& name);
  std::size_t all();

  Chance chance_;
  const std::uint64_t seed_;
  const bool verbose_;
  ManualClock clock_;
  SeededIds ids_;
  FaultyFiles files_;
  Graveyard graveyard_;
  std::unique_ptr<Server> server_;
  int step_ = 0;
  std::size_t expected_ = 0;  // Total number of messages.
  std::uint64_t most_work_ = 0;
  std::uint64_t last_dedup_ = 0;
};

}  // namespace redrive::sim
