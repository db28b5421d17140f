// Operations of queue owners.

#include "core/queue/hidden_queues.h"
#include "sim/driver.h"
#include "sim/violation.h"

namespace redrive::sim {
namespace {

using queue::QueueIdentity;
using queue::QueueKey;
using std::chrono::seconds;

constexpr std::uint64_t kStandardNames = 4;
constexpr std::uint64_t kFifoNames = 3;

QueueIdentity identity(std::uint64_t number) {
  const bool fifo = number >= kStandardNames;
  return {
      .account = "000000000000",
      .region = "us-east-1",
      .name = fifo ? fmt::format("f{}.fifo", number - kStandardNames) : fmt::format("s{}", number)};
}

bool is_fifo(const QueueIdentity& identity) {
  return identity.name.ends_with(".fifo");
}

queue::DeadLetterPolicy choose_policy(Chance& chance) {
  using Then = queue::DeadLetterPolicy::Then;
  constexpr Then kThens[] = {Then::park, Then::discard, Then::archive, Then::archive};
  return {.redrives_max = static_cast<std::uint32_t>(chance.between(1, 3)),
          .redrive_after = seconds(chance.one_in(3) ? 0 : chance.between(1, 60)),
          .backoff_rate = static_cast<std::uint32_t>(chance.between(1, 3)),
          .redrive_after_max = seconds(120),
          .then = chance.pick(kThens),
          .archive_expiring = chance.one_in(2),
          .archive = "graveyard"};
}

// What may be changed on an existing queue. The deduplication scope it was created with stays in
// effect.
void change_fifo(Chance& chance, queue::FifoSettings& fifo) {
  fifo.content_based_dedup = chance.one_in(2);
  fifo.dedup_scope = chance.one_in(2) ? queue::DedupScope::message_group : queue::DedupScope::queue;
  fifo.throughput_limit = chance.one_in(2) ? queue::ThroughputLimit::per_message_group
                                           : queue::ThroughputLimit::per_queue;
}

// A queue of the same kind, possibly the same one, possibly deleted.
QueueIdentity sibling(Chance& chance, const QueueIdentity& of) {
  return is_fifo(of) ? identity(kStandardNames + chance.below(kFifoNames))
                     : identity(chance.below(kStandardNames));
}

}  // namespace

void Driver::change_settings(queue::QueueSettings& settings, const QueueIdentity& identity) {
  static constexpr std::int64_t kRetentions[] = {60, 120, 600, 3600, 86'400, 345'600, 1'209'600};
  switch (chance_.below(9)) {
    case 8:
      if (settings.fifo) change_fifo(chance_, *settings.fifo);
      break;
    case 6:
      settings.dead_letters.reset();
      break;
    case 7:
      settings.dead_letters = choose_policy(chance_);
      break;
    case 0:
      settings.visibility_timeout = seconds(chance_.below(40));
      break;
    case 1:
      settings.delay = seconds(chance_.one_in(2) ? 0 : chance_.below(30));
      break;
    case 2:
      settings.retention = seconds(chance_.pick(kRetentions));
      break;
    case 3:
      settings.receive_wait = seconds(chance_.one_in(2) ? 0 : chance_.below(20));
      break;
    case 4:
      settings.redrive.reset();
      break;
    default:
      settings.redrive = {.target_arn = sibling(chance_, identity).arn(),
                          .receive_count_max = static_cast<std::uint32_t>(chance_.between(1, 4))};
  }
}

queue::QueueSettings Driver::choose_settings(const QueueIdentity& identity) {
  queue::QueueSettings settings;
  if (is_fifo(identity)) {
    queue::FifoSettings fifo;
    if (chance_.one_in(3)) fifo.dedup_scope = queue::DedupScope::message_group;
    fifo.dedup_scope_at_birth = fifo.dedup_scope;
    settings.fifo = fifo;
  }
  for (int i = 0; i < 3; ++i) change_settings(settings, identity);
  return settings;
}

void Driver::create_queue() {
  const QueueIdentity identity = sim::identity(chance_.below(kStandardNames + kFifoNames));
  if (world_.model().find_by_arn(identity.arn())) return;
  const queue::QueueSettings settings = choose_settings(identity);
  world_.engine().turn([&](engine::Turn& turn) {
    std::vector<queue::Change> changes;
    const std::string arn = identity.arn();
    const queue::NameIndex name = turn.name(arn, changes);
    changes.push_back(
        queue::QueueCreated{next(turn.state().last_queue()), name, identity, settings, {}});
    turn.commit(changes);
  });
  world_.follow(world_.take_records());
  const auto created = world_.model().find_by_arn(identity.arn());
  require(created.has_value(), "a queue created is there", "{}", identity.name);
  require(world_.model().queues().at(*created).settings == settings,
          "settings are recorded as given",
          "{}",
          identity.name);
}

void Driver::delete_queue() {
  const auto key = choose_queue();
  if (!key) return;
  tell("  {}", identity_of(*key).name);
  gone_.insert(identity_of(*key).arn());
  world_.engine().turn([&](engine::Turn& turn) {
    std::vector<queue::Change> changes{queue::QueueDeleted{*key}};
    const queue::Queue* bin = turn.state().find(queue::bin_of(identity_of(*key)));
    if (bin != nullptr) changes.push_back(queue::QueueDeleted{bin->key});
    const queue::Queue* damaged = turn.state().find(queue::damaged_of(identity_of(*key)));
    if (damaged != nullptr) changes.push_back(queue::QueueDeleted{damaged->key});
    const queue::Queue* settled = turn.state().find(queue::settled_of(identity_of(*key)));
    if (settled != nullptr) changes.push_back(queue::QueueDeleted{settled->key});
    turn.commit(changes);
  });
  world_.follow(world_.take_records());
  world_.settle_answers();
}

void Driver::purge_queue() {
  const auto key = choose_queue();
  if (!key) return;
  tell("  {}", identity_of(*key).name);
  world_.engine().turn([&](engine::Turn& turn) { turn.commit(queue::QueuePurged{*key}); });
  world_.follow(world_.take_records());
  world_.settle_answers();
  const queue::State& state = world_.store().state();
  require(
      state.mailbox(*state.find(*key)).size() == 0, "a purge leaves nothing", "{}", number(*key));
}

void Driver::set_attributes() {
  const auto key = choose_queue();
  if (!key) return;
  auto settings = world_.model().queues().at(*key).settings;
  const QueueIdentity identity = identity_of(*key);
  change_settings(settings, identity);
  tell("  {}: retention {} delay {}",
       identity.name,
       settings.retention.count(),
       settings.delay.count());
  world_.engine().turn([&](engine::Turn& turn) {
    require(turn.queue(identity).has_value(), "a queue created is there", "{}", identity.name);
    turn.commit(queue::QueueSettingsChanged{*key, settings});
  });
  world_.follow(world_.take_records());
  world_.settle_answers();
  require(world_.model().queues().at(*key).settings == settings,
          "settings are recorded as given",
          "{}",
          identity.name);
}

void Driver::set_tags() {
  const auto key = choose_queue();
  if (!key) return;
  queue::Tags tags;
  for (std::uint64_t i = chance_.below(4); i > 0; --i) {
    tags[fmt::format("key{}", i)] = fmt::format("value{}", chance_.below(100));
  }
  world_.engine().turn([&](engine::Turn& turn) {
    turn.commit(queue::QueueTagsChanged{*key, tags});
  });
  world_.follow(world_.take_records());
  require(world_.model().queues().at(*key).tags == tags, "tags are recorded as given", "tags");
}

void Driver::start_task() {
  start_move({});
}

void Driver::start_move(queue::TaskPlan plan) {
  const auto source = choose_full_queue();
  if (!source) return;
  const QueueIdentity identity = identity_of(*source);
  const QueueIdentity destination = sibling(chance_, identity);
  const bool directed = chance_.one_in(2);
  if (directed && (destination == identity || !world_.model().find_by_arn(destination.arn())))
    return;
  const auto rate = static_cast<std::uint32_t>(chance_.one_in(2) ? 0 : chance_.between(1, 5));
  world_.engine().turn([&](engine::Turn& turn) {
    if (!turn.queue(identity) || turn.state().active_task(*source) != nullptr) return;
    const std::string arn = identity.arn();
    const std::string destination_arn = directed ? destination.arn() : "";
    if (plan.frozen_at != 0) plan.frozen_at = number(turn.state().last_key());
    turn.commit(queue::MoveTaskStarted{
        .task = next(turn.state().last_task()),
        .id = turn.ids().uuid(),
        .source = *source,
        .source_arn = arn,
        .destination_arn = destination_arn,
        .rate = rate,
        .to_move = turn.state().mailbox(*turn.state().find(*source)).visible(),
        .plan = plan});
  });
  tell("  from {} to {} at {}, '{}' group {} limit {} stages {}",
       identity.name,
       directed ? destination.name : "",
       rate,
       plan.filter,
       number(plan.group),
       plan.limit,
       plan.stages.size());
  world_.follow(world_.take_records());
}

void Driver::cancel_task() {
  const std::vector<queue::TaskKey> tasks = unfinished_tasks();
  if (tasks.empty()) return;
  const queue::TaskKey key = chance_.pick(tasks);
  world_.engine().turn([&](engine::Turn& turn) {
    turn.commit(queue::MoveTaskEnded{key, queue::TaskStatus::cancelled, {}});
  });
  world_.follow(world_.take_records());
}

void Driver::reset() {
  if (!chance_.one_in(8)) return;  // Rarely, so that enough happens in between.
  for (const auto& [key, queue] : world_.model().queues()) gone_.insert(queue.identity.arn());
  world_.engine().reset();
  world_.follow(world_.take_records());
  world_.settle_answers();
  require(world_.engine().waiting() == 0, "a reset ends every wait", "{}", "reset");
  for (int i = 0; i < 3; ++i) create_queue();
}

}  // namespace redrive::sim
