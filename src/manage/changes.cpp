#include "manage/changes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/calendar.h"
#include "base/text.h"
#include "manage/operations.h"

namespace redrive::manage {
namespace {

constexpr int kWaitSecondsMax = 20;
// The age of the oldest message grows by itself: it makes a row new only that often.
constexpr std::int64_t kAgeSteps = 15;

constexpr std::size_t kJobsMax = 500;

enum Topic : std::size_t { kQueues, kGroups, kJobs, kAlarms, kHandlers };

template <class Document>
ChangeRow row_of(Call& call, std::string key, Document document) {
  call.masking.apply(document);
  ChangeRow row{.key = std::move(key)};
  wire::encode_json(row.json, document);
  row.version = row.json;
  return row;
}

ChangeRow queue_row(Call& call, documents::QueueOverview queue) {
  ChangeRow row = row_of(call, std::string(queue.name), queue);
  queue.oldest_age_seconds /= kAgeSteps;
  row.version.clear();
  wire::encode_json(row.version, queue);
  return row;
}

std::string key_of(const documents::HandlerOverview& handler) {
  return std::string(handler.mapping.value_or(handler.function));
}

Result<void> read_overview(Call& call, ChangeRows& rows) {
  const auto seen = TRY(overview(call, kOverviewQueuesMax));
  for (const auto& queue : seen.queues) rows[kQueues].push_back(queue_row(call, queue));
  for (const auto& handler : seen.handlers) {
    rows[kHandlers].push_back(row_of(call, key_of(handler), handler));
  }
  return {};
}

// The latest come first.
Result<void> read_jobs(Call& call, ChangeRows& rows) {
  auto jobs = TRY(list_jobs(call)).jobs;
  if (jobs.size() > kJobsMax) jobs.resize(kJobsMax);
  for (const auto& job : jobs) rows[kJobs].push_back(row_of(call, std::string(job.id), job));
  return {};
}

Result<ChangeLog::Topics> topics_of(const Call& call) {
  ChangeLog::Topics topics{};
  const std::string named = call.query("topics");
  if (named.empty()) topics.fill(true);
  for (const std::string_view name : split(named, ',')) {
    const auto found = std::ranges::find(kTopics, name);
    if (found != kTopics.end()) {
      topics[static_cast<std::size_t>(found - kTopics.begin())] = true;
    } else if (!name.empty()) {
      return fail(ErrorCode::invalid_parameter_value,
                  fmt::format("`topics` can have {}.", fmt::join(kTopics, ", ")));
    }
  }
  return topics;
}

}  // namespace

Result<ChangeFeed::Question> changes_question(const Call& call) {
  const std::string wait = call.query("wait");
  const auto seconds = wait.empty() ? std::optional(0) : parse_int<int>(wait);
  if (!seconds || *seconds < 0 || *seconds > kWaitSecondsMax) {
    return fail(ErrorCode::invalid_parameter_value,
                fmt::format("`wait` must be a number of seconds from 0 to {}.", kWaitSecondsMax));
  }
  const front::Caller& caller = call.caller;
  return ChangeFeed::Question{
      .cursor = call.query("after"),
      .topics = TRY(topics_of(call)),
      .wait = std::chrono::seconds(*seconds),
      .viewer = fmt::format("{} {} {} {}",
                            caller.key == nullptr ? std::string_view() : caller.key->id,
                            caller.account,
                            caller.region,
                            call.masking.asked_for_secrets())};
}

Result<ChangeRows> change_rows(Call& call) {
  ChangeRows rows;
  RETURN_IF_ERROR(read_overview(call, rows));
  RETURN_IF_ERROR(read_jobs(call, rows));
  for (const auto& group : TRY(list_all_groups(call)).groups) {
    rows[kGroups].push_back(row_of(call, fmt::format("{} {}", group.queue, group.id), group));
  }
  if (call.parts.watcher != nullptr) {
    for (const auto& alarm : TRY(list_alarms(call)).alarms) {
      rows[kAlarms].push_back(row_of(call, std::string(alarm.name), alarm));
    }
  }
  return rows;
}

std::string changes_document(Timestamp now, std::string_view members) {
  return fmt::format(R"({{"now":"{}",{}}})", format_utc(now), members);
}

}  // namespace redrive::manage
