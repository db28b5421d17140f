#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <tuple>

#include "base/mutex.h"
#include "front/pipeline.h"
#include "manage/change_log.h"

namespace redrive::manage {

// Serves GET changes, the long poll of the web console: rows that changed since the cursor, or, if
// there are none, the answer waits until there are.
//
// Each viewer (a key in a region, masked or not) has a ChangeLog that all of its browsers share.
// It is brought up to date at most once a second, and only while requests for it wait, so browsers
// that are not open cost nothing. Thread-safe.
class ChangeFeed {
 public:
  static constexpr auto kPeriod = std::chrono::seconds(1);
  // For requests without a cursor, so that a page that opens shows what is there now.
  static constexpr auto kFirstPeriod = std::chrono::milliseconds(50);
  static constexpr std::size_t kViewersMax = 200;
  static constexpr std::size_t kWaitingMax = 1'000;

  // Reads the rows that the caller of a request may see. Runs on any thread, not in turn.
  using Read = std::function<Result<ChangeRows>(const front::RequestContext& context)>;
  explicit ChangeFeed(Read read);
  ~ChangeFeed();

  struct Question {
    std::string cursor;
    ChangeLog::Topics topics{};
    std::chrono::seconds wait{0};
    std::string viewer;  // Requests with equal viewers see the same rows.
  };
  // The members of the answer; nullopt: `respond` is called later. `context` lives as long as
  // `respond`.
  using Respond = std::function<void(Result<std::string>)>;
  Result<std::optional<std::string>> ask(const front::RequestContext& context, Question question,
                                         Respond respond);
  // Answers everything that waits. Later requests do not wait.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;
  // Lock order: Viewer::mutex before ChangeFeed::mutex_.
  struct Viewer {
    Mutex mutex;
    ChangeLog log GUARDED_BY(mutex);
    std::optional<Clock::time_point> updated GUARDED_BY(mutex);

    explicit Viewer(std::string epoch) : log(std::move(epoch)) {}
  };
  struct Waiting {
    const front::RequestContext* context;
    Question question;
    Respond respond;
    Clock::time_point until;
    std::shared_ptr<Viewer> viewer;
  };

  std::shared_ptr<Viewer> viewer_of(const std::string& name);
  // Reads the rows again if they are older than `age_max`. One thread reads, the others use it.
  Result<void> update(Viewer& viewer, const front::RequestContext& context, Clock::duration age_max)
      REQUIRES(viewer.mutex);
  bool enqueue(Waiting waiting);
  void run();
  void answer_ready();
  static bool is_ready(const Waiting& waiting, const Viewer& viewer) REQUIRES(viewer.mutex);

  const Read read_;
  Mutex mutex_;
  ConditionVariable wake_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::list<Waiting> waiting_ GUARDED_BY(mutex_);  // Newest last.
  // With the number of the last use.
  std::map<std::string, std::pair<std::shared_ptr<Viewer>, std::uint64_t>> viewers_
      GUARDED_BY(mutex_);
  std::uint64_t uses_ GUARDED_BY(mutex_) = 0;
  std::thread thread_;
};

}  // namespace redrive::manage
