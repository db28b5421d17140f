// Operations on dead letters.

#include <algorithm>
#include <set>

#include "core/queue/hidden_queues.h"
#include "sim/driver.h"
#include "sim/violation.h"

namespace redrive::sim {
namespace {

using queue::Disposition;
using queue::MessageKey;
using queue::QueueKey;
using queue::TaskStatus;
using std::chrono::seconds;

constexpr std::string_view kReports = "failure reports do what they say";
constexpr std::string_view kBins = "the bin takes what nobody holds, and gives it back";
constexpr std::string_view kTries = "a try stands in the history of what was tried";
constexpr std::string_view kEdits = "edits change what they saw, or nothing";

template <class Fact>
const Fact* find_fact(std::span<const Record> records) {
  if (records.empty()) return nullptr;
  for (const queue::Change& change : records.front().facts) {
    if (const auto* fact = change.as<Fact>()) return fact;
  }
  return nullptr;
}

queue::ErrorText choose_error(Chance& chance) {
  queue::ErrorText error;
  if (chance.one_in(8)) return error;
  error.type = fmt::format("Error{}", chance.below(3));
  if (chance.one_in(2)) error.message = fmt::format("order {} is late", chance.below(100));
  if (chance.one_in(4)) error.fingerprint = fmt::format("f{}", chance.below(3));
  if (chance.one_in(16)) error.stack = std::string(3'000, 'x');
  return error;
}

queue::TaskPlan choose_plan(Chance& chance, const Model& model) {
  queue::TaskPlan plan{.name = "job", .reason = "fixed", .actor = "ada"};
  plan.frozen_at = 1;  // Set when it starts.
  if (chance.one_in(3)) {
    const std::string_view comparison = chance.one_in(2) ? ">=" : "<";
    plan.filter = fmt::format("received {} {}", comparison, chance.below(4));
  }
  if (chance.one_in(6)) plan.filter = fmt::format("redriven < {}", chance.below(3));
  if (chance.one_in(4) && !model.groups().empty()) plan.group = chance.pick(model.groups()).first;
  if (chance.one_in(4)) plan.limit = 1 + chance.below(5);
  if (chance.one_in(2)) {
    plan.stages = {1, static_cast<std::uint32_t>(chance.between(2, 4))};
    plan.watch_seconds = static_cast<std::uint32_t>(chance.below(60));
  }
  if (chance.one_in(2)) {
    plan.failure_percent_max = static_cast<std::uint32_t>(chance.below(101));
  }
  return plan;
}

}  // namespace

std::optional<ErrorCode> Driver::report_refusal(const Shown& shown, QueueKey queue,
                                                Disposition disposition) {
  const Model& model = world_.model();
  const Standing standing = shown.forged ? Standing::foreign : model.standing(shown.handle, queue);
  if (standing == Standing::foreign) return ErrorCode::receipt_handle_is_invalid;
  if (standing == Standing::gone) return ErrorCode::invalid_parameter_value;
  const bool last = model.messages().at(shown.handle.key).generation() == shown.handle.generation;
  const bool may = disposition == Disposition::none ? last : standing == Standing::current;
  if (!may) return ErrorCode::invalid_parameter_value;
  if (disposition == Disposition::dead_letter && !model.dead_letter_target(queue)) {
    return ErrorCode::invalid_parameter_value;
  }
  return std::nullopt;
}

void Driver::report_failure() {
  const auto key = choose_received_queue();
  if (!key) return;
  const auto handles = choose_handles(*key, 1);
  if (handles.empty()) return;
  const Shown& shown = handles.front();
  const auto disposition = static_cast<Disposition>(chance_.below(3));
  const seconds after(chance_.below(30));
  const queue::ErrorText error = choose_error(chance_);
  std::optional<queue::RetryCounts> retries;
  if (chance_.one_in(2)) retries = {.scope = chance_.below(3), .counts = {1, 2}};
  const auto company = static_cast<std::uint16_t>(chance_.below(4));
  const auto expected = report_refusal(shown, *key, disposition);
  const auto target = world_.model().dead_letter_target(*key);
  const std::string text = seal(shown);
  const auto answer = world_.engine().report_failure(identity_of(*key),
                                                     {.handle = text,
                                                      .error = error,
                                                      .disposition = disposition,
                                                      .retry_after = after,
                                                      .retries = retries,
                                                      .company = company});
  const bool right = is_as_expected(answer, expected);
  require(right, kReports, "message {}", number(shown.handle.key));
  const auto records = world_.take_records();
  const auto* told = find_fact<queue::FailureReported>(records);
  require((told != nullptr) == !expected, kReports, "message {}", number(shown.handle.key));
  tell("  message {} {} {}", number(shown.handle.key), static_cast<int>(disposition), !expected);
  if (told != nullptr) {
    const auto* dead = find_fact<queue::MessageDeadLettered>(records);
    const bool gives_up = disposition == Disposition::dead_letter;
    require((dead != nullptr) == gives_up && (!gives_up || dead->to == *target) &&
                told->retries == retries && told->company == company &&
                told->visible_at.has_value() == (disposition == Disposition::retry) &&
                (!told->visible_at || *told->visible_at == world_.now() + after),
            kReports,
            "message {}: what became of it",
            number(shown.handle.key));
  }
  world_.follow(records);
  world_.settle_answers();
  if (told == nullptr) return;
  require(world_.model().errors().at(told->error) == error, kReports, "another error");
}

void Driver::group() {
  const bool all = chance_.one_in(3);
  std::size_t left = 0;
  do {
    left = world_.dead_letters().groups.group_some(1 + chance_.below(20));
    world_.follow(world_.take_records());
    world_.settle_answers();
  } while (all && left > 0);
  if (!all) return;
  for (const auto& [key, message] : world_.model().messages()) {
    const bool dead = message.history.dead_letter_source != queue::NameIndex::none &&
                      !identity_of(message.queue).is_hidden();
    require(!dead || message.history.group != queue::FailureGroupKey::none,
            "every dead letter gets a group",
            "message {}",
            number(key));
  }
}

void Driver::mark_group() {
  if (world_.model().groups().empty()) return;
  const auto key = chance_.pick(world_.model().groups()).first;
  const auto status = static_cast<queue::GroupStatus>(chance_.below(5));
  const std::uint64_t total = world_.model().groups().at(key).total;
  world_.engine().turn([&](engine::Turn& turn) {
    turn.commit(queue::GroupMarked{
        .group = key,
        .status = status,
        .note = "seen",
        .actor = queue::NameIndex::none,
        .owner = chance_.one_in(2) ? "ada" : "",
        .ignored_until =
            chance_.one_in(2) ? turn.stamp().wall + seconds(chance_.below(600)) : Timestamp(),
        .ignored_to_total = chance_.one_in(2) ? total + 1 + chance_.below(5) : 0});
  });
  world_.follow(world_.take_records());
}

// Merges two groups of a queue, splits one by a filter, or removes a rule.
void Driver::rule_groups() {
  const Model& model = world_.model();
  if (model.groups().empty()) return;
  const auto [key, group] = chance_.pick(model.groups());
  const queue::QueueIdentity identity = identity_of(group.queue);
  const auto rules = model.group_rules();
  if (!rules.empty() && chance_.one_in(4)) {
    const auto [place, rule] = chance_.pick(rules);
    const auto done =
        world_.dead_letters().groups.remove_rule(identity_of(place.first), rule.number);
    require(done.has_value(), "rules of groups can be removed", "rule {}", rule.number);
  } else if (chance_.one_in(2)) {
    std::vector<queue::GroupIdentity> others;
    for (const auto& [other, known] : model.groups()) {
      if (known.queue == group.queue && other != key) others.push_back(known.identity);
    }
    if (others.empty()) return;
    (void)world_.dead_letters().groups.merge(
        identity, group.identity.id, chance_.pick(others).id, {.name = "ada"});
  } else {
    const std::string filter = fmt::format("received >= {}", 1 + chance_.below(4));
    (void)world_.dead_letters().groups.split(
        identity, group.identity.id, filter, fmt::format("split {}", filter), {.name = "ada"});
  }
  world_.follow(world_.take_records());
  world_.settle_answers();
}

void Driver::count_processed() {
  world_.dead_letters().processed.count();
  world_.follow(world_.take_records());
  world_.settle_answers();
}

void Driver::change_catalogue() {
  const auto kind = static_cast<queue::EntryKind>(chance_.between(1, 2));
  const std::string name = chance_.one_in(2) ? "a" : "b";
  const bool known = world_.model().entries().contains({kind, name});
  const std::string value(chance_.below(200), 'v');
  world_.engine().turn([&](engine::Turn& turn) {
    if (known && chance_.one_in(3)) {
      turn.commit(queue::EntryRemoved{kind, name});
    } else {
      turn.commit(queue::EntryPut{kind, name, value});
    }
  });
  world_.follow(world_.take_records());
}

void Driver::deploy_code() {
  const std::string function = fmt::format("function:f{}", chance_.below(2));
  const std::string code = fmt::format("{:08x}", chance_.below(3));
  world_.engine().turn([&](engine::Turn& turn) {
    turn.commit(queue::CodeDeployed{function, {{code, turn.stamp().wall}}});
  });
  world_.follow(world_.take_records());
}

void Driver::try_message() {
  const auto key = choose_full_queue();
  if (!key) return;
  for (const MessageKey message : choose_messages(*key, 1)) {
    const auto found = world_.model().messages().find(message);
    const bool there = found != world_.model().messages().end() && found->second.queue == *key;
    const auto noted = world_.dead_letters().bin.note_tried(
        identity_of(*key), message, {.name = "ada", .reason = "as is"});
    require(noted.has_value() == there, kTries, "message {}", number(message));
    world_.follow(world_.take_records());
  }
}

void Driver::start_job() {
  start_move(choose_plan(chance_, world_.model()));
}

std::vector<queue::TaskKey> Driver::unfinished_tasks() {
  std::vector<queue::TaskKey> keys;
  for (const auto& [key, task] : world_.model().tasks()) {
    if (!is_over(task.status)) keys.push_back(key);
  }
  return keys;
}

void Driver::change_task(queue::TaskKey key, TaskStatus status, std::uint32_t rate) {
  const std::uint32_t stage = world_.model().tasks().at(key).stage;
  world_.engine().turn([&](engine::Turn& turn) {
    turn.commit(queue::MoveTaskChanged{key, status, rate, stage, {}});
  });
  world_.follow(world_.take_records());
}

// Pauses, resumes or changes the rate of a job.
void Driver::change_job() {
  const auto keys = unfinished_tasks();
  if (keys.empty()) return;
  const queue::TaskKey key = chance_.pick(keys);
  const ModelTask& task = world_.model().tasks().at(key);
  const auto rate =
      chance_.one_in(2) ? task.rate : static_cast<std::uint32_t>(chance_.between(0, 5));
  const bool pause = task.status == TaskStatus::running && chance_.one_in(2);
  tell("  job {} {} at {}", number(key), pause ? "pauses" : "runs", rate);
  change_task(key, pause ? TaskStatus::paused : TaskStatus::running, rate);
}

// Some of a queue's messages, possibly one of them twice, and possibly one that never existed.
std::vector<MessageKey> Driver::choose_messages(QueueKey queue, std::size_t count) {
  std::vector<MessageKey> all;
  for (const auto& [key, message] : world_.model().messages()) {
    if (message.queue == queue) all.push_back(key);
  }
  std::vector<MessageKey> out;
  for (std::size_t i = 0; i < count && !all.empty(); ++i) out.push_back(chance_.pick(all));
  if (chance_.one_in(8)) out.push_back(static_cast<MessageKey>(999'999));
  return out;
}

void Driver::discard() {
  const auto key = choose_full_queue();
  if (!key) return;
  const auto keys = choose_messages(*key, 1 + chance_.below(3));
  std::set<MessageKey> free;
  for (const MessageKey message : keys) {
    const auto found = world_.model().messages().find(message);
    if (found != world_.model().messages().end() &&
        found->second.phase != queue::Phase::in_flight) {
      free.insert(message);
    }
  }
  const auto done =
      world_.dead_letters().bin.discard(identity_of(*key), keys, {.name = "ada", .reason = "spam"});
  require(done.has_value() && *done == free.size(), kBins, "{} to discard", free.size());
  world_.follow(world_.take_records());
  world_.settle_answers();
  for (const MessageKey message : free) {
    const QueueKey now = world_.model().messages().at(message).queue;
    require(identity_of(now) == queue::bin_of(identity_of(*key)), kBins, "another place");
  }
  tell("  {} of {} from {}", free.size(), keys.size(), identity_of(*key).name);
}

void Driver::restore() {
  const auto key = choose_queue();
  if (!key) return;
  const auto bin = world_.model().find_by_arn(queue::bin_of(identity_of(*key)).arn());
  if (!bin) return;
  auto keys = choose_messages(*bin, 1 + chance_.below(3));
  std::set<MessageKey> there;
  for (const MessageKey message : keys) {
    if (world_.model().messages().contains(message)) there.insert(message);
  }
  const auto done = world_.dead_letters().bin.restore(identity_of(*key), keys, {.name = "bob"});
  require(done.has_value() && *done == there.size(), kBins, "{} to restore", there.size());
  tell("  {} of {} to {}", there.size(), keys.size(), identity_of(*key).name);
  world_.follow(world_.take_records());
  world_.settle_answers();
}

void Driver::edit() {
  const auto key = choose_full_queue();
  if (!key) return;
  const auto keys = choose_messages(*key, 1);
  if (keys.empty() || !world_.model().messages().contains(keys[0])) return;
  edit_message(*key, keys[0]);
}

void Driver::edit_message(QueueKey key, MessageKey message) {
  const queue::QueueIdentity identity = identity_of(key);
  const auto page = world_.dead_letters().peek.one(identity, message);
  world_.follow(world_.take_records());
  world_.settle_answers();
  const auto found = world_.model().messages().find(message);
  if (found == world_.model().messages().end() || found->second.queue != key) return;
  require(page && page->messages.size() == 1, kEdits, "message {}", number(message));
  queue::BodyRef seen = page->messages[0].body;
  const bool outdated = chance_.one_in(6);
  if (outdated) ++seen.offset;
  std::optional<queue::QueueIdentity> destination;
  if (const auto to = choose_queue(); to && *to != key && chance_.one_in(2)) {
    destination = identity_of(*to);
  }
  const bool fits =
      !destination || identity.name.ends_with(".fifo") == destination->name.ends_with(".fifo");
  const bool held = found->second.phase == queue::Phase::in_flight;
  const Letter letter =
      rewrite_letter(chance_, world_.letter(message), world_.shape().body_bytes_max);
  const std::string stored = stored_bytes(letter);
  const std::uint32_t edition = found->second.edition + 1;
  const auto done = world_.dead_letters().bin.edit(
      identity,
      {.key = message, .of = seen, .stored = stored, .destination = destination},
      {.name = "ada", .reason = "typo"});
  const bool right = fits && !held && !outdated;
  const bool readable = !world_.disk_fails() && !world_.is_flipped(seen);
  require(done.has_value() == right || (right && !readable), kEdits, "message {}", number(message));
  tell("  message {} {}", number(message), done.has_value());
  const auto records = world_.take_records();
  if (done) keep_original(message, records);
  if (done) world_.keep(letter, edition);
  world_.follow(records);
  world_.settle_answers();
}

// The original of an edited message is in the bin, under another key.
void Driver::keep_original(MessageKey edited, std::span<const Record> records) {
  Letter original = world_.letter(edited);
  for (const Record& record : records) {
    for (const queue::Change& change : record.facts) {
      const auto* sent = change.as<queue::MessageSent>();
      if (sent == nullptr) continue;
      original.key = sent->key;
      original.queue = sent->queue;
      original.sent_wall = record.stamp.wall;
      original.visible_at = sent->visible_at;
      stored_bytes_are_the_letters(record.stored(sent->body), original);
      world_.keep(original);
      return;
    }
  }
  require(false, "an edit keeps the original", "message {}", number(edited));
}

void Driver::bring_back_all() {
  for (const auto& [key, queue] : std::map(world_.model().queues())) {
    const auto bin = world_.model().find_by_arn(queue::bin_of(queue.identity).arn());
    if (!bin) continue;
    std::vector<MessageKey> keys;
    for (const auto& [message, known] : world_.model().messages()) {
      if (known.queue == *bin) keys.push_back(message);
    }
    const auto done = world_.dead_letters().bin.restore(queue.identity, keys, {.name = "bob"});
    require(done.has_value() && *done == keys.size(), kBins, "{} to restore", keys.size());
    world_.follow(world_.take_records());
  }
}

}  // namespace redrive::sim
