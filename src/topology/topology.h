#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/time.h"

namespace redrive::topology {

// Where a queue's failures go.
struct RedriveTarget {
  std::string arn;
  std::int64_t receive_count_max = 0;
};

// Which queues may choose this one for their failures.
struct AllowPolicy {
  enum class Permission : std::uint8_t { all, none, by_queue };

  Permission permission = Permission::all;
  std::vector<std::string> source_arns;  // Of by_queue.

  bool admits(std::string_view source_arn) const;
};

// What the SQS API tells about a queue, as far as rules and drawings need it.
struct Queue {
  std::string arn;
  bool fifo = false;
  std::int64_t visible = 0;
  std::int64_t in_flight = 0;
  std::int64_t delayed = 0;
  Duration retention{};
  Duration visibility_timeout{};
  std::optional<RedriveTarget> target;
  AllowPolicy allow;
  // Until the oldest message expires; not every server can tell.
  std::optional<Duration> oldest_expires_in;
  std::int64_t damaged = 0;  // Messages whose bytes its server cannot read any more.
  // Whether somebody is told of dead letters in it; not every server can tell.
  std::optional<bool> alarmed;

  std::string_view name() const;
  std::int64_t messages() const { return visible + in_flight + delayed; }
};

// What feeds a function from a queue.
struct Handler {
  std::string mapping;  // Its id.
  std::string queue_arn;
  std::string function;  // Its name.
  bool enabled = true;
  // Of the function; absent: there is none of that name.
  std::optional<Duration> timeout;
  Duration window{};  // For which a batch is gathered.
  std::int64_t batch_size = 1;
  bool item_failures = false;  // It reports which messages of a batch failed.
  bool bisects = false;        // A batch that failed is halved.
  bool isolates = false;       // Messages of a batch that failed run alone.
  // The most retries of one error that its rules ask for.
  std::optional<std::int64_t> retries;
  std::int64_t messages = 0;        // Handed to it since the server started, as far as is known.
  std::int64_t failed = 0;          // Of those.
  bool stuck = false;               // Enabled, and yet the server cannot follow it.
  bool short_of_processes = false;  // It waits for function processes of the server.
};

// A target that an alarm notifies, and what became of the latest notice for it.
struct NoticeTarget {
  std::string alarm;
  std::string queue;   // Name of the queue that the alarm watches; may be empty.
  std::string target;  // Secrets masked.
  std::string state;   // As the management API names it.
  std::string error;
};

// The name at the end of an ARN.
std::string_view name_of_arn(std::string_view arn);

// Queues and the arrows between them.
class Topology {
 public:
  // `unseen` are dead-letter queues that there may be although nothing is known of them: those of
  // somebody who does not let us look.
  explicit Topology(std::vector<Queue> queues, std::vector<std::string> unseen = {},
                    std::vector<Handler> handlers = {});

  // In order of their names.
  const std::vector<Queue>& queues() const { return queues_; }
  const Queue* find(std::string_view arn) const;
  // In order of their queues and functions.
  const std::vector<Handler>& handlers() const { return handlers_; }
  std::vector<const Handler*> handlers_of(std::string_view queue_arn) const;
  bool is_unseen(std::string_view arn) const;
  void set_notice_targets(std::vector<NoticeTarget> targets) {
    notice_targets_ = std::move(targets);
  }
  const std::vector<NoticeTarget>& notice_targets() const { return notice_targets_; }
  // Where its failures go; nothing if they go nowhere, or to a queue that is not known.
  const Queue* target_of(const Queue& queue) const;
  std::vector<const Queue*> sources_of(std::string_view arn) const;
  bool is_dead_letter_queue(const Queue& queue) const { return sources_.contains(queue.arn); }
  // The queues that follow on each other from this one until it is reached again, itself first.
  // Empty if it is in no loop.
  std::vector<const Queue*> loop_of(const Queue& queue) const;

 private:
  std::vector<Queue> queues_;
  std::vector<std::string> unseen_;
  std::vector<Handler> handlers_;
  std::vector<NoticeTarget> notice_targets_;
  std::unordered_map<std::string, std::size_t> by_arn_;                // Into queues_.
  std::unordered_map<std::string, std::vector<std::size_t>> sources_;  // By the target's ARN.
};

}  // namespace redrive::topology
