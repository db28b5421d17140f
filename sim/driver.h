#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/trace.h"
#include "sim/world.h"

namespace redrive::sim {

// The result of a seed.
struct Verdict {
  bool passed = true;
  int step = 0;
  std::string invariant;
  std::string detail;
  std::uint64_t trace = 0;  // Equal for equal runs.
  World::Totals totals;
};

// Clients, operators, time and faults: chooses the next step, applies it to the world, and compares
// every answer with the model.
class Driver {
 public:
  struct Options {
    std::uint64_t seed = 0;
    int steps = 400;
    bool verbose = false;
    const Trace* replay = nullptr;  // Steps to repeat in place of `steps` chosen ones.
    Trace* record = nullptr;        // Filled as the run goes on, also when it is cut short.
  };
  // Whether there are such steps; those of a trace to be replayed must be.
  static bool knows(std::string_view step);
  explicit Driver(const Options& options);

  Verdict run();

  // The seed and step being run, for reporting an abort.
  static std::string where();

 private:
  using Step = void (Driver::*)();
  struct Choice {
    std::string_view name;
    std::uint64_t weight;
    Step step;
  };
  static std::span<const Choice> choices();

  // Queues (queue_steps.cpp).
  void create_queue();
  void delete_queue();
  void purge_queue();
  void set_attributes();
  void set_tags();
  void start_task();
  void cancel_task();
  void reset();
  void start_move(queue::TaskPlan plan);
  queue::QueueSettings choose_settings(const queue::QueueIdentity& identity);
  void change_settings(queue::QueueSettings& settings, const queue::QueueIdentity& identity);

  // Messages (send_steps.cpp and message_steps.cpp).
  void send();
  void send_together();
  void receive();
  void wait_for_messages();
  void cancel_wait();
  void remove();
  void change_visibility();
  bool is_held_in_isolation(const queue::ReceiptHandle& handle, queue::QueueKey queue);
  std::size_t room_for_letters();
  Letter write_letter_to(queue::QueueKey queue);
  void send_letters(queue::QueueKey queue, std::vector<Letter> letters);
  void accept_one(const ModelQueue& queue, const Record& record, const queue::Change& fact,
                  const queue::SendOutcome& outcome, Letter letter);
  void accept(const ModelQueue& queue, const Record& record,
              std::span<const queue::SendOutcome> outcomes, std::vector<Letter> letters);
  void receive_once(Ask ask, std::optional<Duration> wait);
  struct Shown {
    queue::ReceiptHandle handle;
    bool forged = false;
  };
  std::vector<Shown> choose_handles(queue::QueueKey queue, std::size_t count);
  std::string seal(const Shown& shown);
  std::optional<ErrorCode> refusal(const Shown& shown, queue::QueueKey queue);
  void remove_with(queue::QueueKey queue, std::span<const Shown> handles);

  // Dead letters (dead_letter_steps.cpp).
  void report_failure();
  void group();
  void mark_group();
  void rule_groups();
  void count_processed();
  void change_catalogue();
  void deploy_code();
  void try_message();
  void exchange();
  void start_job();
  void change_job();
  void discard();
  void restore();
  void edit();
  void edit_message(queue::QueueKey queue, queue::MessageKey message);
  void keep_original(queue::MessageKey edited, std::span<const Record> records);
  void move_held();
  struct PlannedMove {
    queue::MessageKey key{};
    dead_letters::Move move{};
    std::optional<ErrorCode> expected = {};
    std::optional<Letter> letter = {};  // The edited letter,
    std::string stored = {};            // as bytes.
    std::uint32_t edition = 0;
  };
  PlannedMove plan_move(const Shown& shown, queue::QueueKey from,
                        std::span<const PlannedMove> before);
  // Archives (archive_steps.cpp).
  void archive_held();
  void doom();
  void unarchive();
  std::optional<ErrorCode> move_refusal(const Shown& shown, queue::QueueKey from,
                                        queue::QueueKey to);
  void bring_back_all();
  std::vector<queue::MessageKey> choose_messages(queue::QueueKey queue, std::size_t count);
  std::vector<queue::TaskKey> unfinished_tasks();
  void change_task(queue::TaskKey key, queue::TaskStatus status, std::uint32_t rate);
  // The error expected for a failure report, if any.
  std::optional<ErrorCode> report_refusal(const Shown& shown, queue::QueueKey queue,
                                          queue::Disposition disposition);

  // Damage (damage_steps.cpp).
  void flip_bit();
  void list_damaged();
  void drop_damaged();
  void retry_damaged();
  void drop_all_damaged();
  std::optional<std::pair<queue::QueueKey, std::vector<queue::MessageKey>>> choose_damaged();

  // Time, disk and power (fault_steps.cpp).
  void advance_time();
  std::optional<Duration> choose_edge();
  Duration choose_stretch();
  void jump_wall();
  void tick();
  void sync();
  void maintain();
  void housekeep();
  void read_replies();
  void replay_elsewhere();
  void crash();
  void restart();
  void kill();
  void break_later();
  void fill_disk();
  void empty_disk();

  static Chance chance_for(const Options& options);
  static const Choice* find_choice(std::string_view name);
  // `traced` has the step's draws, if the run is a replay.
  void begin_step(std::string_view name, const TracedStep* traced);
  void end_step();
  void perform(const Choice& choice, const TracedStep* traced = nullptr);
  void run_chosen();
  void run_traced(const Trace& trace);
  const Choice& choose_step();
  void drain(const TracedStep& traced);
  void forget_settled();
  void drain_queue(queue::QueueKey queue);
  void quiet_down();
  void let_policies_act(const std::set<std::string>& but_of);
  std::optional<queue::QueueKey> choose_queue();
  // Usually one that has messages, or one that messages were received from.
  std::optional<queue::QueueKey> choose_full_queue();
  std::optional<queue::QueueKey> choose_received_queue();
  queue::QueueIdentity identity_of(queue::QueueKey queue) {
    return world_.model().queues().at(queue).identity;
  }
  template <class... Args>
  void tell(fmt::format_string<Args...> text, Args&&... args) {
    note(fmt::format(text, std::forward<Args>(args)...));
  }
  void note(const std::string& line);  // For the trace and for verbose output.

  const Options options_;
  Chance chance_;
  World world_;
  std::vector<std::uint64_t> weights_;  // This seed's weights of the steps.
  std::uint64_t weight_total_ = 0;
  std::uint64_t waits_ = 0;
  std::uint64_t trace_ = 0;
  int step_ = 0;
  std::set<std::string> gone_;  // ARNs of deleted queues, possibly created again.
};

}  // namespace redrive::sim
