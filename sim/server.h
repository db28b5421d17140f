#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/engine/engine.h"
#include "core/store/store.h"
#include "dead_letters/dead_letters.h"
#include "sim/faulty_files.h"
#include "sim/watched_journal.h"

namespace redrive::sim {

// Sizes in a run: so small that segments end, checkpoints take several slices and space is recycled
// all the time. A batch of ten of the largest messages fits into a segment.
struct Shape {
  std::uint32_t segment_bytes = 16u << 10;
  std::size_t tail_cache_bytes = 0;
  std::uint64_t checkpoint_bytes = 8u << 10;
  std::size_t messages_max = 40;
  std::size_t body_bytes_max = 1000;
};

// The archive: on another disk, which never loses what it has accepted, and does not always accept.
struct Graveyard {
  struct Grave {
    std::string stored;         // The bytes,
    dead_letters::Peeked told;  // and the metadata of the message.
  };
  std::map<std::string, Grave> graves;  // By location.
  std::uint64_t asked = 0;
  bool always_takes = false;
  // Called after it has stored a message, before it returns.
  std::function<void(queue::MessageKey)> meanwhile;

  // Returns the location.
  Result<std::string> bury(const dead_letters::Peeked& message, std::string stored);
};

// The production parts, wired like in the server, in one thread and on simulated files.
class Server {
 public:
  struct Parts {
    FaultyFiles& files;
    const Clock& clock;
    IdSource& ids;
    Graveyard& graveyard;
  };
  static Result<std::unique_ptr<Server>> open(Parts parts, const Shape& shape);

  store::Store& store() { return store_; }
  WatchedJournal& journal() { return *journal_; }
  engine::Engine& engine() { return *engine_; }
  dead_letters::DeadLetters& dead_letters() { return *dead_letters_; }
  const journal::Recovered& recovered() const { return recovered_; }
  // The server's log lines about problems.
  const std::vector<std::string>& complaints() const { return complaints_; }

 private:
  explicit Server(const Shape& shape);

  store::Store store_;
  std::unique_ptr<WatchedJournal> journal_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<dead_letters::DeadLetters> dead_letters_;
  journal::Recovered recovered_;
  std::vector<std::string> complaints_;
};

// Opens the journal of `files`, replayed into `store`.
Result<std::unique_ptr<journal::Journal>> replay_into(store::Store& store, journal::Files& files,
                                                      const Shape& shape,
                                                      journal::Recovered& recovered);

}  // namespace redrive::sim
