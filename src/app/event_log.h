#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/time.h"
#include "core/engine/notice.h"
#include "manage/documents/logs.h"

namespace redrive::app {

enum class LogFormat : std::uint8_t { text, json };

// The server's log, on standard error and, its last lines, in memory for `redrive logs`.
//
// spdlog carries the lines, from any thread. A line is a sentence and fields; as text the fields
// stand behind it as name=value, as JSON they are members.
class EventLog {
 public:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  // Takes the place of spdlog's default logger.
  EventLog(LogFormat format, std::string_view level);

  // Writes an event of the engine. Of swarms and faults, ten lines per second are written and the
  // rest is counted.
  void write(const engine::Notice& notice);
  // Lines after that number which are still kept.
  std::vector<documents::KeptLogLine> after(std::uint64_t number, std::size_t max) const;

 private:
  class Recent;

  // Lines of one kind that may come by the thousand.
  struct Swarm {
    std::int64_t second = 0;
    std::uint64_t lines = 0;  // In that second.
    std::uint64_t left_out = 0;

    // The number of lines dropped since the last admitted one; none: this line is dropped too.
    std::optional<std::uint64_t> admit(std::int64_t now_second);
  };
  Swarm* swarm_of(engine::Notice::Weight weight);

  std::shared_ptr<Recent> recent_;
  Mutex swarm_mutex_;
  Swarm swarm_ GUARDED_BY(swarm_mutex_);
  Swarm faults_ GUARDED_BY(swarm_mutex_);
};

}  // namespace redrive::app
