#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "journal/doorbell.h"
#include "journal/journal.h"

namespace redrive::journal {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Chores run when nothing has been asked for this long,
constexpr auto kQuiet = std::chrono::milliseconds(20);
// also without any reason to believe there is something to do (a full disk may have room again),
constexpr auto kIdle = std::chrono::seconds(1);
// and even while syncs follow one another without a pause: spares are used up by then. A turn of
// chores fills more of a spare than this.
constexpr auto kChoresAtLeastEvery = std::chrono::milliseconds(100);
constexpr std::uint64_t kChoresAtLeastEveryBytes = 512u << 10;
// A thread with others to serve syncs itself only if that does not take longer.
constexpr auto kQuickMax = std::chrono::milliseconds(1);

}  // namespace

struct SyncThread::State {
  State(Journal& to_sync, Hooks to_call) : journal(to_sync), hooks(std::move(to_call)) {
    thread = std::thread([this] { run(); });
  }

  void request() {
    if (wanted.exchange(true)) return;  // Somebody else asked, and the thread has not looked yet.
    bell.ring();
  }

  void sync_here() {
    std::unique_lock lock(busy, std::try_to_lock);
    if (!lock || !is_quick) return request();
    sync();
    lock.unlock();
    if (are_chores_due() && !chores_wanted.exchange(true)) bell.ring();
  }

  void stop() {
    stopping = true;
    bell.ring();
    thread.join();
  }

  void run() {
    while (wait()) {
      const bool asked = wanted.exchange(false);
      if (asked && !sync_in_turn()) return;
      if ((!asked || are_chores_due()) && !do_chores()) return;
    }
    if (journal.appended() > journal.synced()) sync_in_turn();
  }

  bool sync_in_turn() {
    const std::lock_guard lock(busy);
    return sync();
  }

  // Until something is asked for, or it is time for chores. False when stopping.
  bool wait() {
    const auto until = SteadyClock::now() + (more_chores ? SteadyClock::duration(kQuiet) : kIdle);
    while (!wanted.load() && !chores_wanted.load() && !stopping.load()) {
      const auto left = until - SteadyClock::now();
      if (left <= SteadyClock::duration::zero()) break;
      bell.wait_for(left);
    }
    return !stopping.load();
  }

  bool sync() {
    const Sequence before = journal.synced();
    const auto began = SteadyClock::now();
    const auto synced = journal.sync_once();
    if (!synced) return failed(synced.error());
    const auto taken = SteadyClock::now() - began;
    is_quick = taken <= kQuickMax;
    if (hooks.on_measured) hooks.on_measured(*synced - before, taken);
    more_chores = true;  // There may be: it was a while ago that anybody looked.
    if (hooks.on_synced) hooks.on_synced(*synced);
    return true;
  }

  bool are_chores_due() const {
    return SteadyClock::now() - last_chores.load() >= kChoresAtLeastEvery ||
           journal.totals().bytes_appended - bytes_at_chores.load() >= kChoresAtLeastEveryBytes;
  }

  // Only in the thread; syncs go on meanwhile.
  bool do_chores() {
    chores_wanted = false;
    const auto more = journal.housekeep();
    if (!more) return failed(more.error());
    more_chores = *more;
    last_chores = SteadyClock::now();
    bytes_at_chores = journal.totals().bytes_appended;
    return true;
  }

  bool failed(const Error& error) {
    if (hooks.on_failure && !has_failed.exchange(true)) hooks.on_failure(error);
    return false;
  }

  Journal& journal;
  const Hooks hooks;
  std::atomic<bool> stopping = false;
  std::atomic<bool> wanted = false;         // A sync.
  std::atomic<bool> chores_wanted = false;  // By those who sync themselves.
  Doorbell bell;

  std::atomic<bool> has_failed = false;
  std::atomic<bool> more_chores = true;

  std::atomic<SteadyClock::time_point> last_chores = SteadyClock::now();
  std::atomic<std::uint64_t> bytes_at_chores = 0;

  std::mutex busy;        // Held by whoever syncs.
  bool is_quick = false;  // The last sync was. Guarded by busy.

  std::thread thread;
};

SyncThread::SyncThread(Journal& journal, Hooks hooks)
    : state_(std::make_unique<State>(journal, std::move(hooks))) {}

SyncThread::~SyncThread() {
  state_->stop();
}

void SyncThread::request() {
  state_->request();
}

void SyncThread::sync_here() {
  state_->sync_here();
}

}  // namespace redrive::journal
