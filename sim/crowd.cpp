#include "sim/crowd.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/digest.h"
#include "core/engine/in_turns.h"
#include "sim/violation.h"

namespace redrive::sim {
namespace {

using queue::QueueSettings;
using std::chrono::seconds;

// Several times the limit of one turn.
constexpr std::int64_t kCrowdMin = 2'000;
constexpr std::int64_t kCrowdMax = 30'000;
constexpr int kPumpsMax = 100'000;
constexpr int kCrowdSteps = 30;
constexpr std::array<std::string_view, 10> kCrowdGroups = {
    "g0", "g1", "g2", "g3", "g4", "g5", "g6", "g7", "g8", "g9"};

constexpr Shape kCrowdShape{.segment_bytes = 4u << 20,
                            .tail_cache_bytes = 0,
                            .checkpoint_bytes = 256u << 10,
                            .messages_max = SIZE_MAX,
                            .body_bytes_max = 100};

queue::QueueIdentity crowd_identity(const std::string& name) {
  return {"000000000000", "us-east-1", name};
}

}  // namespace

Crowd::Crowd(std::uint64_t seed, bool verbose)
    : chance_(seed), seed_(seed), verbose_(verbose), ids_(seed ^ 0xc0d) {}

Crowd::~Crowd() = default;

void Crowd::open() {
  auto opened = Server::open({files_, clock_, ids_, graveyard_}, kCrowdShape);
  require(opened.has_value(), "the server starts", "{}", opened ? "" : opened.error().message);
  server_ = *std::move(opened);
}

queue::Queue& Crowd::queue(const std::string& name) {
  return *server_->store().state().find(crowd_identity(name));
}

void Crowd::create(const std::string& name, QueueSettings settings) {
  engine().turn([&](engine::Turn& turn) {
    std::vector<queue::Change> changes;
    const std::string arn = crowd_identity(name).arn();
    const queue::NameIndex index = turn.name(arn, changes);
    changes.push_back(queue::QueueCreated{
        next(turn.state().last_queue()), index, crowd_identity(name), std::move(settings), {}});
    turn.commit(changes);
  });
}

void Crowd::change(const std::string& name, const QueueSettings& settings) {
  require(engine().catch_up(crowd_identity(name)).has_value(), "queues stay", "{}", name);
  engine().turn([&](engine::Turn& turn) {
    turn.commit(queue::QueueSettingsChanged{queue(name).key, settings});
  });
}

std::size_t Crowd::size(const std::string& name) {
  return state().mailbox(queue(name)).size();
}

std::size_t Crowd::all() {
  std::size_t sum = 0;
  for (const auto& [identity, queue] : state().queues()) sum += state().mailbox(*queue).size();
  return sum;
}

void Crowd::check() {
  const std::uint64_t work = engine().take_most_work();
  most_work_ = std::max(most_work_, work);
  require(work <= kWorkPerTurnMax, "no turn does more than its share", "one did {} units", work);
}

void Crowd::pump() {
  for (int i = 0; i < kPumpsMax; ++i) {
    if (chance_.one_in(16)) (void)server_->journal().sync_once();
    if (engine().armed() <= engine().now()) {
      engine().tick();
    } else if (const auto more = engine().maintain(); !more || !*more) {
      require(more.has_value(), "maintenance goes on", "{}", more ? "" : more.error().message);
      return check();
    }
  }
  require(false, "there is an end to everything", "after {} turns there is more", kPumpsMax);
}

void Crowd::pass(Duration time) {
  const Timestamp end = engine().now() + time;
  while (engine().armed() <= end) {
    clock_.advance(std::max(Duration::zero(), engine().armed() - engine().now()));
    engine().tick();
  }
  clock_.advance(end - engine().now());
  pump();
}

void Crowd::quiet_down() {
  QueueSettings settings = queue("dead").settings;
  settings.dead_letters.reset();
  change("dead", settings);
  for (int i = 0; state().active_task(queue("dead").key) != nullptr; ++i) {
    require(i < 100, "every job ends", "one still runs");
    pass(seconds(100));
  }
  pump();
}

std::vector<engine::Received> Crowd::receive(const std::string& name, Duration visibility) {
  std::optional<std::vector<engine::Received>> got;
  const auto done = [&](Result<engine::ReceiveOutcome> outcome) {
    got = outcome ? outcome->messages : std::vector<engine::Received>();
  };
  auto start = engine().receive(
      crowd_identity(name), {.max = 10, .visibility = visibility}, Duration::zero(), done);
  if (start.answer) done(*std::move(start.answer));
  for (int i = 0; !got && i < kPumpsMax; ++i) engine().tick();
  require(got.has_value(), "a short poll is answered", "queue {}", name);
  return *std::move(got);
}

void Crowd::send(const std::string& name, std::size_t count) {
  const bool fifo = name.ends_with(".fifo");
  for (std::size_t sent = 0; sent < count; sent += 10) {
    std::vector<std::string> tails(10);
    std::vector<std::string> dedups(10);
    std::vector<queue::Draft> drafts;
    for (std::size_t i = 0; i < 10; ++i) {
      const std::string_view group = fifo ? kCrowdGroups[i] : std::string_view();
      if (fifo) dedups[i] = fmt::format("{}", ++last_dedup_);
      store::encode_tail(
          tails[i],
          {.group = group, .dedup = dedups[i], .body = fmt::format("{}", chance_.below(10))});
      drafts.push_back(
          {.group = group, .dedup = dedups[i], .tail = tails[i], .tail_crc = crc32c(tails[i])});
    }
    require(engine().send(crowd_identity(name), drafts).has_value(), "sends succeed", "");
  }
}

void Crowd::send_many() {
  const auto count = static_cast<std::size_t>(chance_.between(kCrowdMin, kCrowdMax)) / 10 * 10;
  send("orders", count);
  expected_ += count;
}

void Crowd::receive_all() {
  while (!receive("orders", seconds(30)).empty()) {
  }
}

// Everything delivered becomes visible with no receives left, and is dead-lettered by the next
// receive.
void Crowd::let_die() {
  quiet_down();
  receive_all();
  clock_.advance(seconds(31));
  require(receive("orders", seconds(30)).empty(), "what is spent is not delivered", "");
  pump();
  require(size("orders") == 0, "what is spent is dead", "{} are left", size("orders"));
}

void Crowd::change_policy() {
  QueueSettings settings = queue("dead").settings;
  settings.dead_letters.reset();
  if (!chance_.one_in(3)) {
    settings.dead_letters = queue::DeadLetterPolicy{.redrive_after = seconds(600)};
  }
  change("dead", settings);
  check();
  if (chance_.one_in(2)) return;
  pass(seconds(1200));
  const std::size_t left = settings.dead_letters ? size("dead") : 0;
  require(left == 0, "policies redrive what is due", "{} are left", left);
}

void Crowd::change_another_queue() {
  pump();
  QueueSettings settings = queue("others").settings;
  settings.visibility_timeout = seconds(chance_.between(0, 100));
  change("others", settings);
  const std::uint64_t work = engine().take_most_work();
  require(work <= 100, "settings of one queue are no work for another", "{} units", work);
}

void Crowd::start_job() {
  pump();
  if (state().active_task(queue("dead").key) != nullptr) return;
  queue::TaskPlan plan{.frozen_at = number(state().last_key())};
  if (chance_.one_in(2)) plan.filter = "body != '3'";
  const std::size_t before = size("dead");
  engine().turn([&](engine::Turn& turn) {
    const std::string arn = crowd_identity("dead").arn();
    turn.commit(queue::MoveTaskStarted{.task = next(turn.state().last_task()),
                                       .id = turn.ids().uuid(),
                                       .source = queue("dead").key,
                                       .source_arn = arn,
                                       .destination_arn = {},
                                       .rate = 0,
                                       .to_move = before,
                                       .plan = plan});
  });
  if (chance_.one_in(3)) return;  // Other steps come in between.
  pass(seconds(100));
  require(!plan.filter.empty() || size("dead") == 0, "jobs move what there is", "");
}

void Crowd::purge() {
  const std::string name = chance_.one_in(2) ? "orders" : "dead";
  pump();
  expected_ -= size(name);
  engine().turn([&](engine::Turn& turn) { turn.commit(queue::QueuePurged{queue(name).key}); });
  check();
  if (chance_.one_in(2)) return;
  pump();
  for (const auto& [key, task] : state().tasks()) {
    const std::size_t open = task.counts.open();
    require(open <= all(), "jobs learn what a purge took", "{} are open", open);
  }
}

void Crowd::shorten_retention() {
  quiet_down();
  QueueSettings settings = queue("orders").settings;
  settings.retention = seconds(60);
  clock_.advance(seconds(100));
  pump();
  expected_ -= size("orders");
  change("orders", settings);
  require(receive("orders", seconds(30)).empty(), "nothing is delivered after its time", "");
  pump();
  require(size("orders") == 0, "retention removes what is due", "{} are left", size("orders"));
  settings.retention = seconds(345'600);
  change("orders", settings);
}

void Crowd::expire_everything() {
  clock_.advance(std::chrono::days(15));
  require(receive("orders", seconds(30)).empty(), "nothing is delivered after its time", "");
  pump();
  require(all() == 0, "retention removes what is due", "{} are left", all());
  expected_ = 0;
}

void Crowd::restart() {
  if (chance_.one_in(2)) pump();
  (void)server_->journal().sync_once();
  check();
  server_.reset();
  open();
  check();
}

void Crowd::remove(const std::string& name) {
  engine().turn([&](engine::Turn& turn) { turn.commit(queue::QueueDeleted{queue(name).key}); });
}

// A new delay of a FIFO queue holds for what waits, however many there are.
void Crowd::change_delay() {
  QueueSettings settings;
  settings.fifo.emplace();
  settings.delay = seconds(900);
  create("late.fifo", settings);
  const auto count = static_cast<std::size_t>(chance_.between(kCrowdMin, kCrowdMax)) / 40 * 10;
  send("late.fifo", count);
  if (chance_.one_in(2)) pump();
  clock_.advance(seconds(100));
  settings.delay = seconds(chance_.one_in(2) ? 50 : 900);
  change("late.fifo", settings);
  check();
  settings.delay = seconds(200);
  change("late.fifo", settings);
  if (chance_.one_in(2)) restart();
  clock_.advance(seconds(101));
  pump();
  const std::size_t visible = engine().turn([&](engine::Turn& turn) {
    return turn.state().mailbox(**turn.queue(crowd_identity("late.fifo"))).visible();
  });
  pump();
  require(visible >= std::min<std::size_t>(count, 900), "delays end", "{} of {}", visible, count);
  remove("late.fifo");
  check();
  pump();
}

// Receives wait for a queue that goes, for a message or for their time to end.
void Crowd::wait_often() {
  pump();
  create("short-lived", {});
  std::size_t ended = 0;
  std::size_t begun = 0;
  const auto wait = [&](const std::string& name) {
    const auto start = engine().receive(crowd_identity(name),
                                        {.max = 1, .visibility = seconds(1)},
                                        seconds(20),
                                        [&](Result<engine::ReceiveOutcome>) { ++ended; });
    begun += start.answer ? 0 : 1;
  };
  for (int i = 0; i < 3000; ++i) wait("short-lived");
  for (int i = 0; i < 3000; ++i) wait("others");
  remove("short-lived");
  check();
  pump();
  pass(seconds(20));
  require(ended == begun, "every wait ends", "{} of {}", ended, begun);
}

void Crowd::call_often() {
  std::size_t made = 0;
  for (int i = 0; i < 3000; ++i) engine().call_at(engine().now() + seconds(1), [&] { ++made; });
  pass(seconds(1));
  require(made == 3000, "every call is made", "{} were", made);
}

// As many groups as there may be, and jobs that ended, in several queues: checkpoints write them.
void Crowd::learn_groups() {
  for (int i = 0; i < 8; ++i) {
    const std::string name = fmt::format("grouped{}", i);
    if (state().find(crowd_identity(name)) == nullptr) create(name, {});
    const queue::QueueKey key = queue(name).key;
    const std::string arn = crowd_identity(name).arn();
    engine().turn([&](engine::Turn& turn) {
      const std::size_t known = turn.state().groups_of(key);
      for (std::size_t at = known; at < queue::kGroupsPerQueue; ++at) {
        queue::GroupIdentity identity{
            .id = ids_.uuid().bytes, .basis = 0, .title = "", .reason = ""};
        turn.commit(queue::GroupLearned{next(turn.state().last_group()), key, identity});
      }
      for (int job = 0; job < 10; ++job) {
        const queue::TaskKey task = next(turn.state().last_task());
        turn.commit(queue::MoveTaskStarted{.task = task,
                                           .id = ids_.uuid(),
                                           .source = key,
                                           .source_arn = arn,
                                           .destination_arn = {}});
        turn.commit(queue::MoveTaskEnded{task, queue::TaskStatus::completed, {}});
      }
    });
  }
  check();
  pump();
}

// One job for each of many queues.
void Crowd::run_many_jobs() {
  for (int i = 0; i < 300; ++i) {
    const std::string name = fmt::format("idle{}", i);
    if (state().find(crowd_identity(name)) == nullptr) create(name, {});
    const std::string arn = crowd_identity(name).arn();
    engine().turn([&](engine::Turn& turn) {
      turn.commit(queue::MoveTaskStarted{.task = next(turn.state().last_task()),
                                         .id = ids_.uuid(),
                                         .source = queue(name).key,
                                         .source_arn = arn,
                                         .destination_arn = {}});
    });
  }
  pass(seconds(10));
  for (int i = 0; i < 300; ++i) {
    const auto* task = state().active_task(queue(fmt::format("idle{}", i)).key);
    require(task == nullptr, "every job ends", "one still runs");
  }
}

void Crowd::put_documents() {
  for (int i = 0; i < 3000; ++i) {
    engine().turn([&](engine::Turn& turn) {
      const std::string name = fmt::format("document {}", i);
      turn.commit(queue::EntryPut{queue::EntryKind::setting, name, "{}"});
    });
  }
  std::size_t seen = 0;
  engine::visit_documents(
      engine(), queue::EntryKind::setting, "document ", [&](const auto&, const auto&) {
        ++seen;
        return true;
      });
  require(seen == 3000, "every document is read", "{} were", seen);
}

void Crowd::reset() {
  const std::size_t queues = state().queues().size();
  require(engine().reset() == queues, "a reset forgets every queue", "of {}", queues);
  check();
  require(state().queues().empty() && state().entries().empty(), "a reset forgets all", "");
  pump();
  create_all();
  expected_ = 0;
}

void Crowd::create_all() {
  create("dead", {});
  QueueSettings settings;
  settings.redrive = queue::RedrivePolicy{crowd_identity("dead").arn(), 1};
  create("orders", settings);
  create("others", {});
}

Verdict Crowd::run() {
  static constexpr std::pair<std::string_view, Step> kSteps[] = {
      {"send many", &Crowd::send_many},
      {"send many", &Crowd::send_many},
      {"let die", &Crowd::let_die},
      {"let die", &Crowd::let_die},
      {"change policy", &Crowd::change_policy},
      {"change another queue", &Crowd::change_another_queue},
      {"start job", &Crowd::start_job},
      {"start job", &Crowd::start_job},
      {"purge", &Crowd::purge},
      {"shorten retention", &Crowd::shorten_retention},
      {"expire everything", &Crowd::expire_everything},
      {"restart", &Crowd::restart},
      {"change delay", &Crowd::change_delay},
      {"wait often", &Crowd::wait_often},
      {"call often", &Crowd::call_often},
      {"learn groups", &Crowd::learn_groups},
      {"run many jobs", &Crowd::run_many_jobs},
      {"put documents", &Crowd::put_documents},
      {"reset", &Crowd::reset},
  };
  Verdict verdict;
  try {
    open();
    create_all();
    for (step_ = 1; step_ <= kCrowdSteps; ++step_) {
      const auto& [name, step] = expected_ == 0 ? kSteps[0] : chance_.pick(kSteps);
      if (verbose_) fmt::print("{:5} {}: {} messages\n", step_, name, expected_);
      (this->*step)();
      check();
      require(all() == expected_, "no message is lost", "{} of {}", all(), expected_);
    }
    pump();
  } catch (const Violation& violation) {
    verdict.passed = false;
    verdict.invariant = violation.invariant;
    verdict.detail = violation.detail;
  }
  if (verbose_) fmt::print("crowd {}: at most {} units in a turn\n", seed_, most_work_);
  verdict.step = step_;
  return verdict;
}

}  // namespace redrive::sim
