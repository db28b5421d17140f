#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/time.h"

namespace redrive::topology {

// A queue's dead-letter queue.
struct RedriveTarget {
  std::string arn;
  std::int64_t receive_count_max = 0;
};

// Which queues may use this one as their dead-letter queue.
struct AllowPolicy {
  enum class Permission : std::uint8_t { all, none, by_queue };

  Permission permission = Permission::all;
  std::vector<std::string> source_arns;  // For by_queue.

  bool admits(std::string_view source_arn) const;
};

// A queue's attributes from the SQS API, as needed by rules and drawings.
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
  // Time until the oldest message expires; not available from every server.
  std::optional<Duration> oldest_expires_in;
  std::int64_t damaged = 0;  // Unreadable messages.
  // Whether an alarm watches it for dead letters; not available from every server.
  std::optional<bool> alarmed;

  std::string_view name() const;
  std::int64_t messages() const { return visible + in_flight + delayed; }
};

// An event source mapping.
struct Handler {
  std::string mapping;  // UUID
  std::string queue_arn;
  std::string function;  // Name
  bool enabled = true;
  // The function's timeout; nullopt if the function does not exist.
  std::optional<Duration> timeout;
  Duration window{};  // Batching window.
  std::int64_t batch_size = 1;
  bool item_failures = false;  // It reports which messages of a batch failed.
  bool bisects = false;        // A failed batch is split in half.
  bool isolates = false;       // Messages of a failed batch are run one by one.
  // The highest number of retries among its rules.
  std::optional<std::int64_t> retries;
  std::int64_t messages = 0;        // Delivered since the server started, as far as known.
  std::int64_t failed = 0;          // Of those.
  bool stuck = false;               // Enabled, but the server cannot run it.
  bool short_of_processes = false;  // It waits for function processes.
};

// A target notified by an alarm, and the state of its latest notice.
struct NoticeTarget {
  std::string alarm;
  std::string queue;   // Queue watched by the alarm; may be empty.
  std::string target;  // Secrets masked.
  std::string state;   // As in the management API.
  std::string error;
};

// Unreadable events of a function's asynchronous invocations.
struct DamagedEvents {
  std::string function;  // With its qualifier.
  std::int64_t events = 0;
};

// A file of the server with secrets of access keys that more users than its owner can read.
struct ExposedKeyFile {
  std::string path;
  bool to_others = false;  // To all users; otherwise to its group.
};

// The name at the end of an ARN.
std::string_view name_of_arn(std::string_view arn);

// Queues and the dead-letter relations between them.
class Topology {
 public:
  // `unseen`: dead-letter queues that may exist although we are not allowed to see them, because
  // they belong to another account.
  explicit Topology(std::vector<Queue> queues, std::vector<std::string> unseen = {},
                    std::vector<Handler> handlers = {});

  // Sorted by name.
  const std::vector<Queue>& queues() const { return queues_; }
  const Queue* find(std::string_view arn) const;
  // Sorted by queue and function.
  const std::vector<Handler>& handlers() const { return handlers_; }
  std::vector<const Handler*> handlers_of(std::string_view queue_arn) const;
  bool is_unseen(std::string_view arn) const;
  void set_notice_targets(std::vector<NoticeTarget> targets) {
    notice_targets_ = std::move(targets);
  }
  const std::vector<NoticeTarget>& notice_targets() const { return notice_targets_; }
  void set_damaged_events(std::vector<DamagedEvents> damaged) {
    damaged_events_ = std::move(damaged);
  }
  const std::vector<DamagedEvents>& damaged_events() const { return damaged_events_; }
  void set_exposed_key_files(std::vector<ExposedKeyFile> files) {
    exposed_key_files_ = std::move(files);
  }
  const std::vector<ExposedKeyFile>& exposed_key_files() const { return exposed_key_files_; }
  // Its dead-letter queue; null if it has none or it is unknown.
  const Queue* target_of(const Queue& queue) const;
  std::vector<const Queue*> sources_of(std::string_view arn) const;
  bool is_dead_letter_queue(const Queue& queue) const { return sources_.contains(queue.arn); }
  // The dead-letter loop that starts with this queue, itself first. Empty if it is not in a loop.
  std::vector<const Queue*> loop_of(const Queue& queue) const;

 private:
  std::vector<Queue> queues_;
  std::vector<std::string> unseen_;
  std::vector<Handler> handlers_;
  std::vector<NoticeTarget> notice_targets_;
  std::vector<DamagedEvents> damaged_events_;
  std::vector<ExposedKeyFile> exposed_key_files_;
  std::unordered_map<std::string, std::size_t> by_arn_;                // Into queues_.
  std::unordered_map<std::string, std::vector<std::size_t>> sources_;  // By the target's ARN.
};

}  // namespace redrive::topology
