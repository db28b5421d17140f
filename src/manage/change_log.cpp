#include "manage/change_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "net/wire/encode.h"

namespace redrive::manage {

void ChangeLog::forget(std::size_t topic, const std::string& key) {
  rows_[topic].erase(key);
  gone_.push_back({topic, key, ++last_});
  if (gone_.size() <= kGoneMax) return;
  gone_before_ = gone_.front().number;
  gone_.pop_front();
}

void ChangeLog::update_topic(std::size_t topic, std::vector<ChangeRow> rows) {
  std::set<std::string> left;
  for (const auto& [key, kept] : rows_[topic]) left.insert(key);
  for (ChangeRow& row : rows) {
    left.erase(row.key);
    Kept& kept = rows_[topic][std::move(row.key)];
    if (kept.number != 0 && kept.version == row.version) continue;
    kept = {.version = std::move(row.version), .json = std::move(row.json), .number = ++last_};
  }
  for (const std::string& key : left) forget(topic, key);
}

void ChangeLog::update(ChangeRows rows) {
  for (std::size_t topic = 0; topic < rows.size(); ++topic) {
    update_topic(topic, std::move(rows[topic]));
  }
  // A row that exists again is not gone.
  std::erase_if(gone_, [&](const Gone& gone) { return rows_[gone.topic].contains(gone.key); });
}

std::optional<std::uint64_t> ChangeLog::number_of(std::string_view cursor) const {
  const std::size_t dash = cursor.rfind('-');
  if (dash == cursor.npos || cursor.substr(0, dash) != epoch_) return std::nullopt;
  const auto number = parse_int<std::uint64_t>(cursor.substr(dash + 1));
  if (!number || *number > last_ || *number < gone_before_) return std::nullopt;
  return number;
}

std::vector<ChangeLog::Change> ChangeLog::changes_after(std::uint64_t number,
                                                        const Topics& topics) const {
  std::vector<Change> found;
  for (std::size_t topic = 0; topic < topics.size(); ++topic) {
    if (!topics[topic]) continue;
    for (const auto& [key, kept] : rows_[topic]) {
      if (kept.number > number) found.push_back({kept.number, topic, &kept.json, &key});
    }
  }
  for (const Gone& gone : gone_) {
    if (gone.number > number && topics[gone.topic]) {
      found.push_back({gone.number, gone.topic, nullptr, &gone.key});
    }
  }
  std::ranges::sort(found, {}, &Change::number);
  return found;
}

bool ChangeLog::has_news(std::string_view cursor, const Topics& topics) const {
  const auto number = number_of(cursor);
  return !number || !changes_after(*number, topics).empty();
}

std::string ChangeLog::answer(std::string_view cursor, const Topics& topics) const {
  const auto known = number_of(cursor);
  std::array<std::string, kTopics.size()> rows;
  std::array<std::string, kTopics.size()> gone;
  std::size_t bytes = 0;
  std::uint64_t reached = last_;
  const auto add = [&bytes](std::string& list, std::string_view json) {
    if (!list.empty()) list += ',';
    list += json;
    bytes += json.size() + 1;
  };
  for (const Change& change : changes_after(known.value_or(0), topics)) {
    if (!known && change.json == nullptr) continue;
    if (known && bytes > kAnswerBytesMax) {
      reached = change.number - 1;
      break;
    }
    if (change.json != nullptr) {
      add(rows[change.topic], *change.json);
      continue;
    }
    std::string key;
    wire::append_json_text(key, *change.key);
    add(gone[change.topic], key);
  }
  std::string out = fmt::format(R"("cursor":"{}-{}")", epoch_, reached);
  if (!known) out += R"(,"reset":true)";
  std::string gone_members;
  for (std::size_t topic = 0; topic < topics.size(); ++topic) {
    // After a reset an empty list says that there are none.
    if (topics[topic] && (!known || !rows[topic].empty())) {
      out += fmt::format(R"(,"{}":[{}])", kTopics[topic], rows[topic]);
    }
    if (!gone[topic].empty()) {
      gone_members += fmt::format(
          R"({}"{}":[{}])", gone_members.empty() ? "" : ",", kTopics[topic], gone[topic]);
    }
  }
  if (!gone_members.empty()) out += fmt::format(R"(,"gone":{{{}}})", gone_members);
  return out;
}

}  // namespace redrive::manage
