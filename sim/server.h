#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "engine/engine.h"
#include "sim/faulty_files.h"
#include "sim/watched_journal.h"
#include "store/store.h"

namespace redrive::sim {

// How large things are in a run: so small that segments end, checkpoints are taken in several
// slices and space is recycled all the time. A batch of ten of the largest messages fits into a
// segment.
struct Shape {
  std::uint32_t segment_bytes = 16u << 10;
  std::size_t tail_cache_bytes = 0;
  std::uint64_t checkpoint_bytes = 8u << 10;
  std::size_t messages_max = 40;
  std::size_t body_bytes_max = 1000;
};

// Where dead letters end: on another disk, which never forgets what it has taken, and which does
// not always take it.
struct Graveyard {
  struct Grave {
    std::string stored;   // The bytes,
    engine::Peeked told;  // and what was known of the message.
  };
  std::map<std::string, Grave> graves;  // By their places.
  std::uint64_t asked = 0;
  bool always_takes = false;
  // Called when it has taken a message, before it says so.
  std::function<void(queue::MessageKey)> meanwhile;

  // Says where it is.
  Result<std::string> bury(const engine::Peeked& message, std::string stored);
};

// The production parts, joined as the server joins them, in one thread and on simulated files.
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
  const journal::Recovered& recovered() const { return recovered_; }
  // What the server complained about.
  const std::vector<std::string>& complaints() const { return complaints_; }

 private:
  explicit Server(const Shape& shape);

  store::Store store_;
  std::unique_ptr<WatchedJournal> journal_;
  std::unique_ptr<engine::Engine> engine_;
  journal::Recovered recovered_;
  std::vector<std::string> complaints_;
};

// The journal of `files`, replayed into `store`.
Result<std::unique_ptr<journal::Journal>> replay_into(store::Store& store, journal::Files& files,
                                                      const Shape& shape,
                                                      journal::Recovered& recovered);

}  // namespace redrive::sim
