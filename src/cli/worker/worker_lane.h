#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "cli/client/pace.h"
#include "cli/client/session.h"
#include "cli/term/progress.h"
#include "dead_letters/archive/document.h"
#include "dead_letters/archive/retry_rules.h"
#include "dead_letters/archive/target.h"
#include "dead_letters/triage/filter.h"

namespace redrive::cli {

// A Redrive extension: moves a message from one queue to another in one step.
struct AtomicMoves {
  std::string queue_path;  // The dead-letter queue's path in the management API.
  std::string destination_arn;

  std::string path(std::string_view what) const { return queue_path + "/" + std::string(what); }
};

// The worker's task.
struct WorkerTask {
  std::string dlq_url;
  std::string source_url;
  std::optional<AtomicMoves> atomic;  // nullopt: copy, then delete.
  archive::RetryRules rules;
  std::optional<triage::Filter> filter;
  std::optional<std::uint64_t> messages_max;
  bool dry_run = false;
  bool until_empty = true;  // Otherwise until interrupted.
  std::int32_t wait_seconds = 1;
  std::int32_t visibility_seconds = 120;
};

struct WorkerCounts {
  std::uint64_t returned = 0;
  std::uint64_t archived = 0;
  std::uint64_t skipped = 0;  // Not matched by the filter; they stay.
  std::uint64_t failed = 0;   // They stay, and were reported.
  std::uint64_t unreadable_counters = 0;
  std::uint64_t counters_in_trace = 0;
  std::uint64_t not_deleted = 0;  // Moved, but still in the dead-letter queue: will be duplicated.

  std::uint64_t handled() const { return returned + archived + skipped + failed; }
};

// State shared by the worker's lanes. Thread-safe: mutex_ guards everything below it and the
// terminal.
class WorkerBoard {
 public:
  WorkerBoard(Session& session, const WorkerTask& task, std::optional<std::uint64_t> expected);

  // How many more messages may be received, at most ten; unused claims are given back.
  std::uint64_t claim();
  void give_back(std::uint64_t claims);

  void add(const WorkerCounts& more);
  void tell(const std::string& line);
  // To be made visible again at the end: otherwise they would be received again.
  void hold(std::string receipt);
  std::vector<std::string> take_held();
  WorkerCounts finish();

 private:
  Session& session_;
  Mutex mutex_;
  Progress progress_ GUARDED_BY(mutex_);
  std::optional<std::uint64_t> claims_left_ GUARDED_BY(mutex_);
  WorkerCounts counts_ GUARDED_BY(mutex_);
  std::vector<std::string> held_ GUARDED_BY(mutex_);
};

// One connection's share of the work: receives letters from the dead-letter queue, ten at a time,
// and sends each back or archives it. A letter is deleted only after its copy is confirmed, so a
// crash at any point leaves it in at least one place. If the server supports moves, a letter sent
// back is always in exactly one place, and an archived one keeps its lineage: the document contains
// it, and the server remembers the document's location.
class WorkerLane {
 public:
  struct Parts {
    Session& session;
    const WorkerTask& task;
    WorkerBoard& board;
    Pace& pace;
    Service service;
    archive::ArchiveTarget* target;  // Null in a dry run.
    std::string prefix;
    std::string location;  // The archive's location without the prefix.
    std::uint64_t seed;
  };
  explicit WorkerLane(Parts parts) : parts_(std::move(parts)), ids_(parts_.seed) {}

  // Runs until the queue is empty, the worker is stopped, or an error is final.
  Answer<void> run();

 private:
  struct Item;

  Answer<bool> turn(std::uint64_t claims);
  Answer<void> process(std::vector<Item>& items);
  void show(const std::vector<Item>& items);
  Answer<void> send_back(std::vector<Item*> items, WorkerCounts& counts);
  Answer<void> move_back(const std::vector<Item*>& items, WorkerCounts& counts);
  void stays(const Item& item, std::string_view reason, WorkerCounts& counts);
  void put_away(const std::vector<Item*>& items, WorkerCounts& counts);
  std::vector<std::string> lineages_of(const std::vector<Item*>& items);
  Answer<void> let_go(const std::vector<Item*>& items, WorkerCounts& counts);
  Answer<void> remove(const std::vector<Item>& items, WorkerCounts& counts);
  template <class Call>
  auto persist(Call call) -> decltype(call());

  Parts parts_;
  SeededIds ids_;
};

}  // namespace redrive::cli
