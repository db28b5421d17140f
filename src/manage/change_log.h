#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redrive::manage {

// The kinds of rows that GET changes reports, as its `topics` call them.
inline constexpr std::array<std::string_view, 5> kTopics = {
    "queues", "groups", "jobs", "alarms", "handlers"};

// One row of an overview, encoded.
struct ChangeRow {
  std::string key;      // Unique within its topic.
  std::string version;  // Differs whenever the row is worth sending again.
  std::string json;
};
using ChangeRows = std::array<std::vector<ChangeRow>, kTopics.size()>;

// What one viewer sees, and in which order its rows changed: the server's side of a change feed.
//
// Every change of a row gets the next number. A cursor is the number up to which a client has seen
// the changes, so an answer holds exactly the rows with higher numbers. Not thread-safe.
class ChangeLog {
 public:
  static constexpr std::size_t kGoneMax = 1'000;
  static constexpr std::size_t kAnswerBytesMax = 64u << 10;

  // `epoch` names this log: a cursor of another one (before a restart, say) counts as none.
  explicit ChangeLog(std::string epoch) : epoch_(std::move(epoch)) {}

  // These are the rows now.
  void update(ChangeRows rows);

  using Topics = std::array<bool, kTopics.size()>;
  // Whether anything changed after the cursor.
  bool has_news(std::string_view cursor, const Topics& topics) const;
  // The members of the answer, without its braces: cursor, rows by topic, gone, reset. Rows beyond
  // kAnswerBytesMax are left for the next request, except after a reset, which has all rows.
  std::string answer(std::string_view cursor, const Topics& topics) const;

 private:
  struct Kept {
    std::string version;
    std::string json;
    std::uint64_t number;
  };
  struct Gone {
    std::size_t topic;
    std::string key;
    std::uint64_t number;
  };
  struct Change {
    std::uint64_t number;
    std::size_t topic;
    const std::string* json;  // Null: the row is gone.
    const std::string* key;
  };

  void update_topic(std::size_t topic, std::vector<ChangeRow> rows);
  void forget(std::size_t topic, const std::string& key);
  // The number of a cursor of this log whose changes are all known still.
  std::optional<std::uint64_t> number_of(std::string_view cursor) const;
  std::vector<Change> changes_after(std::uint64_t number, const Topics& topics) const;

  const std::string epoch_;
  std::uint64_t last_ = 0;
  std::uint64_t gone_before_ = 0;  // Rows that were gone at this number are no longer known.
  std::array<std::map<std::string, Kept>, kTopics.size()> rows_;
  std::deque<Gone> gone_;  // Oldest first.
};

}  // namespace redrive::manage
