#include "sim/isolation.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/digest.h"
#include "core/queue/isolation.h"
#include "sim/violation.h"

namespace redrive::sim {
namespace {

using std::chrono::seconds;

constexpr int kIsolationSteps = 150;
constexpr int kStepsToFinish = 20'000;
// Fewer than the deliveries after which a message that was never judged is given up.
constexpr int kCrashesMax = static_cast<int>(queue::kUnjudgedMax) - 1;
constexpr seconds kHidden(30);

constexpr std::string_view kJudged = "no message dies unjudged while isolation is on";
constexpr std::string_view kSurvive = "good messages never die";
constexpr std::string_view kDie = "bad messages die";

queue::QueueIdentity isolation_identity(const std::string& name) {
  return {"000000000000", "us-east-1", name};
}

}  // namespace

IsolationRun::IsolationRun(const Options& options)
    : options_(options),
      chance_(options.seed),
      ids_(options.seed ^ 0x150),
      receives_max_(static_cast<std::uint32_t>(chance_.between(1, 3))),
      batch_max_(static_cast<std::size_t>(chance_.between(2, 10))) {}

IsolationRun::~IsolationRun() = default;

void IsolationRun::open() {
  auto opened = Server::open({files_, clock_, ids_, graveyard_}, Shape{});
  require(opened.has_value(), "the server starts", "{}", opened ? "" : opened.error().message);
  server_ = *std::move(opened);
}

void IsolationRun::create(const std::string& name, queue::QueueSettings settings) {
  engine().turn([&](engine::Turn& turn) {
    std::vector<queue::Change> changes;
    const std::string arn = isolation_identity(name).arn();
    const queue::NameIndex index = turn.name(arn, changes);
    changes.push_back(queue::QueueCreated{
        next(turn.state().last_queue()), index, isolation_identity(name), std::move(settings), {}});
    turn.commit(changes);
  });
}

// Synced before continuing: sending is not under test here.
void IsolationRun::send() {
  for (std::uint64_t left = 1 + chance_.below(8); left > 0; --left) {
    std::string tail;
    store::encode_tail(tail, {.body = "order"});
    const queue::Draft draft{.tail = tail, .tail_crc = crc32c(tail)};
    const auto sent = engine().send(isolation_identity("orders"), {&draft, 1});
    require(sent.has_value(), "sends succeed", "");
    const queue::MessageKey key = server_->store().state().last_key();
    (chance_.one_in(5) ? bad_ : good_).insert(key);
  }
  sync();
}

void IsolationRun::receive() {
  auto start = engine().receive(isolation_identity("orders"),
                                {.max = batch_max_,
                                 .visibility = kHidden,
                                 .consumer = "function:f",
                                 .attempt_id = {},
                                 .isolated = options_.isolates},
                                Duration::zero(),
                                [](Result<engine::ReceiveOutcome>) {});
  if (!start.answer) return engine().tick();
  require(start.answer->has_value(), "a receive succeeds", "");
  Batch together;
  for (const engine::Received& message : (*start.answer)->messages) {
    if (message.isolation.alone) {
      held_.push_back({message});
    } else {
      together.push_back(message);
    }
  }
  if (!together.empty()) held_.push_back(std::move(together));
  sync();  // Nothing runs before its receive is durable.
}

void IsolationRun::run_one() {
  if (held_.empty()) return;
  auto& chosen = chance_.pick(held_);
  std::swap(chosen, held_.back());
  const Batch batch = std::move(held_.back());
  held_.pop_back();
  if (std::ranges::any_of(batch, [&](const auto& message) { return is_bad(message); })) {
    return fail_together(batch);
  }
  std::vector<queue::ReceiptHandle> handles;
  for (const engine::Received& message : batch) handles.push_back(message.handle);
  require(engine().remove_held(isolation_identity("orders"), handles).has_value(), "deletes", "");
}

void IsolationRun::fail_together(const Batch& batch) {
  for (const engine::Received& message : batch) {
    if (batch.size() > 1 && message.isolation.last) {
      held_.push_back({message});
    } else {
      report(message, batch.size());
    }
  }
}

void IsolationRun::report(const engine::Received& message, std::size_t company) {
  const auto handle = message.handle.text(server_->store().state().secret());
  // Refused if its visibility timeout has ended: it then comes back as a run without a result.
  static_cast<void>(engine().report_failure(isolation_identity("orders"),
                                            {.handle = handle,
                                             .error = {.type = company > 1 ? "Shared" : "Own"},
                                             .disposition = queue::Disposition::retry,
                                             .retry_after = seconds(chance_.below(5)),
                                             .company = static_cast<std::uint16_t>(company)}));
}

void IsolationRun::return_one() {
  if (held_.empty()) return;
  const Batch batch = std::move(held_.back());
  held_.pop_back();
  for (const engine::Received& message : batch) {
    const auto handle = message.handle.text(server_->store().state().secret());
    const engine::Engine::VisibilityRequest request{handle, seconds(chance_.below(3)), true};
    static_cast<void>(engine().change_visibility(isolation_identity("orders"), {&request, 1}));
  }
}

void IsolationRun::restart() {
  held_.clear();
  server_.reset();
}

void IsolationRun::lose_power() {
  if (crashes_ >= kCrashesMax) return;
  ++crashes_;
  restart();
  SeededIds fate = chance_.details();
  files_.crash(fate);
  open();
}

void IsolationRun::be_killed() {
  if (crashes_ >= kCrashesMax) return;
  ++crashes_;
  restart();
  open();
}

void IsolationRun::sync() {
  require(server_->journal().sync_once().has_value(), "syncs succeed", "");
}

void IsolationRun::maintain() {
  require(engine().maintain().has_value(), "maintenance goes on", "");
  static_cast<void>(dead_letters().groups.group_some(10));
}

// The visibility of held messages is extended meanwhile, like in the dispatcher; not always in
// time.
void IsolationRun::pass_time() {
  clock_.advance(Duration(chance_.below(20'000)));
  if (crashes_ < kCrashesMax && chance_.one_in(10)) {
    ++crashes_;  // For held messages the effect is the same.
  } else {
    for (const Batch& batch : held_) {
      for (const engine::Received& message : batch) {
        const auto handle = message.handle.text(server_->store().state().secret());
        const engine::Engine::VisibilityRequest request{handle, kHidden};
        static_cast<void>(engine().change_visibility(isolation_identity("orders"), {&request, 1}));
      }
    }
  }
  engine().tick();
}

bool IsolationRun::is_empty(const std::string& name) {
  const auto& state = server_->store().state();
  return state.mailbox(*state.find(isolation_identity(name))).size() == 0;
}

// Without faults, until everything has been processed or dead-lettered.
void IsolationRun::finish() {
  for (int i = 0; !is_empty("orders"); ++i) {
    require(i < kStepsToFinish, kDie, "the queue does not become empty");
    if (held_.empty()) {
      clock_.advance(seconds(10));
      engine().tick();
      receive();
    } else {
      run_one();
    }
  }
}

void IsolationRun::only_the_bad_are_dead() {
  const auto page = dead_letters().peek.page(isolation_identity("dead"), {}, 10'000);
  require(page.has_value(), "the dead can be looked at", "");
  std::set<queue::MessageKey> dead;
  for (const dead_letters::Peeked& message : page->messages) {
    const queue::MessageKey key = message.mark.key;
    dead.insert(key);
    require(!good_.contains(key), kSurvive, "message {}", number(key));
    const auto alone = [](const queue::Attempt& attempt) {
      return attempt.end == queue::AttemptEnd::failed && attempt.company == 1;
    };
    require(std::ranges::any_of(message.history->attempts, alone),
            kJudged,
            "message {} after {} attempts",
            number(key),
            message.history->attempts.size());
  }
  require(dead == bad_, kDie, "{} of {}", dead.size(), bad_.size());
}

Verdict IsolationRun::run() {
  static constexpr std::pair<std::string_view, Step> kSteps[] = {
      {"send", &IsolationRun::send},
      {"receive", &IsolationRun::receive},
      {"receive", &IsolationRun::receive},
      {"receive", &IsolationRun::receive},
      {"run", &IsolationRun::run_one},
      {"run", &IsolationRun::run_one},
      {"run", &IsolationRun::run_one},
      {"run", &IsolationRun::run_one},
      {"return", &IsolationRun::return_one},
      {"sync", &IsolationRun::sync},
      {"maintain", &IsolationRun::maintain},
      {"pass time", &IsolationRun::pass_time},
      {"pass time", &IsolationRun::pass_time},
  };
  Verdict verdict;
  try {
    open();
    create("dead", {});
    queue::QueueSettings settings;
    settings.redrive = queue::RedrivePolicy{isolation_identity("dead").arn(), receives_max_};
    create("orders", settings);
    sync();
    for (step_ = 1; step_ <= kIsolationSteps; ++step_) {
      const auto& [name, step] = step_ == 1 ? kSteps[0] : chance_.pick(kSteps);
      if (options_.verbose) fmt::print("{:5} {}: {} held\n", step_, name, held_.size());
      (this->*step)();
      if (chance_.one_in(12)) chance_.one_in(2) ? lose_power() : be_killed();
    }
    finish();
    only_the_bad_are_dead();
  } catch (const Violation& violation) {
    verdict.passed = false;
    verdict.invariant = violation.invariant;
    verdict.detail = violation.detail;
  }
  verdict.step = step_;
  return verdict;
}

}  // namespace redrive::sim
