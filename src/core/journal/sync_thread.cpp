#include <atomic>
#include <chrono>
#include <thread>

#include "base/mutex.h"
#include "core/journal/doorbell.h"
#include "core/journal/journal.h"

namespace redrive::journal {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Housekeeping runs after this long without a sync request,
constexpr auto kQuiet = std::chrono::milliseconds(20);
// this often without any known work (a full disk may have space again),
constexpr auto kIdle = std::chrono::seconds(1);
// and this often even if syncs follow one another without a pause, or spares would run out. One
// pass fills more of a spare than kChoresAtLeastEveryBytes.
constexpr auto kChoresAtLeastEvery = std::chrono::milliseconds(100);
constexpr std::uint64_t kChoresAtLeastEveryBytes = 512u << 10;
// A thread with other work syncs itself only if the last sync took no longer than this.
constexpr auto kQuickMax = std::chrono::milliseconds(1);

}  // namespace

struct SyncThread::State {
  State(Journal& to_sync, Hooks to_call) : journal(to_sync), hooks(std::move(to_call)) {
    thread = std::thread([this] { run(); });
  }

  void request() {
    if (wanted.exchange(true)) return;  // Already requested, and not yet seen by the thread.
    bell.ring();
  }

  void sync_here() {
    if (!busy.try_lock()) return request();
    const bool quick = is_quick;
    if (quick) sync();
    busy.unlock();
    if (!quick) return request();
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
    const MutexLock lock(busy);
    return sync();
  }

  // Waits for a request or until housekeeping is due. Returns false when stopping.
  bool wait() {
    const auto until = SteadyClock::now() + (more_chores ? SteadyClock::duration(kQuiet) : kIdle);
    while (!wanted.load() && !chores_wanted.load() && !stopping.load()) {
      const auto left = until - SteadyClock::now();
      if (left <= SteadyClock::duration::zero()) break;
      bell.wait_for(left);
    }
    return !stopping.load();
  }

  bool sync() REQUIRES(busy) {
    const Sequence before = journal.synced();
    const auto began = SteadyClock::now();
    const auto synced = journal.sync_once();
    if (!synced) return failed(synced.error());
    const auto taken = SteadyClock::now() - began;
    is_quick = taken <= kQuickMax;
    if (hooks.on_measured) hooks.on_measured(*synced - before, taken);
    more_chores = true;  // There may be more after a sync.
    if (hooks.on_synced) hooks.on_synced(*synced);
    return true;
  }

  bool are_chores_due() const {
    return SteadyClock::now() - last_chores.load() >= kChoresAtLeastEvery ||
           journal.totals().bytes_appended - bytes_at_chores.load() >= kChoresAtLeastEveryBytes;
  }

  // Runs only in the sync thread; syncs in other threads go on meanwhile.
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
  std::atomic<bool> wanted = false;         // A sync is requested.
  std::atomic<bool> chores_wanted = false;  // Set by threads that sync themselves.
  Doorbell bell;

  std::atomic<bool> has_failed = false;
  std::atomic<bool> more_chores = true;

  std::atomic<SteadyClock::time_point> last_chores = SteadyClock::now();
  std::atomic<std::uint64_t> bytes_at_chores = 0;

  Mutex busy;                              // Held by the thread that syncs.
  bool is_quick GUARDED_BY(busy) = false;  // The last sync was quick.

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
