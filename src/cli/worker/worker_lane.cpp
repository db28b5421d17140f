#include "cli/worker/worker_lane.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/client/letter.h"
#include "cli/client/queue_name.h"
#include "cli/client/retry.h"
#include "manage/documents/lineage.h"
#include "manage/documents/moves.h"

namespace redrive::cli {
namespace {

constexpr std::uint64_t kReceiveMax = 10;
constexpr std::string_view kGone = "ResourceNotFoundException";

// The only change to a letter that goes back is its count.
documents::Move move_of(std::string_view receipt, const LetterToSend& sent,
                        const WorkerTask& task) {
  documents::Move move{.receipt_handle = receipt, .destination = task.atomic->destination_arn};
  if (sent.trace) {
    move.trace_header = *sent.trace;
  } else if (const auto* counter = sent.letter.attribute(archive::kRetryCount)) {
    move.set_attributes.emplace_back(counter->name,
                                     sqs::MessageAttributeValue{.data_type = counter->data_type,
                                                                .string_value = counter->value});
  }
  const bool fifo = is_fifo_name(queue_name_of(task.source_url));
  if (!fifo && sent.delay_seconds > 0) move.delay_seconds = sent.delay_seconds;
  return move;
}

}  // namespace

// A received letter and the decision about it.
struct WorkerLane::Item {
  std::string receipt;
  LetterToSend sent;
  archive::RetryDecision decision;
  bool copied = false;  // The copy is confirmed, so the original may be deleted.
  std::string place;    // Key in the archive.
};

// --- Shared by the lanes ---

WorkerBoard::WorkerBoard(Session& session, const WorkerTask& task,
                         std::optional<std::uint64_t> expected)
    : session_(session),
      progress_(session.terminal(), session.world.clock, expected, "handled"),
      claims_left_(task.messages_max) {}

std::uint64_t WorkerBoard::claim() {
  const MutexLock lock(mutex_);
  if (!claims_left_) return kReceiveMax;
  const std::uint64_t claims = std::min(kReceiveMax, *claims_left_);
  *claims_left_ -= claims;
  return claims;
}

void WorkerBoard::give_back(std::uint64_t claims) {
  const MutexLock lock(mutex_);
  if (claims_left_) *claims_left_ += claims;
}

void WorkerBoard::add(const WorkerCounts& more) {
  const MutexLock lock(mutex_);
  counts_.returned += more.returned;
  counts_.archived += more.archived;
  counts_.skipped += more.skipped;
  counts_.failed += more.failed;
  counts_.unreadable_counters += more.unreadable_counters;
  counts_.counters_in_trace += more.counters_in_trace;
  counts_.not_deleted += more.not_deleted;
  progress_.update(counts_.handled());
}

void WorkerBoard::tell(const std::string& line) {
  const MutexLock lock(mutex_);
  progress_.clear();
  session_.terminal().err << harmless(line) << "\n";
}

void WorkerBoard::hold(std::string receipt) {
  const MutexLock lock(mutex_);
  held_.push_back(std::move(receipt));
}

std::vector<std::string> WorkerBoard::take_held() {
  const MutexLock lock(mutex_);
  return std::exchange(held_, {});
}

WorkerCounts WorkerBoard::finish() {
  const MutexLock lock(mutex_);
  progress_.clear();
  return counts_;
}

// --- A lane ---

// Retries transient failures with increasing delays.
template <class Call>
auto WorkerLane::persist(Call call) -> decltype(call()) {
  Backoff backoff(ids_, parts_.session.world.sleep);
  while (true) {
    auto answer = call();
    if (answer || !worth_retrying(answer.error()) || !backoff.again()) return answer;
  }
}

Answer<void> WorkerLane::run() {
  const Interrupt& interrupt = parts_.session.world.interrupt;
  while (!interrupt.requested()) {
    const std::uint64_t claims = parts_.board.claim();
    if (claims == 0) return {};
    const bool found = TRY(turn(claims));
    if (!found && parts_.task.until_empty) return {};
  }
  return {};
}

// Returns false if there was nothing to do.
Answer<bool> WorkerLane::turn(std::uint64_t claims) {
  const WorkerTask& task = parts_.task;
  const auto reply = TRY(persist([&] {
    return parts_.service.call<sqs::ReceiveMessage>(
        {.queue_url = task.dlq_url,
         .message_system_attribute_names = {"All"},
         .message_attribute_names = {"All"},
         .max_number_of_messages = static_cast<std::int32_t>(claims),
         .visibility_timeout = task.visibility_seconds,
         .wait_time_seconds = task.wait_seconds});
  }));
  std::vector<Item> items;
  WorkerCounts counts;
  for (const auto& message : reply->messages) {
    archive::Letter letter = letter_of(message);
    if (task.filter && !fits(*task.filter, letter)) {
      ++counts.skipped;
      if (task.until_empty) parts_.board.hold(std::string(message.receipt_handle));
      continue;
    }
    Item& item = items.emplace_back();
    item.receipt = message.receipt_handle;
    item.decision = archive::decide_retry(std::move(letter), task.rules);
  }
  parts_.board.add(counts);
  parts_.board.give_back(claims - items.size());
  if (task.dry_run) {
    show(items);
  } else if (!items.empty()) {
    RETURN_IF_ERROR(process(items));
  }
  return !reply->messages.empty();
}

void WorkerLane::show(const std::vector<Item>& items) {
  WorkerCounts counts;
  for (const Item& item : items) {
    const bool returns = item.decision.fate == archive::Fate::retry;
    ++(returns ? counts.returned : counts.archived);
    parts_.board.hold(item.receipt);
    parts_.board.tell(fmt::format("would {} {} (retryCount {})",
                                  returns ? "return" : "archive",
                                  item.decision.letter.message_id,
                                  item.decision.carried));
  }
  parts_.board.add(counts);
}

Answer<void> WorkerLane::process(std::vector<Item>& items) {
  parts_.session.world.sleep(parts_.pace.before(items.size()));
  WorkerCounts counts;
  std::vector<Item*> returning;
  std::vector<Item*> spent;
  for (Item& item : items) {
    const archive::RetryDecision& decision = item.decision;
    if (decision.counter_was_unreadable) ++counts.unreadable_counters;
    if (decision.fate == archive::Fate::archive) {
      spent.push_back(&item);
      continue;
    }
    if (decision.trace) ++counts.counters_in_trace;
    item.sent = {.letter = decision.letter,
                 .trace = decision.trace,
                 .deduplication = archive::retry_deduplication_id(decision.letter.message_id,
                                                                  decision.carried + 1),
                 .delay_seconds = decision.delay_seconds};
    returning.push_back(&item);
  }
  const auto sent =
      parts_.task.atomic ? move_back(returning, counts) : send_back(std::move(returning), counts);
  put_away(spent, counts);
  const auto let_gone = parts_.task.atomic ? let_go(spent, counts) : Answer<void>();
  const auto removed = remove(items, counts);
  parts_.board.add(counts);
  RETURN_IF_ERROR(sent);
  RETURN_IF_ERROR(let_gone);
  return removed;
}

Answer<void> WorkerLane::send_back(std::vector<Item*> items, WorkerCounts& counts) {
  Backoff backoff(ids_, parts_.session.world.sleep);
  Answer<void> sent;
  while (!items.empty()) {
    std::vector<const LetterToSend*> letters;
    for (const Item* item : items) letters.push_back(&item->sent);
    std::vector<SendOutcome> outcomes;
    sent = send_letters(parts_.service, parts_.task.source_url, letters, outcomes);
    const bool may_try = sent || worth_retrying(sent.error());
    const bool last = !may_try || backoff.spent();
    std::vector<Item*> again;
    for (std::size_t i = 0; i < items.size(); ++i) {
      items[i]->copied = outcomes[i].confirmed;
      if (outcomes[i].confirmed) {
        ++counts.returned;
      } else if (!last && (!sent || outcomes[i].may_retry)) {
        again.push_back(items[i]);
      } else {
        stays(*items[i], sent ? outcomes[i].reason : sent.error().message, counts);
      }
    }
    items = std::move(again);
    if (!items.empty()) backoff.again();
  }
  return sent;
}

void WorkerLane::stays(const Item& item, std::string_view reason, WorkerCounts& counts) {
  ++counts.failed;
  parts_.board.tell(fmt::format("{} stays: {}", item.decision.letter.message_id, reason));
}

Answer<void> WorkerLane::move_back(const std::vector<Item*>& items, WorkerCounts& counts) {
  if (items.empty()) return {};
  documents::MoveRequest request{.moves = {}, .reason = "redrive worker"};
  for (const Item* item : items) {
    request.moves.push_back(move_of(item->receipt, item->sent, parts_.task));
  }
  std::string body;
  wire::encode_json(body, request);
  int attempts = 0;
  const auto reply = persist([&] {
    ++attempts;
    return parts_.service.manage<documents::MoveResults>(
        "POST", parts_.task.atomic->path("moves"), body);
  });
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!reply) {
      stays(*items[i], reply.error().message, counts);
      continue;
    }
    const auto& results = (*reply)->results;
    const documents::MoveResult result = i < results.size() ? results[i] : documents::MoveResult{};
    // The response to an earlier attempt, which did move the message, may have been lost.
    const bool moved = result.message_id || (attempts > 1 && result.code == kGone);
    moved ? void(++counts.returned) : stays(*items[i], result.message, counts);
  }
  if (!reply) return std::unexpected(reply.error());
  return {};
}

// The lineage of each letter as JSON; empty if unknown.
std::vector<std::string> WorkerLane::lineages_of(const std::vector<Item*>& items) {
  std::vector<std::string> lineages(items.size());
  if (!parts_.task.atomic) return lineages;
  documents::HandleList request;
  for (const Item* item : items) request.receipt_handles.push_back(item->receipt);
  std::string body;
  wire::encode_json(body, request);
  const auto reply = persist([&] {
    return parts_.service.manage<documents::HeldLineages>(
        "POST", parts_.task.atomic->path("lineages") + "?unmasked=true", body);
  });
  if (!reply) return lineages;
  const auto& messages = (*reply)->messages;
  for (std::size_t i = 0; i < std::min(items.size(), messages.size()); ++i) {
    if (messages[i].lineage) wire::encode_json(lineages[i], *messages[i].lineage);
  }
  return lineages;
}

void WorkerLane::put_away(const std::vector<Item*>& items, WorkerCounts& counts) {
  if (items.empty()) return;
  std::vector<std::string> lineages = lineages_of(items);
  std::vector<archive::NewDocument> documents;
  for (std::size_t i = 0; i < items.size(); ++i) {
    archive::ArchivedLetter archived{.letter = items[i]->decision.letter,
                                     .source = parts_.task.source_url,
                                     .dlq = parts_.task.dlq_url,
                                     .lineage = std::move(lineages[i])};
    if (items[i]->decision.trace) {
      auto& attributes = archived.letter.system_attributes;
      std::erase_if(attributes, [](const auto& one) { return one.first == "AWSTraceHeader"; });
      attributes.emplace_back("AWSTraceHeader", *items[i]->decision.trace);
    }
    const Timestamp time =
        archive::archive_time(archived.letter, parts_.session.world.clock.wall());
    documents.push_back(
        {.key = archive::archive_key(parts_.prefix, time, archived.letter.message_id),
         .text = archive::encode_archived(archived)});
  }
  const auto stored = parts_.target->put_all(documents);
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i]->place = parts_.location + "/" + documents[i].key;
    items[i]->copied = stored[i].has_value();
    stored[i] ? void(++counts.archived) : stays(*items[i], stored[i].error().message, counts);
  }
}

// With Redrive, an archived letter leaves its queue with a record of its location.
Answer<void> WorkerLane::let_go(const std::vector<Item*>& items, WorkerCounts& counts) {
  documents::ArchivedRequest request{.messages = {}, .reason = "redrive worker"};
  std::vector<Item*> gone;
  for (Item* item : items) {
    if (!item->copied) continue;
    item->copied = false;  // remove() must not delete it.
    gone.push_back(item);
    request.messages.push_back({.receipt_handle = item->receipt, .place = item->place});
  }
  if (gone.empty()) return {};
  std::string body;
  wire::encode_json(body, request);
  int attempts = 0;
  const auto reply = persist([&] {
    ++attempts;
    return parts_.service.manage<documents::ArchivedResults>(
        "POST", parts_.task.atomic->path("archived"), body);
  });
  if (!reply && reply.error().kind == Failure::Kind::refused) {
    for (Item* item : gone) item->copied = true;  // Not supported: delete it as with any server.
    return {};
  }
  if (!reply) {
    counts.not_deleted += gone.size();
    return std::unexpected(reply.error());
  }
  const auto& results = (*reply)->results;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    const bool told = i < results.size();
    // The response to an earlier attempt, which did release the message, may have been lost.
    if (told && (results[i].archived || (attempts > 1 && results[i].code == kGone))) continue;
    ++counts.not_deleted;
    parts_.board.tell(fmt::format("archived, but not deleted: {}: {}",
                                  gone[i]->decision.letter.message_id,
                                  told ? results[i].message : "the server gave no reason"));
  }
  return {};
}

// A letter that could not be deleted becomes visible after its visibility timeout and is then a
// duplicate.
Answer<void> WorkerLane::remove(const std::vector<Item>& items, WorkerCounts& counts) {
  sqs::DeleteMessageBatchInput input{.queue_url = parts_.task.dlq_url};
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < items.size(); ++i) ids.push_back(std::to_string(i));
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].copied)
      input.entries.push_back({.id = ids[i], .receipt_handle = items[i].receipt});
  }
  if (input.entries.empty()) return {};
  const auto reply = persist([&] { return parts_.service.call<sqs::DeleteMessageBatch>(input); });
  if (!reply) {
    counts.not_deleted += input.entries.size();
    return std::unexpected(reply.error());
  }
  for (const auto& failed : (*reply)->failed) {
    ++counts.not_deleted;
    parts_.board.tell(fmt::format("copied, but not deleted: {}: {}", failed.code, failed.message));
  }
  return {};
}

}  // namespace redrive::cli
