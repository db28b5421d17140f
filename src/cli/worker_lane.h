#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "archive/document.h"
#include "archive/retry_rules.h"
#include "archive/target.h"
#include "cli/pace.h"
#include "cli/progress.h"
#include "cli/session.h"
#include "dead_letter/filter.h"

namespace redrive::cli {

// What Redrive can do and SQS cannot: a message leaves one queue and enters the other in one step.
struct AtomicMoves {
  std::string queue_path;  // In the management API: the dead-letter queue's.
  std::string destination_arn;

  std::string path(std::string_view what) const { return queue_path + "/" + std::string(what); }
};

// What a worker was told to do.
struct WorkerTask {
  std::string dlq_url;
  std::string source_url;
  std::optional<AtomicMoves> atomic;  // None: copy, then delete.
  archive::RetryRules rules;
  std::optional<dead_letter::Filter> filter;
  std::optional<std::uint64_t> messages_max;
  bool dry_run = false;
  bool until_empty = true;  // Otherwise until it is stopped.
  std::int32_t wait_seconds = 1;
  std::int32_t visibility_seconds = 120;
};

struct WorkerCounts {
  std::uint64_t returned = 0;
  std::uint64_t archived = 0;
  std::uint64_t skipped = 0;  // The filter does not mean them; they stay.
  std::uint64_t failed = 0;   // They stay, and were told about.
  std::uint64_t unreadable_counters = 0;
  std::uint64_t counters_in_trace = 0;
  std::uint64_t not_deleted = 0;  // Moved, but still in the dead-letter queue: duplicates to come.

  std::uint64_t handled() const { return returned + archived + skipped + failed; }
};

// What the lanes of a worker share. From any thread: mutex_ guards everything below it and the
// terminal.
class WorkerBoard {
 public:
  WorkerBoard(Session& session, const WorkerTask& task, std::optional<std::uint64_t> expected);

  // How many more messages may be taken, at most ten; what was not found is given back.
  std::uint64_t claim();
  void give_back(std::uint64_t claims);

  void add(const WorkerCounts& more);
  void tell(const std::string& line);
  // To be made visible again at the end: now they would only come round once more.
  void hold(std::string receipt);
  std::vector<std::string> take_held();
  WorkerCounts finish();

 private:
  Session& session_;
  std::mutex mutex_;
  Progress progress_;
  std::optional<std::uint64_t> claims_left_;
  WorkerCounts counts_;
  std::vector<std::string> held_;
};

// One connection's share of the work: takes letters from the dead-letter queue, ten at a time, and
// sends each back or archives it. A letter is deleted only after the copy is confirmed; so a crash
// at any point leaves it in at least one place. Where the server can move letters, one that is sent
// back is at any moment in exactly one, and one that is archived keeps its lineage: the document
// has it, and the server remembers where the document is.
class WorkerLane {
 public:
  struct Parts {
    Session& session;
    const WorkerTask& task;
    WorkerBoard& board;
    Pace& pace;
    Service service;
    archive::ArchiveTarget* target;  // None in a dry run.
    std::string prefix;
    std::string location;  // The archive as people write it, without the prefix.
    std::uint64_t seed;
  };
  explicit WorkerLane(Parts parts) : parts_(std::move(parts)), ids_(parts_.seed) {}

  // Until the queue is empty, the worker is stopped, or nothing more can be done.
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
