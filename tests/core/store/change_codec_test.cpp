#include "core/store/change_codec.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/store/message_codec.h"
#include "tests/core/store/describe_state.h"

namespace redrive::store {
namespace {

using namespace redrive::queue;  // NOLINT: the vocabulary of this file.

constexpr Stamp kStamp{.now = Timestamp(123'456), .wall = Timestamp(1'700'000'000'789)};
constexpr journal::Location kPlace{.segment = 9, .offset = 4096};

template <class Key>
Key key(std::uint64_t number) {
  return static_cast<Key>(number);
}

QueueSettings all_settings() {
  QueueSettings settings;
  settings.visibility_timeout = seconds(1);
  settings.retention = seconds(2);
  settings.delay = seconds(3);
  settings.receive_wait = seconds(4);
  settings.message_bytes_max = 5;
  settings.policy = "policy";
  settings.redrive = RedrivePolicy{"target", 6};
  settings.redrive_allow =
      RedriveAllowPolicy{RedriveAllowPolicy::Permission::by_queue, {"one", "two"}};
  settings.sqs_managed_sse = false;
  settings.kms_key_id = "key";
  settings.kms_reuse_period = seconds(7);
  settings.fifo = FifoSettings{.content_based_dedup = true,
                               .dedup_scope = DedupScope::message_group,
                               .dedup_scope_at_birth = DedupScope::queue,
                               .throughput_limit = ThroughputLimit::per_message_group};
  return settings;
}

History all_history() {
  History history;
  history.first_received_wall = Timestamp(1);
  history.received_at = Timestamp(2);
  history.entered_generation = 3;
  history.prior_receives = 4;
  history.redrives = 5;
  history.dead_letter_source = key<NameIndex>(6);
  history.origin = key<NameIndex>(7);
  history.sequence = 8;
  history.message_id = Uuid{{9}};
  history.sent_wall = Timestamp(10);
  history.dedup_is_message_id = true;
  history.add({.received_wall = Timestamp(11),
               .duration_ms = 12,
               .by = key<NameIndex>(13),
               .error = key<ErrorKey>(14),
               .end = AttemptEnd::failed,
               .isolation = Isolation::on,
               .company = 300});
  history.add({.received_wall = Timestamp(14)});
  history.job = key<TaskKey>(15);
  history.group = key<FailureGroupKey>(16);
  history.former_group = key<FailureGroupKey>(17);
  history.add({.wall = Timestamp(18),
               .from = key<NameIndex>(19),
               .actor = key<NameIndex>(20),
               .reason = key<NameIndex>(21),
               .job = key<TaskKey>(22),
               .kind = LineageEvent::Kind::redriven,
               .why = DeadLetterReason::reported});
  history.add({.wall = Timestamp(23), .kind = LineageEvent::Kind::restored});
  return history;
}

TaskPlan all_plan() {
  return {.name = "name",
          .reason = "reason",
          .actor = "actor",
          .filter = "filter",
          .patch = "patch",
          .group = key<FailureGroupKey>(1),
          .frozen_at = 2,
          .limit = 3,
          .stages = {4, 5, 6},
          .failure_percent_max = 7,
          .watch_seconds = 8};
}

GroupArrivals all_arrivals() {
  GroupArrivals arrivals{.total = 1,
                         .failed_again = 2,
                         .first_wall = Timestamp(3),
                         .last_wall = Timestamp(4),
                         .by_hour = {},
                         .by_day = {},
                         .by_minute = {},
                         .sources = {key<NameIndex>(5), key<NameIndex>(6)},
                         .consumers = {key<NameIndex>(7)}};
  for (std::size_t i = 0; i < kGroupHours; ++i) {
    arrivals.by_hour[i] = 8 + static_cast<std::uint32_t>(i);
  }
  for (std::size_t i = 0; i < kGroupDays; ++i) {
    arrivals.by_day[i] = 9 + static_cast<std::uint32_t>(i);
  }
  for (std::size_t i = 0; i < kGroupMinutes; ++i) {
    arrivals.by_minute[i] = 10 + static_cast<std::uint32_t>(i);
  }
  return arrivals;
}

std::string describe(const QueueCreated& f) {
  std::string tags;
  for (const auto& [name, value] : f.tags) tags += fmt::format("{}={},", name, value);
  return fmt::format("{} {} {} {} {}",
                     number(f.queue),
                     number(f.arn),
                     f.identity.arn(),
                     describe_settings(f.settings),
                     tags);
}
std::string describe(const MoveTaskStarted& f) {
  return fmt::format("{} {} {} {} {} {} {} {}",
                     number(f.task),
                     f.id.text(),
                     number(f.source),
                     f.source_arn,
                     f.destination_arn,
                     f.rate,
                     f.to_move,
                     describe_plan(f.plan));
}
std::string describe(const GroupLearned& f) {
  return fmt::format("{} {} {}", number(f.group), number(f.queue), describe_identity(f.identity));
}
std::string describe_keys(std::uint8_t count, const std::array<MessageKey, kReceiveMax>& keys) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += fmt::format(" {}", number(keys[i]));
  return out;
}
std::string describe_secret(const std::array<std::uint8_t, 16>& secret) {
  return fmt::format("{} {}", secret[0], secret[15]);
}

// Every encoded field of every fact, as text.
struct Describe {
  std::string operator()(const ServerStarted& f) const { return describe_secret(f.secret); }
  std::string operator()(const NameLearned& f) const {
    return fmt::format("{} {}", number(f.index), f.text);
  }
  std::string operator()(const QueueCreated& f) const { return describe(f); }
  std::string operator()(const QueueSettingsChanged& f) const {
    return fmt::format("{} {}", number(f.queue), describe_settings(f.settings));
  }
  std::string operator()(const QueueTagsChanged& f) const {
    return fmt::format("{} {} {}", number(f.queue), f.tags.size(), f.tags.at("k"));
  }
  std::string operator()(const QueueDeleted& f) const { return fmt::format("{}", number(f.queue)); }
  std::string operator()(const QueuePurged& f) const { return fmt::format("{}", number(f.queue)); }
  std::string operator()(const MessageSent& f) const {
    return fmt::format("{} {} {} {} {} {}",
                       number(f.queue),
                       number(f.key),
                       f.message_id.text(),
                       f.visible_at.ms(),
                       f.group,
                       f.dedup);
  }
  std::string operator()(const MessagesReceived& f) const {
    return fmt::format("{} {} {} {}{} {}",
                       number(f.queue),
                       number(f.by),
                       f.visible_at.ms(),
                       f.attempt_id,
                       describe_keys(f.count, f.keys),
                       f.isolated);
  }
  std::string operator()(const MessageDeleted& f) const {
    return fmt::format("{} {}", number(f.queue), number(f.key));
  }
  std::string operator()(const VisibilityChanged& f) const {
    return fmt::format("{} {} {} {}", number(f.queue), number(f.key), f.visible_at.ms(), f.not_run);
  }
  std::string operator()(const ReceiveRepeated& f) const {
    return fmt::format(
        "{} {}{}", number(f.queue), f.visible_at.ms(), describe_keys(f.count, f.keys));
  }
  std::string operator()(const MessageDeadLettered& f) const {
    return fmt::format("{} {} {} {} {}",
                       number(f.key),
                       number(f.from),
                       number(f.to),
                       f.sequence,
                       static_cast<int>(f.why));
  }
  std::string operator()(const MessageRedriven& f) const {
    return fmt::format("{} {} {} {} {} {} {} {}",
                       number(f.task),
                       number(f.key),
                       number(f.from),
                       number(f.to),
                       f.message_id.text(),
                       f.sequence,
                       number(f.actor),
                       number(f.reason)) +
           (f.visible_at ? fmt::format(" until {}", f.visible_at->ms()) : "");
  }
  std::string operator()(const MoveTaskStarted& f) const { return describe(f); }
  std::string operator()(const MoveTaskEnded& f) const {
    return fmt::format("{} {} {}", number(f.task), static_cast<int>(f.status), f.failure);
  }
  std::string operator()(const MoveTaskChanged& f) const {
    return fmt::format(
        "{} {} {} {} {}", number(f.task), static_cast<int>(f.status), f.rate, f.stage, f.note);
  }
  std::string operator()(const ErrorLearned& f) const {
    return fmt::format("{} {}", number(f.error), describe_error(f.text));
  }
  std::string operator()(const FailureReported& f) const {
    return fmt::format("{} {} {} {} {} {} {}",
                       number(f.queue),
                       number(f.key),
                       number(f.error),
                       f.visible_at ? f.visible_at->ms() : -1,
                       f.retries ? f.retries->scope : 0,
                       fmt::join(f.retries.value_or(RetryCounts{}).counts, ","),
                       f.company);
  }
  std::string operator()(const MessageDiscarded& f) const {
    return fmt::format("{} {} {} {} {} {}",
                       number(f.key),
                       number(f.from),
                       number(f.to),
                       f.sequence,
                       number(f.actor),
                       number(f.reason));
  }
  std::string operator()(const MessageRestored& f) const {
    return fmt::format(
        "{} {} {} {} {}", number(f.key), number(f.from), number(f.to), f.sequence, number(f.actor));
  }
  std::string operator()(const MessageDamaged& f) const {
    return fmt::format(
        "{} {} {} {} {}", number(f.key), number(f.from), number(f.to), f.sequence, number(f.error));
  }
  std::string operator()(const MessageEdited& f) const {
    return fmt::format("{} {} {}", number(f.key), number(f.actor), number(f.reason));
  }
  std::string operator()(const MessageArchived& f) const {
    return fmt::format("{} {} {} {} {} {} {} {}",
                       number(f.queue),
                       number(f.key),
                       f.sequence,
                       f.lineage.text(),
                       f.message_id.text(),
                       number(f.actor),
                       number(f.reason),
                       f.place);
  }
  std::string operator()(const LineageContinued& f) const {
    return fmt::format("{} {} {}",
                       number(f.key),
                       f.archived_as ? f.archived_as->text() : "no archive",
                       describe_history(f.history.get()));
  }
  std::string operator()(const ArchivedSnapshot& f) const {
    const ArchivedLineage& archived = f.restored ? *f.restored : *f.archived;
    return fmt::format("{} {} {} {} {} {} {} {}",
                       f.sequence,
                       archived.lineage.text(),
                       archived.message_id.text(),
                       number(archived.from),
                       archived.archived_wall.ms(),
                       archived.restored_wall.ms(),
                       archived.place,
                       describe_history(&archived.history));
  }
  std::string operator()(const GroupLearned& f) const { return describe(f); }
  std::string operator()(const MessageGrouped& f) const {
    return fmt::format("{} {} {}", number(f.key), number(f.queue), number(f.group));
  }
  std::string operator()(const GroupMarked& f) const {
    return fmt::format("{} {} {} {} {} {} {}",
                       number(f.group),
                       static_cast<int>(f.status),
                       f.note,
                       number(f.actor),
                       f.owner,
                       f.ignored_until.ms(),
                       f.ignored_to_total);
  }
  std::string operator()(const MessageSettled& f) const {
    return fmt::format("{} {} {} {}", number(f.key), number(f.from), number(f.to), f.sequence);
  }
  std::string operator()(const GroupRuled& f) const {
    return fmt::format("{} {}", number(f.queue), describe_rule(f.rule));
  }
  std::string operator()(const GroupRuleApplied& f) const {
    return fmt::format("{} {}", number(f.queue), f.number);
  }
  std::string operator()(const GroupRuleRemoved& f) const {
    return fmt::format("{} {}", number(f.queue), f.number);
  }
  std::string operator()(const MessageTried& f) const {
    return fmt::format(
        "{} {} {} {}", number(f.queue), number(f.key), number(f.actor), number(f.reason));
  }
  std::string operator()(const CodeDeployed& f) const {
    std::string out(f.function);
    for (const Deploy& deploy : f.deploys)
      out += fmt::format(" {}@{}", deploy.code, deploy.wall.ms());
    return out;
  }
  std::string operator()(const CodeUseSnapshot& f) const {
    std::string out = fmt::format("{} {} {}", number(f.queue), number(f.group), f.forgot);
    for (const auto& use : f.uses) {
      out += fmt::format(" {} {} {} {} {}",
                         use.code,
                         use.processed,
                         use.failed,
                         use.first_wall.ms(),
                         use.last_wall.ms());
    }
    return out;
  }
  std::string operator()(const ProcessedCounted& f) const {
    return fmt::format("{} {}", number(f.queue), f.counts);
  }
  std::string operator()(const EntryPut& f) const {
    return fmt::format("{} {} {}", number(f.kind), f.name, f.value);
  }
  std::string operator()(const EntryRemoved& f) const {
    return fmt::format("{} {}", number(f.kind), f.name);
  }
  std::string operator()(const MessageRelocated& f) const {
    return fmt::format("{}", number(f.key));
  }
  std::string operator()(const ServerReset&) const { return "server reset"; }
  std::string operator()(const TimePassed&) const { return "time passed"; }
  std::string operator()(const CheckpointBegun& f) const {
    return fmt::format("{} {} {} {} {} {} {} {}",
                       number(f.last_key),
                       number(f.last_queue),
                       number(f.last_task),
                       f.name_count,
                       describe_secret(f.secret),
                       number(f.last_error),
                       number(f.last_group),
                       f.jobs_first);
  }
  std::string operator()(const QueueSnapshot& f) const {
    return fmt::format("{} {} {} {}",
                       describe(f.created),
                       f.created_wall.ms(),
                       f.modified_wall.ms(),
                       f.purged_at.ms());
  }
  std::string operator()(const MessageSnapshot& f) const {
    return fmt::format("{} {} {}/{}/{} {} {} {} {} {} {} {} {}",
                       number(f.key),
                       number(f.queue),
                       f.body.segment,
                       f.body.offset,
                       f.body.size,
                       f.visible_at.ms(),
                       f.sent_at.ms(),
                       f.receive_count,
                       f.phase,
                       f.visibility_touched,
                       f.group,
                       describe_history(f.restored ? f.restored.get() : f.history),
                       f.lineage_mark);
  }
  std::string operator()(const WaitingSnapshot& f) const {
    std::string out;
    for (const WaitingMessage& m : f.messages) {
      out += fmt::format("{} {} {}/{}/{} {} {} {}, ",
                         number(m.key),
                         number(m.queue),
                         m.body.segment,
                         m.body.offset,
                         m.body.size,
                         m.visible_at.ms(),
                         m.sent_at.ms(),
                         m.lineage_mark);
    }
    return out;
  }
  std::string operator()(const DedupSnapshot& f) const {
    return fmt::format("{} {} {} {} {} {}",
                       number(f.queue),
                       f.id[0],
                       f.id[1],
                       f.expires.ms(),
                       f.message_id.text(),
                       f.sequence);
  }
  std::string operator()(const AttemptSnapshot& f) const {
    std::string out = fmt::format("{} {} {}", number(f.queue), f.attempt_id, f.expires.ms());
    for (const auto& [message, generation] : f.messages) {
      out += fmt::format(" {}.{}", number(message), generation);
    }
    return out;
  }
  std::string operator()(const TaskSnapshot& f) const {
    return fmt::format("{} {} {} {} {} {} {} {}",
                       describe(f.started),
                       static_cast<int>(f.status),
                       describe_counts(f.counts),
                       describe_counts(f.forgiven),
                       f.stage,
                       f.started_wall.ms(),
                       f.ended_wall.ms(),
                       f.failure);
  }
  std::string operator()(const GroupSnapshot& f) const {
    return fmt::format("{} {} {} {} {} {} {} {}",
                       describe(f.learned),
                       static_cast<int>(f.status),
                       f.note,
                       number(f.marked_by),
                       describe_arrivals(f.restored ? *f.restored : *f.arrivals),
                       f.owner,
                       f.ignored_until.ms(),
                       f.ignored_to_total);
  }
  std::string operator()(const DeletedNameSnapshot& f) const {
    return fmt::format("{} {}", f.identity.arn(), f.deleted_at.ms());
  }
  std::string operator()(const CheckpointMessagesEnded&) const { return "messages ended"; }
  std::string operator()(const CheckpointCounted& f) const {
    return fmt::format("counted {}", number(f.queue));
  }
  std::string operator()(const CheckpointEnded&) const { return "ended"; }
};

// One of each fact, no field at its default, with the data that the facts point to.
struct Samples {
  std::string tail;
  std::string stored;
  History history = all_history();
  GroupArrivals arrivals = all_arrivals();
  ArchivedLineage archived{.lineage = Uuid{{1}},
                           .message_id = Uuid{{2}},
                           .from = key<NameIndex>(3),
                           .archived_wall = Timestamp(4),
                           .restored_wall = Timestamp(5),
                           .place = "s3://bucket/key",
                           .history = all_history()};
  std::vector<Change> changes;

  Samples() {
    encode_tail(tail, {.group = "group", .dedup = "dedup", .body = "body"});
    encode_message_head(stored, {.tail_crc = crc32c(tail), .tail = tail});
    stored += tail;
    const std::array<std::uint8_t, 16> secret = {
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    const QueueCreated created{key<QueueKey>(1),
                               key<NameIndex>(2),
                               {"account", "region", "name"},
                               all_settings(),
                               {{"a", "b"}, {"c", ""}}};
    const MoveTaskStarted started{
        key<TaskKey>(1), Uuid{{2}}, key<QueueKey>(3), "source", "destination", 4, 5, all_plan()};
    const GroupLearned learned{
        key<FailureGroupKey>(1), key<QueueKey>(2), {secret, 3, "title", "reason"}};
    changes = {
        ServerStarted{secret},
        NameLearned{key<NameIndex>(1), "text"},
        created,
        QueueSettingsChanged{key<QueueKey>(1), all_settings()},
        QueueTagsChanged{key<QueueKey>(1), {{"k", "v"}}},
        QueueDeleted{key<QueueKey>(1)},
        QueuePurged{key<QueueKey>(2)},
        MessageSent{key<QueueKey>(1),
                    key<MessageKey>(2),
                    Uuid{{3}},
                    Timestamp(4),
                    "group",
                    "dedup",
                    tail,
                    crc32c(tail),
                    {}},
        MessagesReceived{key<QueueKey>(1),
                         key<NameIndex>(2),
                         Timestamp(3),
                         2,
                         {key<MessageKey>(4), key<MessageKey>(5)},
                         "attempt"},
        MessagesReceived{.queue = key<QueueKey>(1),
                         .by = key<NameIndex>(2),
                         .visible_at = Timestamp(3),
                         .count = 1,
                         .keys = {key<MessageKey>(4)},
                         .attempt_id = {},
                         .isolated = true},
        MessageDeleted{key<QueueKey>(1), key<MessageKey>(2)},
        VisibilityChanged{key<QueueKey>(1), key<MessageKey>(2), Timestamp(3)},
        VisibilityChanged{key<QueueKey>(1), key<MessageKey>(2), Timestamp(3), true},
        ReceiveRepeated{key<QueueKey>(1), Timestamp(2), 1, {key<MessageKey>(3)}},
        MessageDeadLettered{
            key<MessageKey>(1), key<QueueKey>(2), key<QueueKey>(3), 4, DeadLetterReason::reported},
        MessageRedriven{key<TaskKey>(1),
                        key<MessageKey>(2),
                        key<QueueKey>(3),
                        key<QueueKey>(4),
                        Uuid{{5}},
                        6,
                        key<NameIndex>(7),
                        key<NameIndex>(8)},
        MessageRedriven{key<TaskKey>(0),
                        key<MessageKey>(2),
                        key<QueueKey>(3),
                        key<QueueKey>(4),
                        Uuid{{5}},
                        6,
                        key<NameIndex>(7),
                        key<NameIndex>(8),
                        Timestamp(9)},
        started,
        MoveTaskChanged{key<TaskKey>(1), TaskStatus::halted, 2, 3, "note"},
        ErrorLearned{key<ErrorKey>(1), {"type", "message", "stack", "fingerprint"}},
        FailureReported{key<QueueKey>(1), key<MessageKey>(2), key<ErrorKey>(3), Timestamp(4), {}},
        FailureReported{key<QueueKey>(1), key<MessageKey>(2), key<ErrorKey>(3), std::nullopt, {}},
        FailureReported{key<QueueKey>(1),
                        key<MessageKey>(2),
                        key<ErrorKey>(3),
                        std::nullopt,
                        RetryCounts{.scope = 7, .counts = {1, 0, 3}}},
        FailureReported{key<QueueKey>(1),
                        key<MessageKey>(2),
                        key<ErrorKey>(3),
                        Timestamp(4),
                        RetryCounts{.scope = 7, .counts = {1}},
                        10},
        EntryPut{EntryKind::function, "name", "value"},
        EntryRemoved{EntryKind::alarm, "name"},
        MessageDiscarded{key<MessageKey>(1),
                         key<QueueKey>(2),
                         key<QueueKey>(3),
                         4,
                         key<NameIndex>(5),
                         key<NameIndex>(6)},
        MessageRestored{
            key<MessageKey>(1), key<QueueKey>(2), key<QueueKey>(3), 4, key<NameIndex>(5)},
        MessageDamaged{
            key<MessageKey>(1), key<QueueKey>(2), key<QueueKey>(3), 4, key<NameIndex>(5)},
        MessageEdited{key<MessageKey>(1), key<NameIndex>(2), key<NameIndex>(3), stored, {}},
        MessageArchived{key<QueueKey>(1),
                        key<MessageKey>(2),
                        3,
                        Uuid{{4}},
                        Uuid{{5}},
                        key<NameIndex>(6),
                        key<NameIndex>(7),
                        "file:///archive/key"},
        LineageContinued{
            key<MessageKey>(1), Uuid{{2}}, std::make_shared<const History>(all_history())},
        LineageContinued{
            key<MessageKey>(1), std::nullopt, std::make_shared<const History>(all_history())},
        learned,
        MessageGrouped{key<MessageKey>(1), key<QueueKey>(2), key<FailureGroupKey>(3)},
        GroupMarked{key<FailureGroupKey>(1),
                    GroupStatus::resolved,
                    "note",
                    key<NameIndex>(2),
                    "ada",
                    Timestamp(3),
                    4},
        MessageSettled{key<MessageKey>(1), key<QueueKey>(2), key<QueueKey>(3), 4},
        GroupRuled{key<QueueKey>(1),
                   {.number = 2,
                    .from = {3},
                    .filter = "received > 4",
                    .into = {.id = {5}, .basis = 6, .title = "title", .reason = "reason"},
                    .made_by = key<NameIndex>(7),
                    .made_wall = Timestamp(8),
                    .applied = true}},
        GroupRuleApplied{key<QueueKey>(1), 2},
        GroupRuleRemoved{key<QueueKey>(1), 2},
        ProcessedCounted{key<QueueKey>(1), "counts"},
        MessageTried{key<QueueKey>(1), key<MessageKey>(2), key<NameIndex>(3), key<NameIndex>(4)},
        CodeDeployed{"function:orders", {{"9f3c2a1b", Timestamp(5)}, {"77aa01bc", Timestamp(6)}}},
        CodeUseSnapshot{key<QueueKey>(1),
                        key<FailureGroupKey>(2),
                        true,
                        {{"function:orders code=9f3c2a1b", 3, 4, Timestamp(5), Timestamp(6)}}},
        MoveTaskEnded{key<TaskKey>(1), TaskStatus::failed, "why"},
        MessageRelocated{key<MessageKey>(1), stored, {}},
        ServerReset{},
        TimePassed{},
        CheckpointBegun{key<MessageKey>(1),
                        key<QueueKey>(2),
                        key<TaskKey>(3),
                        4,
                        secret,
                        key<ErrorKey>(5),
                        key<FailureGroupKey>(6)},
        QueueSnapshot{created, Timestamp(1), Timestamp(2), Timestamp(3)},
        MessageSnapshot{key<MessageKey>(1),
                        key<QueueKey>(2),
                        {3, 4, 5},
                        Timestamp(6),
                        Timestamp(7),
                        8,
                        1,
                        true,
                        "group",
                        &history,
                        nullptr,
                        9},
        MessageSnapshot{key<MessageKey>(1),
                        key<QueueKey>(2),
                        {3, 4, 5},
                        Timestamp(6),
                        Timestamp(7),
                        0,
                        2,
                        false,
                        "",
                        nullptr,
                        nullptr},
        // One message, the next one, one with everything different, a distant one, and one before
        // it.
        WaitingSnapshot{
            {{key<MessageKey>(1), key<QueueKey>(2), {3, 4, 5}, Timestamp(7), Timestamp(6), 8},
             {key<MessageKey>(2), key<QueueKey>(2), {3, 49, 5}, Timestamp(7), Timestamp(6), 9},
             {key<MessageKey>(9), key<QueueKey>(3), {4, 64, 6}, Timestamp(12), Timestamp(8), 0},
             {key<MessageKey>(UINT64_MAX),
              key<QueueKey>(UINT32_MAX),
              {UINT32_MAX, UINT32_MAX, UINT32_MAX},
              Timestamp(INT64_MAX),
              Timestamp(INT64_MIN),
              UINT32_MAX},
             {key<MessageKey>(1), key<QueueKey>(1), {1, 0, 0}, Timestamp(5), Timestamp(5), 1}}},
        WaitingSnapshot{},
        DedupSnapshot{key<QueueKey>(1), {2, 3}, Timestamp(4), Uuid{{5}}, 6},
        AttemptSnapshot{key<QueueKey>(1),
                        "attempt",
                        Timestamp(2),
                        {{key<MessageKey>(3), 4}, {key<MessageKey>(5), 6}}},
        TaskSnapshot{started,
                     TaskStatus::cancelled,
                     {1, 2, 3, 4},
                     {5, 6, 7, 8},
                     9,
                     Timestamp(10),
                     Timestamp(11),
                     "failure"},
        GroupSnapshot{learned,
                      GroupStatus::regressed,
                      "note",
                      key<NameIndex>(1),
                      &arrivals,
                      nullptr,
                      "owner",
                      Timestamp(2),
                      3},
        ArchivedSnapshot{1, &archived, nullptr},
        DeletedNameSnapshot{{"111111111111", "eu-west-1", "gone"}, Timestamp(7)},
        CheckpointMessagesEnded{},
        CheckpointCounted{key<QueueKey>(7)},
        CheckpointEnded{},
    };
  }
};

std::string encoded(std::span<const Change> changes,
                    std::vector<RecordEncoder::Stored>* stored = nullptr) {
  RecordEncoder encoder;
  std::string payload;
  for (const std::string_view part : encoder.encode(kStamp, changes)) payload += part;
  if (stored != nullptr) stored->assign(encoder.stored().begin(), encoder.stored().end());
  return payload;
}

TEST(ChangeCodec, TheSamplesAreOneOfEachFact) {
  std::set<std::size_t> kinds;
  for (const Change& change : Samples().changes) kinds.insert(change.index());
  EXPECT_EQ(kinds.size(), queue::AllFacts::kCount);
}

TEST(ChangeCodec, EveryFactAloneIsReadBack) {
  const Samples samples;
  for (const Change& change : samples.changes) {
    const std::string payload = encoded({&change, 1});
    int seen = 0;
    const auto decoded =
        decode_record(kPlace, payload, [&](const Change& back, const Stamp& stamp) {
          ++seen;
          EXPECT_EQ(back.index(), change.index());
          EXPECT_EQ(back.visit(Describe()), change.visit(Describe()));
          EXPECT_EQ(stamp.now, kStamp.now);
          EXPECT_EQ(stamp.wall, kStamp.wall);
        });
    EXPECT_TRUE(decoded.has_value()) << change.index();
    EXPECT_EQ(seen, 1) << change.index();
  }
}

TEST(ChangeCodec, AllFactsInOneRecordAreReadBackInOrder) {
  const Samples samples;
  std::vector<std::string> seen;
  const std::string payload = encoded(samples.changes);
  const auto decoded = decode_record(kPlace, payload, [&](const Change& back, const Stamp&) {
    seen.push_back(back.visit(Describe()));
  });
  ASSERT_TRUE(decoded.has_value());
  ASSERT_EQ(seen.size(), samples.changes.size());
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i], samples.changes[i].visit(Describe()));
  }
}

// Encoder and decoder agree on the position of a message's bytes.
TEST(ChangeCodec, StoredBytesLieWhereTheEncoderSays) {
  const Samples samples;
  std::vector<RecordEncoder::Stored> stored;
  const std::string payload = encoded(samples.changes, &stored);
  ASSERT_EQ(stored.size(), 3u);  // The sent, the edited and the relocated message.
  for (const auto& place : stored) {
    EXPECT_TRUE(decode_message(payload.substr(place.offset, place.size)).has_value());
  }
  std::vector<BodyRef> bodies;
  const auto decoded = decode_record(kPlace, payload, [&](const Change& back, const Stamp&) {
    if (const auto* sent = back.as<MessageSent>()) bodies.push_back(sent->body);
    if (const auto* edited = back.as<MessageEdited>()) bodies.push_back(edited->body);
    if (const auto* moved = back.as<MessageRelocated>()) bodies.push_back(moved->body);
  });
  ASSERT_TRUE(decoded.has_value());
  ASSERT_EQ(bodies.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(bodies[i],
              (BodyRef{kPlace.segment, kPlace.offset + stored[i].offset, stored[i].size}));
  }
}

// A record cut within a fact is refused; cut between two facts it would be valid.
TEST(ChangeCodec, RefusesEveryPrefixOfAFact) {
  const Samples samples;
  for (const Change& change : samples.changes) {
    const std::string payload = encoded({&change, 1});
    for (std::size_t size = 0; size < payload.size(); ++size) {
      if (size == 16) continue;  // A timestamp without facts.
      const auto decoded =
          decode_record(kPlace, std::string_view(payload).substr(0, size), [](auto&, auto&) {});
      ASSERT_FALSE(decoded.has_value()) << change.index() << " cut to " << size;
      EXPECT_EQ(decoded.error().code, ErrorCode::storage_damaged);
    }
  }
}

// The journal's checksum catches these; the codec must only survive them.
TEST(ChangeCodec, SurvivesEveryFlippedBit) {
  const Samples samples;
  for (const Change& change : samples.changes) {
    const std::string payload = encoded({&change, 1});
    for (std::size_t bit = 0; bit < payload.size() * 8; ++bit) {
      std::string bad = payload;
      bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
      const auto decoded = decode_record(kPlace, bad, [](const Change&, const Stamp&) {});
      EXPECT_TRUE(decoded || decoded.error().code == ErrorCode::storage_damaged);
    }
  }
}

// Most of a backlog belongs to one queue, in order of sending: a checkpoint of millions is small.
TEST(ChangeCodec, AMessageThatWaitsBehindItsLikeTakesSixBytes) {
  WaitingSnapshot one{{{key<MessageKey>(1'000'000),
                        key<QueueKey>(7),
                        {20, 1'000'000, 1'100},
                        Timestamp(1'700'000'000'000),
                        Timestamp(1'700'000'000'000),
                        0x12345678}}};
  WaitingSnapshot many = one;
  for (std::uint32_t i = 1; i <= 100; ++i) {
    many.messages.push_back(many.messages.back());
    many.messages.back().key = next(many.messages.back().key);
    many.messages.back().body.offset += 1'100 + 48;
  }
  const Change first = one;
  const Change all = many;
  EXPECT_EQ(encoded({&all, 1}).size() - encoded({&first, 1}).size(), 100 * kWaitingMessageBytesMin);
}

TEST(ChangeCodec, RefusesAFactItDoesNotKnow) {
  for (const int tag : {0, 44, 127, 255}) {
    std::string payload(16, '\0');
    payload += static_cast<char>(tag);
    EXPECT_FALSE(decode_record(kPlace, payload, [](auto&, auto&) { FAIL(); }).has_value()) << tag;
  }
}

// Bytes written by earlier versions. Numbers are little-endian.

std::string bytes(std::initializer_list<int> values) {
  std::string out;
  for (const int value : values) out += static_cast<char>(value);
  return out;
}
std::string u16(int value) {
  return bytes({value & 0xff, value >> 8});
}
std::string u32(int value) {
  return u16(value & 0xffff) + u16(value >> 16);
}
std::string u64(int value) {
  return u32(value) + u32(0);
}
std::string text(std::string_view value) {
  return u32(static_cast<int>(value.size())) + std::string(value);
}
std::string id(int first) {
  return bytes({first}) + std::string(15, '\0');
}

template <class Fact>
Fact read_old(const std::string& fact) {
  std::optional<Fact> found;
  static std::string payload;  // The fact points into it.
  payload = u64(1) + u64(2) + fact;
  const auto decoded = decode_record(kPlace, payload, [&](const Change& change, const Stamp&) {
    ASSERT_TRUE(change.is<Fact>());
    found = *change.as<Fact>();
  });
  EXPECT_TRUE(decoded.has_value());
  return found.value();
}

TEST(EarlierFormats, DeadLettersWithoutAReason) {
  const auto fact = read_old<MessageDeadLettered>(bytes({13}) + u64(1) + u32(2) + u32(3) + u64(4));
  EXPECT_EQ(Describe()(fact), "1 2 3 4 0");
}

TEST(EarlierFormats, RedrivesWithoutAnActor) {
  const auto fact =
      read_old<MessageRedriven>(bytes({14}) + u32(1) + u64(2) + u32(3) + u32(4) + id(5) + u64(6));
  EXPECT_EQ(Describe()(fact), "1 2 3 4 " + Uuid{{5}}.text() + " 6 0 0");
}

std::string old_task() {
  return u32(1) + id(2) + u32(3) + text("source") + text("destination") + u32(4) + u64(5);
}

TEST(EarlierFormats, TasksWithoutAPlan) {
  const auto fact = read_old<MoveTaskStarted>(bytes({15}) + old_task());
  EXPECT_EQ(Describe()(fact),
            "1 " + Uuid{{2}}.text() + " 3 source destination 4 5 " + describe_plan({}));
}

TEST(EarlierFormats, MarksOfGroupsWithoutAnOwner) {
  const auto fact =
      read_old<GroupMarked>(bytes({31}) + u32(1) + bytes({3}) + text("note") + u32(2));
  EXPECT_EQ(fact.status, GroupStatus::ignored);
  EXPECT_EQ(fact.note, "note");
  EXPECT_EQ(fact.owner, "");
  EXPECT_EQ(fact.ignored_until, Timestamp());
}

TEST(EarlierFormats, GroupsThatCountedOnlyHours) {
  std::string old = bytes({42}) + u32(1) + u32(2) + id(3) + bytes({1}) + text("title") +
                    text("reason") + bytes({4}) + text("note") + u32(5) + u64(6) + u64(7) + u64(8) +
                    u64(9);
  for (std::uint8_t hour = 0; hour < 24; ++hour) old += u32(hour);
  const auto fact = read_old<GroupSnapshot>(old + bytes({0}) + bytes({1}) + u32(10));
  ASSERT_NE(fact.restored, nullptr);
  EXPECT_EQ(fact.restored->total, 6u);
  EXPECT_EQ(fact.restored->by_hour[23], 23u);
  EXPECT_EQ(fact.restored->by_day, (std::array<std::uint32_t, kGroupDays>{}));
  EXPECT_EQ(fact.restored->consumers.size(), 1u);
  EXPECT_EQ(fact.owner, "");
}

TEST(EarlierFormats, CheckpointsThatHaveJobsFirst) {
  const auto fact =
      read_old<CheckpointBegun>(bytes({32}) + u64(1) + u32(2) + u32(3) + u32(4) + id(5));
  EXPECT_EQ(Describe()(fact), "1 2 3 4 5 0 0 0 true");
}

// The outcome of messages moved by such a task is unknown and not waited for.
TEST(EarlierFormats, SnapshotsOfTasksThatCountedOnlyMoves) {
  const auto fact = read_old<TaskSnapshot>(bytes({37}) + old_task() + bytes({2}) + u64(6) + u64(7) +
                                           text("failure"));
  EXPECT_EQ(fact.status, TaskStatus::cancelled);
  EXPECT_EQ(describe_counts(fact.counts), "6:0/0/6");
  EXPECT_EQ(fact.counts.open(), 0u);
  EXPECT_EQ(fact.started_wall, Timestamp(7));
  EXPECT_EQ(fact.failure, "failure");
  EXPECT_EQ(fact.started.destination_arn, "destination");
}

TEST(EarlierFormats, HistoriesWithoutErrorsAndEvents) {
  const std::string history = bytes({1}) + u64(1) + u64(2) + u32(2) + u32(3) + u32(4) + u16(5) +
                              u32(6) + u32(7) + u64(8) + bytes({1}) + id(9) + u64(10) +
                              bytes({1}) +  // Two attempts follow.
                              bytes({2}) + u64(11) + u32(12) + u32(13) + bytes({1}) + u64(14) +
                              u32(0) + u32(0) + bytes({0});
  const auto fact =
      read_old<MessageSnapshot>(bytes({34}) + u64(1) + u32(2) + u32(3) + u32(4) + u32(5) + u64(6) +
                                u64(7) + u32(8) + bytes({1, 3, 5}) + "group" + history);
  ASSERT_NE(fact.restored, nullptr);
  History expected = all_history();
  expected.attempts[0].error = ErrorKey::none;
  expected.attempts[0].end = AttemptEnd::released;
  expected.attempts[0].isolation = Isolation::off;
  expected.attempts[0].company = 0;
  expected.job = TaskKey::none;
  expected.group = expected.former_group = FailureGroupKey::none;
  expected.events.clear();
  expected.events_total = 0;
  EXPECT_EQ(*fact.restored, expected);
  EXPECT_EQ(fact.group, "group");
}

TEST(EarlierFormats, HistoriesWithoutIsolation) {
  const std::string history = bytes({3}) + u64(1) + u64(2) + u32(1) + u32(3) + u32(4) + u16(5) +
                              u32(6) + u32(7) + u64(8) + bytes({0}) + u64(10) + bytes({1}) +
                              bytes({1}) + u64(11) + u32(12) + u32(13) + bytes({3}) + u32(14) +
                              u32(15) + u32(16) + u32(17) + u32(0) + bytes({0}) +  // No events,
                              u64(18) + bytes({1}) + u32(19);                      // a retry.
  const auto fact =
      read_old<MessageSnapshot>(bytes({34}) + u64(1) + u32(2) + u32(3) + u32(4) + u32(5) + u64(6) +
                                u64(7) + u32(8) + bytes({1, 3, 5}) + "group" + history);
  ASSERT_NE(fact.restored, nullptr);
  ASSERT_EQ(fact.restored->attempts.size(), 1u);
  EXPECT_EQ(fact.restored->attempts[0].end, AttemptEnd::failed);
  EXPECT_EQ(fact.restored->attempts[0].error, key<ErrorKey>(14));
  EXPECT_EQ(fact.restored->attempts[0].isolation, Isolation::off);
  EXPECT_EQ(fact.restored->attempts[0].company, 0u);
  EXPECT_EQ(fact.restored->retries.scope, 18u);
}

TEST(EarlierFormats, AHistoryOfALaterVersionIsRefused) {
  const std::string payload = u64(1) + u64(2) + bytes({34}) + u64(1) + u32(2) + u32(3) + u32(4) +
                              u32(5) + u64(6) + u64(7) + u32(8) + bytes({1, 2, 0, 99}) +
                              std::string(200, '\0');
  EXPECT_FALSE(decode_record(kPlace, payload, [](auto&, auto&) {}).has_value());
}

TEST(ChangeCodec, NamesThePlaceOfWhatItCannotRead) {
  const auto decoded = decode_record(kPlace, "short", [](auto&, auto&) {});
  ASSERT_FALSE(decoded.has_value());
  EXPECT_NE(decoded.error().message.find("segment 9, offset 4096"), std::string::npos);
}

}  // namespace
}  // namespace redrive::store
