#include "core/store/change_codec.h"

#include <fmt/format.h>

#include <cassert>

#include "base/varint.h"
#include "core/store/message_codec.h"
#include "core/store/value_codec.h"

namespace redrive::store {
namespace {

using namespace redrive::queue;  // NOLINT: the vocabulary of this file.

// Persistent: a number is never reused for another fact.
enum class Tag : std::uint8_t {
  server_started = 1,
  name_learned = 2,
  queue_created = 3,
  queue_settings_changed = 4,
  queue_tags_changed = 5,
  queue_deleted = 6,
  queue_purged = 7,
  message_sent = 8,
  messages_received = 9,
  message_deleted = 10,
  visibility_changed = 11,
  receive_repeated = 12,
  message_dead_lettered_1 = 13,  // Read only, like the other tags ending in _1.
  message_redriven_1 = 14,
  move_task_started_1 = 15,
  move_task_ended = 16,
  message_relocated = 17,
  time_passed = 18,
  server_reset = 19,
  message_dead_lettered = 20,
  message_redriven = 21,
  move_task_started = 22,
  move_task_changed = 23,
  error_learned_1 = 24,
  failure_reported_1 = 25,
  message_discarded = 26,
  message_restored = 27,
  message_edited = 28,
  group_learned = 29,
  message_grouped = 30,
  group_marked_1 = 31,
  checkpoint_begun_1 = 32,
  queue_snapshot = 33,
  message_snapshot = 34,
  dedup_snapshot = 35,
  attempt_snapshot = 36,
  task_snapshot_1 = 37,
  checkpoint_ended = 38,
  deleted_name_snapshot = 39,
  checkpoint_begun = 40,
  task_snapshot = 41,
  group_snapshot_1 = 42,
  processed_counted = 43,
  error_learned = 44,
  failure_reported = 45,
  entry_put = 46,
  entry_removed = 47,
  message_redriven_delayed = 60,
  message_archived = 61,
  lineage_continued = 62,
  archived_snapshot = 63,
  waiting_snapshot = 64,
  message_damaged = 70,
  messages_received_isolated = 90,
  failure_reported_in_batch = 91,
  message_returned = 92,
  message_settled = 100,
  group_marked = 101,
  group_snapshot = 102,
  group_ruled = 103,
  group_rule_applied = 104,
  group_rule_removed = 105,
  message_tried = 110,
  code_deployed = 111,
  code_use_snapshot = 112,
  checkpoint_messages_ended = 120,
  checkpoint_counted = 121,
};

// A pair of functions per fact: write(w, fact) and read<Fact>(r).

void write(Writer& w, const ServerStarted& f) {
  w.number(Tag::server_started);
  w.raw(f.secret);
}
void write(Writer& w, const NameLearned& f) {
  w.number(Tag::name_learned);
  w.number(f.index);
  w.text(f.text);
}
void put(Writer& w, const QueueCreated& f) {
  w.number(f.queue);
  w.number(f.arn);
  put(w, f.identity);
  put(w, f.settings);
  put(w, f.tags);
}
void write(Writer& w, const QueueCreated& f) {
  w.number(Tag::queue_created);
  put(w, f);
}
void write(Writer& w, const QueueSettingsChanged& f) {
  w.number(Tag::queue_settings_changed);
  w.number(f.queue);
  put(w, f.settings);
}
void write(Writer& w, const QueueTagsChanged& f) {
  w.number(Tag::queue_tags_changed);
  w.number(f.queue);
  put(w, f.tags);
}
void write(Writer& w, const QueueDeleted& f) {
  w.number(Tag::queue_deleted);
  w.number(f.queue);
}
void write(Writer& w, const QueuePurged& f) {
  w.number(Tag::queue_purged);
  w.number(f.queue);
}
void write(Writer& w, const MessagesReceived& f) {
  w.number(f.isolated ? Tag::messages_received_isolated : Tag::messages_received);
  w.number(f.queue);
  w.number(f.by);
  put(w, f.visible_at);
  put_keys(w, f.count, f.keys);
  w.text(f.attempt_id);
}
void write(Writer& w, const MessageDeleted& f) {
  w.numbers(Tag::message_deleted, f.queue, f.key);
}
void write(Writer& w, const VisibilityChanged& f) {
  w.number(f.not_run ? Tag::message_returned : Tag::visibility_changed);
  w.number(f.queue);
  w.number(f.key);
  put(w, f.visible_at);
}
void write(Writer& w, const ReceiveRepeated& f) {
  w.number(Tag::receive_repeated);
  w.number(f.queue);
  put(w, f.visible_at);
  put_keys(w, f.count, f.keys);
}
void write(Writer& w, const MessageDeadLettered& f) {
  w.number(Tag::message_dead_lettered);
  w.number(f.key);
  w.number(f.from);
  w.number(f.to);
  w.number(f.sequence);
  w.number(f.why);
}
void write(Writer& w, const MessageRedriven& f) {
  w.number(f.visible_at ? Tag::message_redriven_delayed : Tag::message_redriven);
  w.number(f.task);
  w.number(f.key);
  w.number(f.from);
  w.number(f.to);
  w.raw(f.message_id.bytes);
  w.number(f.sequence);
  w.number(f.actor);
  w.number(f.reason);
  if (f.visible_at) put(w, *f.visible_at);
}
void put(Writer& w, const MoveTaskStarted& f) {
  w.number(f.task);
  w.raw(f.id.bytes);
  w.number(f.source);
  w.text(f.source_arn);
  w.text(f.destination_arn);
  w.number(f.rate);
  w.number(f.to_move);
  put(w, f.plan);
}
void write(Writer& w, const MoveTaskStarted& f) {
  w.number(Tag::move_task_started);
  put(w, f);
}
void write(Writer& w, const MoveTaskEnded& f) {
  w.number(Tag::move_task_ended);
  w.number(f.task);
  w.number(f.status);
  w.text(f.failure);
}
void write(Writer& w, const MoveTaskChanged& f) {
  w.number(Tag::move_task_changed);
  w.number(f.task);
  w.number(f.status);
  w.number(f.rate);
  w.number(f.stage);
  w.text(f.note);
}
void write(Writer& w, const ErrorLearned& f) {
  w.number(Tag::error_learned);
  w.number(f.error);
  w.text(f.text.type);
  w.text(f.text.message);
  w.text(f.text.stack);
  w.text(f.text.fingerprint);
  w.text(f.text.log);
}
void write(Writer& w, const FailureReported& f) {
  w.number(f.company > 0 ? Tag::failure_reported_in_batch : Tag::failure_reported);
  w.number(f.queue);
  w.number(f.key);
  w.number(f.error);
  w.number(static_cast<std::uint8_t>(f.visible_at.has_value()));
  if (f.visible_at) put(w, *f.visible_at);
  w.number(static_cast<std::uint8_t>(f.retries.has_value()));
  if (f.retries) put(w, *f.retries);
  if (f.company > 0) w.number(f.company);
}
void write(Writer& w, const MessageDiscarded& f) {
  w.number(Tag::message_discarded);
  w.number(f.key);
  w.number(f.from);
  w.number(f.to);
  w.number(f.sequence);
  w.number(f.actor);
  w.number(f.reason);
}
void write(Writer& w, const MessageRestored& f) {
  w.number(Tag::message_restored);
  w.number(f.key);
  w.number(f.from);
  w.number(f.to);
  w.number(f.sequence);
  w.number(f.actor);
}
void write(Writer& w, const MessageDamaged& f) {
  w.number(Tag::message_damaged);
  w.number(f.key);
  w.number(f.from);
  w.number(f.to);
  w.number(f.sequence);
  w.number(f.error);
}
void write(Writer& w, const MessageSettled& f) {
  w.number(Tag::message_settled);
  w.number(f.key);
  w.number(f.from);
  w.number(f.to);
  w.number(f.sequence);
}
void put_if_any(Writer& w, const std::optional<Uuid>& id) {
  w.number(static_cast<std::uint8_t>(id.has_value()));
  if (id) w.raw(id->bytes);
}

void write(Writer& w, const MessageArchived& f) {
  w.number(Tag::message_archived);
  w.number(f.queue);
  w.number(f.key);
  w.number(f.sequence);
  w.raw(f.lineage.bytes);
  w.raw(f.message_id.bytes);
  w.number(f.actor);
  w.number(f.reason);
  w.text(f.place);
}
void write(Writer& w, const LineageContinued& f) {
  w.number(Tag::lineage_continued);
  w.number(f.key);
  put_if_any(w, f.archived_as);
  put(w, *f.history);
}
void write(Writer& w, const ArchivedSnapshot& f) {
  const ArchivedLineage& archived = *f.archived;
  w.number(Tag::archived_snapshot);
  w.number(f.sequence);
  w.raw(archived.lineage.bytes);
  w.raw(archived.message_id.bytes);
  w.number(archived.from);
  put(w, archived.archived_wall);
  put(w, archived.restored_wall);
  w.text(archived.place);
  put(w, archived.history);
}
void write(Writer& w, const MessageTried& f) {
  w.number(Tag::message_tried);
  w.number(f.queue);
  w.number(f.key);
  w.number(f.actor);
  w.number(f.reason);
}
void write(Writer& w, const CodeDeployed& f) {
  w.number(Tag::code_deployed);
  w.text(f.function);
  w.number(static_cast<std::uint8_t>(f.deploys.size()));
  for (const queue::Deploy& deploy : f.deploys) {
    w.text(deploy.code);
    put(w, deploy.wall);
  }
}
void write(Writer& w, const CodeUseSnapshot& f) {
  w.number(Tag::code_use_snapshot);
  w.number(f.queue);
  w.number(f.group);
  w.number(static_cast<std::uint8_t>(f.forgot));
  w.number(static_cast<std::uint8_t>(f.uses.size()));
  for (const CodeUseSnapshot::Use& use : f.uses) {
    w.text(use.code);
    w.number(use.processed);
    w.number(use.failed);
    put(w, use.first_wall);
    put(w, use.last_wall);
  }
}
void put(Writer& w, const GroupIdentity& identity) {
  w.raw(identity.id);
  w.number(identity.basis);
  w.text(identity.title);
  w.text(identity.reason);
}
void put(Writer& w, const GroupLearned& f) {
  w.number(f.group);
  w.number(f.queue);
  put(w, f.identity);
}
void write(Writer& w, const GroupLearned& f) {
  w.number(Tag::group_learned);
  put(w, f);
}
void write(Writer& w, const MessageGrouped& f) {
  w.number(Tag::message_grouped);
  w.number(f.key);
  w.number(f.queue);
  w.number(f.group);
}
void write(Writer& w, const GroupMarked& f) {
  w.number(Tag::group_marked);
  w.number(f.group);
  w.number(f.status);
  w.text(f.note);
  w.number(f.actor);
  w.text(f.owner);
  put(w, f.ignored_until);
  w.number(f.ignored_to_total);
}
void write(Writer& w, const GroupRuled& f) {
  w.number(Tag::group_ruled);
  w.number(f.queue);
  w.number(f.rule.number);
  w.raw(f.rule.from);
  w.text(f.rule.filter);
  put(w, f.rule.into);
  w.number(f.rule.made_by);
  put(w, f.rule.made_wall);
  w.number(static_cast<std::uint8_t>(f.rule.applied));
}
void write(Writer& w, const GroupRuleApplied& f) {
  w.number(Tag::group_rule_applied);
  w.number(f.queue);
  w.number(f.number);
}
void write(Writer& w, const GroupRuleRemoved& f) {
  w.number(Tag::group_rule_removed);
  w.number(f.queue);
  w.number(f.number);
}
void write(Writer& w, const ProcessedCounted& f) {
  w.number(Tag::processed_counted);
  w.number(f.queue);
  w.text(f.counts);
}
void write(Writer& w, const EntryPut& f) {
  w.number(Tag::entry_put);
  w.number(f.kind);
  w.text(f.name);
  w.text(f.value);
}
void write(Writer& w, const EntryRemoved& f) {
  w.number(Tag::entry_removed);
  w.number(f.kind);
  w.text(f.name);
}
void write(Writer& w, const GroupSnapshot& f) {
  const GroupArrivals& arrivals = *f.arrivals;
  w.number(Tag::group_snapshot);
  put(w, f.learned);
  w.number(f.status);
  w.text(f.note);
  w.number(f.marked_by);
  w.number(arrivals.total);
  w.number(arrivals.failed_again);
  put(w, arrivals.first_wall);
  put(w, arrivals.last_wall);
  for (const std::uint32_t count : arrivals.by_hour) w.number(count);
  put(w, arrivals.sources);
  put(w, arrivals.consumers);
  for (const std::uint32_t count : arrivals.by_day) w.number(count);
  for (const std::uint32_t count : arrivals.by_minute) w.number(count);
  w.text(f.owner);
  put(w, f.ignored_until);
  w.number(f.ignored_to_total);
}
void write(Writer& w, const TimePassed&) {
  w.number(Tag::time_passed);
}
void write(Writer& w, const ServerReset&) {
  w.number(Tag::server_reset);
}
void write(Writer& w, const CheckpointBegun& f) {
  w.number(Tag::checkpoint_begun);
  w.number(f.last_key);
  w.number(f.last_queue);
  w.number(f.last_task);
  w.number(f.name_count);
  w.raw(f.secret);
  w.number(f.last_error);
  w.number(f.last_group);
}
void write(Writer& w, const QueueSnapshot& f) {
  w.number(Tag::queue_snapshot);
  put(w, f.created);
  put(w, f.created_wall);
  put(w, f.modified_wall);
  put(w, f.purged_at);
}
void write(Writer& w, const MessageSnapshot& f) {
  const bool has_history = f.history != nullptr;
  const bool has_mark = f.lineage_mark != 0;
  const int flags = (f.visibility_touched ? 1 : 0) | (has_history ? 2 : 0) | (has_mark ? 4 : 0);
  w.numbers(Tag::message_snapshot,
            f.key,
            f.queue,
            f.body.segment,
            f.body.offset,
            f.body.size,
            f.visible_at.ms(),
            f.sent_at.ms(),
            f.receive_count,
            f.phase,
            static_cast<std::uint8_t>(flags),
            static_cast<std::uint8_t>(f.group.size()));
  w.raw(f.group);
  if (has_history) put(w, *f.history);
  if (has_mark) w.number(f.lineage_mark);
}

// Flags: fields of a waiting message that cannot be predicted from the previous one.
namespace differs {
constexpr std::uint8_t kKey = 1;  // Not the next key.
constexpr std::uint8_t kQueue = 2;
constexpr std::uint8_t kSegment = 4;
constexpr std::uint8_t kSize = 8;
constexpr std::uint8_t kSent = 16;
constexpr std::uint8_t kDelay = 32;
constexpr std::uint8_t kAll = 63;
}  // namespace differs

// Wraps around, so that any value read decodes to some distance.
template <class Number>
std::uint64_t distance(Number from, Number to) {
  using Unsigned = std::make_unsigned_t<Number>;
  const auto forward =
      static_cast<Unsigned>(static_cast<Unsigned>(to) - static_cast<Unsigned>(from));
  return zigzag(static_cast<std::make_signed_t<Number>>(forward));
}
template <class Number>
Number at_distance(Number from, std::uint64_t distance) {
  return static_cast<Number>(static_cast<std::uint64_t>(from) +
                             static_cast<std::uint64_t>(unzigzag(distance)));
}
std::uint64_t delay_of(const WaitingMessage& m) {
  return distance(m.sent_at.ms(), m.visible_at.ms());
}

void put(BufferWriter& w, const WaitingMessage& m, const WaitingMessage& before) {
  const auto flag = [](bool differs, std::uint8_t which) { return differs ? which : 0; };
  const int what = flag(m.key != next(before.key), differs::kKey) |
                   flag(m.queue != before.queue, differs::kQueue) |
                   flag(m.body.segment != before.body.segment, differs::kSegment) |
                   flag(m.body.size != before.body.size, differs::kSize) |
                   flag(m.sent_at != before.sent_at, differs::kSent) |
                   flag(delay_of(m) != delay_of(before), differs::kDelay);
  w.number(static_cast<std::uint8_t>(what));
  if ((what & differs::kKey) != 0) w.varint(distance(number(before.key), number(m.key)));
  if ((what & differs::kQueue) != 0) w.varint(number(m.queue));
  if ((what & differs::kSegment) != 0) w.varint(m.body.segment);
  w.varint(distance(before.body.offset + before.body.size, m.body.offset));
  if ((what & differs::kSize) != 0) w.varint(m.body.size);
  if ((what & differs::kSent) != 0) w.varint(distance(before.sent_at.ms(), m.sent_at.ms()));
  if ((what & differs::kDelay) != 0) w.varint(delay_of(m));
  w.number(m.lineage_mark);
}
void write(Writer& w, const WaitingSnapshot& f) {
  w.number(Tag::waiting_snapshot);
  w.number(static_cast<std::uint32_t>(f.messages.size()));
  WaitingMessage before;
  for (const WaitingMessage& message : f.messages) {
    char buffer[kWaitingMessageBytesMax];
    BufferWriter writer(buffer);
    put(writer, message, before);
    w.raw({buffer, writer.at()});
    before = message;
  }
}
void write(Writer& w, const DedupSnapshot& f) {
  w.numbers(Tag::dedup_snapshot, f.queue, f.id[0], f.id[1], f.expires.ms());
  w.raw(f.message_id.bytes);
  w.number(f.sequence);
}
void write(Writer& w, const AttemptSnapshot& f) {
  w.number(Tag::attempt_snapshot);
  w.number(f.queue);
  w.text(f.attempt_id);
  put(w, f.expires);
  w.number(static_cast<std::uint8_t>(f.messages.size()));
  for (const auto& [key, generation] : f.messages) {
    w.number(key);
    w.number(generation);
  }
}
void write(Writer& w, const TaskSnapshot& f) {
  w.number(Tag::task_snapshot);
  put(w, f.started);
  w.number(f.status);
  put(w, f.counts);
  put(w, f.forgiven);
  w.number(f.stage);
  put(w, f.started_wall);
  put(w, f.ended_wall);
  w.text(f.failure);
}
void write(Writer& w, const DeletedNameSnapshot& f) {
  w.number(Tag::deleted_name_snapshot);
  put(w, f.identity);
  put(w, f.deleted_at);
}
void write(Writer& w, const CheckpointMessagesEnded&) {
  w.number(Tag::checkpoint_messages_ended);
}
void write(Writer& w, const CheckpointCounted& f) {
  w.number(Tag::checkpoint_counted);
  w.number(f.queue);
}
void write(Writer& w, const CheckpointEnded&) {
  w.number(Tag::checkpoint_ended);
}

QueueCreated get_queue_created(Reader& r) {
  QueueCreated f;
  f.queue = r.number<QueueKey>();
  f.arn = r.number<NameIndex>();
  f.identity = get_identity(r);
  f.settings = get_settings(r);
  f.tags = get_tags(r);
  return f;
}

MoveTaskStarted get_task_started_1(Reader& r) {
  MoveTaskStarted f;
  f.task = r.number<TaskKey>();
  f.id = Uuid{r.array<16>()};
  f.source = r.number<QueueKey>();
  f.source_arn = r.text();
  f.destination_arn = r.text();
  f.rate = r.number<std::uint32_t>();
  f.to_move = r.number<std::uint64_t>();
  return f;
}

MoveTaskStarted get_task_started(Reader& r) {
  MoveTaskStarted f = get_task_started_1(r);
  f.plan = get_plan(r);
  return f;
}

TaskSnapshot read_task_snapshot(Reader& r) {
  TaskSnapshot f{};
  f.started = get_task_started(r);
  f.status = r.number<TaskStatus>();
  f.counts = get_counts(r);
  f.forgiven = get_counts(r);
  f.stage = r.number<std::uint32_t>();
  f.started_wall = get_time(r);
  f.ended_wall = get_time(r);
  f.failure = r.text();
  return f;
}

TaskSnapshot read_task_snapshot_1(Reader& r) {
  TaskSnapshot f{};
  f.started = get_task_started_1(r);
  f.status = r.number<TaskStatus>();
  // Old records do not say what became of them.
  f.counts.moved = f.counts.gone = r.number<std::uint64_t>();
  f.started_wall = get_time(r);
  f.failure = r.text();
  return f;
}

FailureReported read_failure_reported_1(Reader& r) {
  FailureReported f{};
  f.queue = r.number<QueueKey>();
  f.key = r.number<MessageKey>();
  f.error = r.number<ErrorKey>();
  if (r.number<std::uint8_t>() != 0) f.visible_at = get_time(r);
  return f;
}

FailureReported read_failure_reported(Reader& r) {
  FailureReported f = read_failure_reported_1(r);
  if (r.number<std::uint8_t>() != 0) f.retries = get_retries(r);
  return f;
}

FailureReported read_failure_reported_in_batch(Reader& r) {
  FailureReported f = read_failure_reported(r);
  f.company = r.number<std::uint16_t>();
  return f;
}

ErrorLearned read_error_learned_1(Reader& r) {
  ErrorLearned f{};
  f.error = r.number<ErrorKey>();
  f.text.type = r.text();
  f.text.message = r.text();
  f.text.stack = r.text();
  f.text.fingerprint = r.text();
  return f;
}

ErrorLearned read_error_learned(Reader& r) {
  ErrorLearned f = read_error_learned_1(r);
  f.text.log = r.text();
  return f;
}

CodeDeployed read_code_deployed(Reader& r) {
  CodeDeployed f{};
  f.function = r.text();
  for (auto left = r.number<std::uint8_t>(); left > 0 && r.ok(); --left) {
    std::string code(r.text());
    f.deploys.push_back({std::move(code), get_time(r)});
  }
  return f;
}

CodeUseSnapshot read_code_use_snapshot(Reader& r) {
  CodeUseSnapshot f{};
  f.queue = r.number<QueueKey>();
  f.group = r.number<FailureGroupKey>();
  f.forgot = r.number<std::uint8_t>() != 0;
  for (auto left = r.number<std::uint8_t>(); left > 0 && r.ok(); --left) {
    CodeUseSnapshot::Use& use = f.uses.emplace_back();
    use.code = r.text();
    use.processed = r.number<std::uint64_t>();
    use.failed = r.number<std::uint64_t>();
    use.first_wall = get_time(r);
    use.last_wall = get_time(r);
  }
  return f;
}

GroupLearned get_group_learned(Reader& r) {
  GroupLearned f{};
  f.group = r.number<FailureGroupKey>();
  f.queue = r.number<QueueKey>();
  f.identity.id = r.array<16>();
  f.identity.basis = r.number<std::uint8_t>();
  f.identity.title = r.text();
  f.identity.reason = r.text();
  return f;
}

GroupSnapshot read_group_snapshot_1(Reader& r) {
  GroupSnapshot f{};
  f.restored = std::make_shared<GroupArrivals>();
  f.learned = get_group_learned(r);
  f.status = r.number<GroupStatus>();
  f.note = r.text();
  f.marked_by = r.number<NameIndex>();
  f.restored->total = r.number<std::uint64_t>();
  f.restored->failed_again = r.number<std::uint64_t>();
  f.restored->first_wall = get_time(r);
  f.restored->last_wall = get_time(r);
  for (std::uint32_t& count : f.restored->by_hour) count = r.number<std::uint32_t>();
  f.restored->sources = get_names(r);
  f.restored->consumers = get_names(r);
  return f;
}

GroupSnapshot read_group_snapshot(Reader& r) {
  GroupSnapshot f = read_group_snapshot_1(r);
  for (std::uint32_t& count : f.restored->by_day) count = r.number<std::uint32_t>();
  for (std::uint32_t& count : f.restored->by_minute) count = r.number<std::uint32_t>();
  f.owner = r.text();
  f.ignored_until = get_time(r);
  f.ignored_to_total = r.number<std::uint64_t>();
  return f;
}

GroupMarked read_group_marked_1(Reader& r) {
  return {r.number<FailureGroupKey>(), r.number<GroupStatus>(), r.text(), r.number<NameIndex>()};
}

GroupMarked read_group_marked(Reader& r) {
  GroupMarked f = read_group_marked_1(r);
  f.owner = r.text();
  f.ignored_until = get_time(r);
  f.ignored_to_total = r.number<std::uint64_t>();
  return f;
}

GroupRuled read_group_ruled(Reader& r) {
  GroupRuled f{};
  f.queue = r.number<QueueKey>();
  f.rule.number = r.number<std::uint32_t>();
  f.rule.from = r.array<16>();
  f.rule.filter = r.text();
  f.rule.into.id = r.array<16>();
  f.rule.into.basis = r.number<std::uint8_t>();
  f.rule.into.title = r.text();
  f.rule.into.reason = r.text();
  f.rule.made_by = r.number<NameIndex>();
  f.rule.made_wall = get_time(r);
  f.rule.applied = r.number<std::uint8_t>() != 0;
  return f;
}

// Skips a message's stored bytes and returns their position.
BodyRef skip_stored(Reader& r, journal::Location at) {
  const std::size_t start = r.position();
  r.raw(4);
  const auto tail_size = r.number<std::uint32_t>();
  r.raw(kMessageHeadBytes - 8 + std::size_t{tail_size});
  return {at.segment,
          at.offset + static_cast<std::uint32_t>(start),
          static_cast<std::uint32_t>(r.position() - start)};
}

// How to treat messages with damaged contents.
struct Damages {
  std::vector<journal::Stretch>* found = nullptr;  // Null: damage is an error.
  bool thorough = false;  // Also check messages that a replay need not decode.
};

// Decodes the message at `start` if it is intact. If only its contents are damaged and the caller
// collects such messages, adds it to damages.found and returns its head alone.
std::optional<StoredMessage> stored_at(std::string_view payload, std::size_t start,
                                       std::uint32_t size, const Damages& damages) {
  const std::string_view bytes = payload.substr(start, size);
  if (auto whole = decode_message(bytes)) return whole;
  if (damages.found == nullptr || size < kMessageHeadBytes) return std::nullopt;
  damages.found->push_back({.offset = start + kMessageHeadBytes,
                            .size = size - kMessageHeadBytes,
                            .crc = tail_crc_in_head(bytes)});
  return decode_damaged_message(bytes);
}

// New stored bytes that replace those of the same message.
BodyRef read_replacement(Reader& r, journal::Location at, std::string_view payload,
                         const Damages& damages) {
  const std::size_t start = r.position();
  const BodyRef body = skip_stored(r, at);
  if (damages.thorough && r.ok()) (void)stored_at(payload, start, body.size, damages);
  return body;
}

MessageSent read_message_sent(Reader& r, journal::Location at, std::string_view payload,
                              const Damages& damages) {
  MessageSent f{};
  const std::size_t start = r.position();
  f.body = skip_stored(r, at);
  const auto stored = r.ok() ? stored_at(payload, start, f.body.size, damages) : std::nullopt;
  if (!stored) {
    r.refuse();
    return f;
  }
  f.queue = stored->queue;
  f.key = stored->key;
  f.message_id = stored->message_id;
  f.visible_at = stored->visible_at;
  f.group = stored->contents.group;
  f.dedup = stored->contents.dedup;
  return f;
}

MessagesReceived read_messages_received(Reader& r) {
  MessagesReceived f{};
  f.queue = r.number<QueueKey>();
  f.by = r.number<NameIndex>();
  f.visible_at = get_time(r);
  f.count = get_keys(r, f.keys);
  f.attempt_id = r.text();
  return f;
}

MessagesReceived read_messages_received_isolated(Reader& r) {
  MessagesReceived f = read_messages_received(r);
  f.isolated = true;
  return f;
}

ReceiveRepeated read_receive_repeated(Reader& r) {
  ReceiveRepeated f{};
  f.queue = r.number<QueueKey>();
  f.visible_at = get_time(r);
  f.count = get_keys(r, f.keys);
  return f;
}

MessageRedriven read_message_redriven_1(Reader& r) {
  MessageRedriven f{};
  f.task = r.number<TaskKey>();
  f.key = r.number<MessageKey>();
  f.from = r.number<QueueKey>();
  f.to = r.number<QueueKey>();
  f.message_id = Uuid{r.array<16>()};
  f.sequence = r.number<std::uint64_t>();
  return f;
}

MessageRedriven read_message_redriven(Reader& r) {
  MessageRedriven f = read_message_redriven_1(r);
  f.actor = r.number<NameIndex>();
  f.reason = r.number<NameIndex>();
  return f;
}

MessageRedriven read_message_redriven_delayed(Reader& r) {
  MessageRedriven f = read_message_redriven(r);
  f.visible_at = get_time(r);
  return f;
}

MessageSnapshot read_message_snapshot(Reader& r) {
  MessageSnapshot f{};
  f.key = r.number<MessageKey>();
  f.queue = r.number<QueueKey>();
  f.body = get_body(r);
  f.visible_at = get_time(r);
  f.sent_at = get_time(r);
  f.receive_count = r.number<std::uint32_t>();
  f.phase = r.number<std::uint8_t>();
  const auto flags = r.number<std::uint8_t>();
  f.visibility_touched = (flags & 1) != 0;
  f.group = r.raw(r.number<std::uint8_t>());
  if ((flags & 2) != 0) f.restored = get_history(r);
  if ((flags & 4) != 0) f.lineage_mark = r.number<std::uint32_t>();
  return f;
}

WaitingMessage get_waiting(Reader& r, const WaitingMessage& before) {
  WaitingMessage m = before;
  const auto what = r.number<std::uint8_t>();
  if (what > differs::kAll) r.refuse();
  m.key = (what & differs::kKey) != 0
              ? static_cast<MessageKey>(at_distance(number(before.key), r.varint()))
              : next(before.key);
  if ((what & differs::kQueue) != 0) m.queue = static_cast<QueueKey>(r.varint());
  if ((what & differs::kSegment) != 0) m.body.segment = static_cast<std::uint32_t>(r.varint());
  m.body.offset = at_distance(before.body.offset + before.body.size, r.varint());
  if ((what & differs::kSize) != 0) m.body.size = static_cast<std::uint32_t>(r.varint());
  if ((what & differs::kSent) != 0) {
    m.sent_at = Timestamp(at_distance(before.sent_at.ms(), r.varint()));
  }
  const std::uint64_t delay = (what & differs::kDelay) != 0 ? r.varint() : delay_of(before);
  m.visible_at = Timestamp(at_distance(m.sent_at.ms(), delay));
  m.lineage_mark = r.number<std::uint32_t>();
  return m;
}

WaitingSnapshot read_waiting_snapshot(Reader& r) {
  WaitingSnapshot f;
  const auto count = r.number<std::uint32_t>();
  f.messages.reserve(std::min<std::size_t>(count, r.left() / kWaitingMessageBytesMin));
  WaitingMessage before;
  while (f.messages.size() < count && r.ok()) {
    before = get_waiting(r, before);
    f.messages.push_back(before);
  }
  return f;
}

LineageContinued read_lineage_continued(Reader& r) {
  LineageContinued f{};
  f.key = r.number<MessageKey>();
  if (r.number<std::uint8_t>() != 0) f.archived_as = Uuid{r.array<16>()};
  f.history = get_history(r);
  return f;
}

ArchivedSnapshot read_archived_snapshot(Reader& r) {
  ArchivedSnapshot f{.sequence = r.number<std::uint64_t>()};
  f.restored = std::make_shared<ArchivedLineage>();
  f.restored->lineage = Uuid{r.array<16>()};
  f.restored->message_id = Uuid{r.array<16>()};
  f.restored->from = r.number<NameIndex>();
  f.restored->archived_wall = get_time(r);
  f.restored->restored_wall = get_time(r);
  f.restored->place = r.text();
  f.restored->history = *get_history(r);
  return f;
}

AttemptSnapshot read_attempt_snapshot(Reader& r) {
  AttemptSnapshot f{};
  f.queue = r.number<QueueKey>();
  f.attempt_id = r.text();
  f.expires = get_time(r);
  for (auto left = r.number<std::uint8_t>(); left > 0 && r.ok(); --left) {
    const auto key = r.number<MessageKey>();
    f.messages.emplace_back(key, r.number<std::uint32_t>());
  }
  return f;
}

Change read_change(Reader& r, journal::Location at, std::string_view payload,
                   const Damages& damages) {
  // Braced initialisers are evaluated left to right, so members are read in the order they were
  // written.
  switch (r.number<Tag>()) {
    case Tag::server_started:
      return ServerStarted{r.array<16>()};
    case Tag::name_learned:
      return NameLearned{r.number<NameIndex>(), r.text()};
    case Tag::queue_created:
      return get_queue_created(r);
    case Tag::queue_settings_changed:
      return QueueSettingsChanged{r.number<QueueKey>(), get_settings(r)};
    case Tag::queue_tags_changed:
      return QueueTagsChanged{r.number<QueueKey>(), get_tags(r)};
    case Tag::queue_deleted:
      return QueueDeleted{r.number<QueueKey>()};
    case Tag::queue_purged:
      return QueuePurged{r.number<QueueKey>()};
    case Tag::message_sent:
      return read_message_sent(r, at, payload, damages);
    case Tag::messages_received:
      return read_messages_received(r);
    case Tag::messages_received_isolated:
      return read_messages_received_isolated(r);
    case Tag::message_deleted:
      return MessageDeleted{r.number<QueueKey>(), r.number<MessageKey>()};
    case Tag::visibility_changed:
      return VisibilityChanged{r.number<QueueKey>(), r.number<MessageKey>(), get_time(r)};
    case Tag::message_returned:
      return VisibilityChanged{r.number<QueueKey>(), r.number<MessageKey>(), get_time(r), true};
    case Tag::receive_repeated:
      return read_receive_repeated(r);
    case Tag::message_dead_lettered_1:
      return MessageDeadLettered{r.number<MessageKey>(),
                                 r.number<QueueKey>(),
                                 r.number<QueueKey>(),
                                 r.number<std::uint64_t>()};
    case Tag::message_dead_lettered:
      return MessageDeadLettered{r.number<MessageKey>(),
                                 r.number<QueueKey>(),
                                 r.number<QueueKey>(),
                                 r.number<std::uint64_t>(),
                                 r.number<DeadLetterReason>()};
    case Tag::message_redriven_1:
      return read_message_redriven_1(r);
    case Tag::message_redriven:
      return read_message_redriven(r);
    case Tag::message_redriven_delayed:
      return read_message_redriven_delayed(r);
    case Tag::move_task_started_1:
      return get_task_started_1(r);
    case Tag::move_task_started:
      return get_task_started(r);
    case Tag::move_task_changed:
      return MoveTaskChanged{r.number<TaskKey>(),
                             r.number<TaskStatus>(),
                             r.number<std::uint32_t>(),
                             r.number<std::uint32_t>(),
                             r.text()};
    case Tag::error_learned_1:
      return read_error_learned_1(r);
    case Tag::error_learned:
      return read_error_learned(r);
    case Tag::failure_reported_1:
      return read_failure_reported_1(r);
    case Tag::failure_reported:
      return read_failure_reported(r);
    case Tag::failure_reported_in_batch:
      return read_failure_reported_in_batch(r);
    case Tag::message_discarded:
      return MessageDiscarded{r.number<MessageKey>(),
                              r.number<QueueKey>(),
                              r.number<QueueKey>(),
                              r.number<std::uint64_t>(),
                              r.number<NameIndex>(),
                              r.number<NameIndex>()};
    case Tag::message_restored:
      return MessageRestored{r.number<MessageKey>(),
                             r.number<QueueKey>(),
                             r.number<QueueKey>(),
                             r.number<std::uint64_t>(),
                             r.number<NameIndex>()};
    case Tag::message_damaged:
      return MessageDamaged{r.number<MessageKey>(),
                            r.number<QueueKey>(),
                            r.number<QueueKey>(),
                            r.number<std::uint64_t>(),
                            r.number<NameIndex>()};
    case Tag::message_edited: {
      MessageEdited f{};
      f.key = r.number<MessageKey>();
      f.actor = r.number<NameIndex>();
      f.reason = r.number<NameIndex>();
      f.body = read_replacement(r, at, payload, damages);
      return f;
    }
    case Tag::message_archived:
      return MessageArchived{r.number<QueueKey>(),
                             r.number<MessageKey>(),
                             r.number<std::uint64_t>(),
                             Uuid{r.array<16>()},
                             Uuid{r.array<16>()},
                             r.number<NameIndex>(),
                             r.number<NameIndex>(),
                             r.text()};
    case Tag::lineage_continued:
      return read_lineage_continued(r);
    case Tag::archived_snapshot:
      return read_archived_snapshot(r);
    case Tag::group_learned:
      return get_group_learned(r);
    case Tag::message_grouped:
      return MessageGrouped{
          r.number<MessageKey>(), r.number<QueueKey>(), r.number<FailureGroupKey>()};
    case Tag::message_settled:
      return MessageSettled{r.number<MessageKey>(),
                            r.number<QueueKey>(),
                            r.number<QueueKey>(),
                            r.number<std::uint64_t>()};
    case Tag::group_marked_1:
      return read_group_marked_1(r);
    case Tag::group_marked:
      return read_group_marked(r);
    case Tag::group_ruled:
      return read_group_ruled(r);
    case Tag::group_rule_applied:
      return GroupRuleApplied{r.number<QueueKey>(), r.number<std::uint32_t>()};
    case Tag::group_rule_removed:
      return GroupRuleRemoved{r.number<QueueKey>(), r.number<std::uint32_t>()};
    case Tag::group_snapshot_1:
      return read_group_snapshot_1(r);
    case Tag::processed_counted:
      return ProcessedCounted{r.number<QueueKey>(), r.text()};
    case Tag::entry_put:
      return EntryPut{r.number<EntryKind>(), r.text(), r.text()};
    case Tag::entry_removed:
      return EntryRemoved{r.number<EntryKind>(), r.text()};
    case Tag::group_snapshot:
      return read_group_snapshot(r);
    case Tag::message_tried:
      return MessageTried{r.number<QueueKey>(),
                          r.number<MessageKey>(),
                          r.number<NameIndex>(),
                          r.number<NameIndex>()};
    case Tag::code_deployed:
      return read_code_deployed(r);
    case Tag::code_use_snapshot:
      return read_code_use_snapshot(r);
    case Tag::move_task_ended:
      return MoveTaskEnded{r.number<TaskKey>(), r.number<TaskStatus>(), r.text()};
    case Tag::message_relocated: {
      MessageRelocated f{};
      f.key = r.number<MessageKey>();
      f.body = read_replacement(r, at, payload, damages);
      return f;
    }
    case Tag::time_passed:
      return TimePassed{};
    case Tag::server_reset:
      return ServerReset{};
    case Tag::checkpoint_begun_1:
      return CheckpointBegun{r.number<MessageKey>(),
                             r.number<QueueKey>(),
                             r.number<TaskKey>(),
                             r.number<std::uint32_t>(),
                             r.array<16>(),
                             ErrorKey::none,
                             FailureGroupKey::none,
                             true};
    case Tag::checkpoint_begun:
      return CheckpointBegun{r.number<MessageKey>(),
                             r.number<QueueKey>(),
                             r.number<TaskKey>(),
                             r.number<std::uint32_t>(),
                             r.array<16>(),
                             r.number<ErrorKey>(),
                             r.number<FailureGroupKey>()};
    case Tag::queue_snapshot:
      return QueueSnapshot{get_queue_created(r), get_time(r), get_time(r), get_time(r)};
    case Tag::message_snapshot:
      return read_message_snapshot(r);
    case Tag::waiting_snapshot:
      return read_waiting_snapshot(r);
    case Tag::dedup_snapshot:
      return DedupSnapshot{r.number<QueueKey>(),
                           {r.number<std::uint64_t>(), r.number<std::uint64_t>()},
                           get_time(r),
                           Uuid{r.array<16>()},
                           r.number<std::uint64_t>()};
    case Tag::attempt_snapshot:
      return read_attempt_snapshot(r);
    case Tag::task_snapshot_1:
      return read_task_snapshot_1(r);
    case Tag::task_snapshot:
      return read_task_snapshot(r);
    case Tag::deleted_name_snapshot: {
      QueueIdentity identity = get_identity(r);
      return DeletedNameSnapshot{std::move(identity), get_time(r)};
    }
    case Tag::checkpoint_messages_ended:
      return CheckpointMessagesEnded{};
    case Tag::checkpoint_counted:
      return CheckpointCounted{r.number<QueueKey>()};
    case Tag::checkpoint_ended:
      return CheckpointEnded{};
  }
  r.refuse();
  return CheckpointEnded{};
}

}  // namespace

std::span<const std::string_view> RecordEncoder::encode(const Stamp& stamp,
                                                        std::span<const Change> changes) {
  scratch_.clear();
  parts_.clear();
  stored_.clear();
  flushed_ = external_bytes_ = 0;
  Writer w(scratch_);
  put(w, stamp.now);
  put(w, stamp.wall);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto note_stored = [&](std::size_t head_size, std::string_view tail) {
      stored_.push_back(
          {.change = i,
           .offset = static_cast<std::uint32_t>(scratch_.size() - head_size + external_bytes_),
           .size = static_cast<std::uint32_t>(head_size + tail.size())});
      add_external(tail);
    };
    if (const auto* sent = changes[i].as<MessageSent>()) {
      w.number(Tag::message_sent);
      encode_message_head(scratch_,
                          {.key = sent->key,
                           .queue = sent->queue,
                           .message_id = sent->message_id,
                           .sent_wall = stamp.wall,
                           .visible_at = sent->visible_at,
                           .contents = {},
                           .tail_crc = sent->tail_crc,
                           .tail = sent->tail});
      note_stored(kMessageHeadBytes, sent->tail);
    } else if (const auto* relocated = changes[i].as<MessageRelocated>()) {
      w.number(Tag::message_relocated);
      w.number(relocated->key);
      note_stored(0, relocated->stored);
    } else if (const auto* edited = changes[i].as<MessageEdited>()) {
      w.number(Tag::message_edited);
      w.number(edited->key);
      w.number(edited->actor);
      w.number(edited->reason);
      note_stored(0, edited->stored);
    } else {
      changes[i].visit([&]<class Fact>(const Fact& fact) {
        constexpr bool kAbove = std::is_same_v<Fact, MessageSent> ||
                                std::is_same_v<Fact, MessageRelocated> ||
                                std::is_same_v<Fact, MessageEdited>;
        if constexpr (!kAbove) write(w, fact);
      });
    }
  }
  flush_to(scratch_.size());
  views_.clear();
  for (const Part& part : parts_) {
    views_.emplace_back(part.external != nullptr ? part.external : scratch_.data() + part.offset,
                        part.size);
  }
  return views_;
}

void RecordEncoder::flush_to(std::size_t end) {
  if (end > flushed_)
    parts_.push_back({.external = nullptr, .offset = flushed_, .size = end - flushed_});
  flushed_ = end;
}

void RecordEncoder::add_external(std::string_view bytes) {
  if (bytes.empty()) return;
  flush_to(scratch_.size());
  parts_.push_back({.external = bytes.data(), .offset = 0, .size = bytes.size()});
  external_bytes_ += bytes.size();
}

namespace {

using VisitFact = std::function<void(const Change&, const Stamp&)>;

// Returns false if the payload is not a timestamp followed by facts.
bool read_record(journal::Location at, std::string_view payload, const VisitFact& visit,
                 const Damages& damages) {
  Reader reader(payload);
  const Timestamp now = get_time(reader);
  const Stamp stamp{.now = now, .wall = get_time(reader)};
  while (reader.ok() && !reader.done()) {
    const Change change = read_change(reader, at, payload, damages);
    if (reader.ok()) visit(change, stamp);
  }
  return reader.ok();
}

}  // namespace

Result<void> decode_record(journal::Location at, std::string_view payload, const VisitFact& visit,
                           std::vector<journal::Stretch>* damaged) {
  if (read_record(at, payload, visit, {.found = damaged})) return {};
  return fail(ErrorCode::storage_damaged,
              fmt::format("segment {}, offset {}: a record with a valid checksum contains facts "
                          "that this version cannot read",
                          at.segment,
                          at.offset));
}

std::vector<journal::Stretch> explain_damage(std::string_view payload) {
  std::vector<journal::Stretch> found;
  const auto ignore = [](const Change&, const Stamp&) {};
  if (!read_record({}, payload, ignore, {.found = &found, .thorough = true})) return {};
  return found;
}

}  // namespace redrive::store
