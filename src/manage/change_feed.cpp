#include "manage/change_feed.h"

#include <algorithm>

#include "net/auth/access_key.h"

namespace redrive::manage {

ChangeFeed::ChangeFeed(Read read) : read_(std::move(read)), thread_([this] { run(); }) {}

ChangeFeed::~ChangeFeed() {
  stop();
}

void ChangeFeed::stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

// Evicts the least recently used when there are too many: its browsers get a reset.
std::shared_ptr<ChangeFeed::Viewer> ChangeFeed::viewer_of(const std::string& name) {
  const MutexLock lock(mutex_);
  auto& [viewer, used] = viewers_[name];
  if (viewer == nullptr) viewer = std::make_shared<Viewer>(auth::make_session_token());
  used = ++uses_;
  const auto found = viewer;
  if (viewers_.size() > kViewersMax) {
    viewers_.erase(
        std::ranges::min_element(viewers_, {}, [](const auto& one) { return one.second.second; }));
  }
  return found;
}

Result<void> ChangeFeed::update(Viewer& viewer, const front::RequestContext& context,
                                Clock::duration age_max) {
  const auto now = Clock::now();
  if (viewer.updated && now - *viewer.updated < age_max) return {};
  viewer.log.update(TRY(read_(context)));
  viewer.updated = now;
  return {};
}

bool ChangeFeed::enqueue(Waiting waiting) {
  {
    const MutexLock lock(mutex_);
    if (stopping_ || waiting_.size() >= kWaitingMax) return false;
    waiting_.push_back(std::move(waiting));
  }
  wake_.notify_all();
  return true;
}

Result<std::optional<std::string>> ChangeFeed::ask(const front::RequestContext& context,
                                                   Question question, Respond respond) {
  const auto viewer = viewer_of(question.viewer);
  const MutexLock lock(viewer->mutex);
  RETURN_IF_ERROR(
      update(*viewer, context, question.cursor.empty() ? Clock::duration(kFirstPeriod) : kPeriod));
  const bool waits =
      question.wait.count() > 0 && !viewer->log.has_news(question.cursor, question.topics);
  if (waits && enqueue({.context = &context,
                        .question = question,
                        .respond = std::move(respond),
                        .until = Clock::now() + question.wait,
                        .viewer = viewer})) {
    return std::nullopt;
  }
  return viewer->log.answer(question.cursor, question.topics);
}

void ChangeFeed::run() {
  UniqueMutexLock lock(mutex_);
  while (!stopping_) {
    wake_.wait(mutex_, [this]() REQUIRES(mutex_) { return stopping_ || !waiting_.empty(); });
    wake_.wait_for(mutex_, kPeriod, [this]() REQUIRES(mutex_) { return stopping_; });
    lock.unlock();
    answer_ready();
    lock.lock();
  }
  lock.unlock();
  answer_ready();  // Requests that began to wait in between.
}

bool ChangeFeed::is_ready(const Waiting& waiting, const Viewer& viewer) {
  // The request of a disconnected client is answered, too: that releases it.
  if (waiting.context->is_abandoned() || Clock::now() >= waiting.until) return true;
  return viewer.log.has_news(waiting.question.cursor, waiting.question.topics);
}

void ChangeFeed::answer_ready() {
  std::list<Waiting> checked;
  bool stopping = false;
  {
    const MutexLock lock(mutex_);
    checked.swap(waiting_);
    stopping = stopping_;
  }
  for (auto at = checked.begin(); at != checked.end();) {
    const std::shared_ptr<Viewer> viewer = at->viewer;  // Outlives the lock of its mutex.
    const MutexLock lock(viewer->mutex);
    const Result<void> read = update(*viewer, *at->context, kPeriod);
    if (read && !stopping && !is_ready(*at, *viewer)) {
      ++at;
      continue;
    }
    const Question& question = at->question;
    read ? at->respond(viewer->log.answer(question.cursor, question.topics))
         : at->respond(std::unexpected(read.error()));
    at = checked.erase(at);
  }
  const MutexLock lock(mutex_);
  waiting_.splice(waiting_.begin(), checked);
}

}  // namespace redrive::manage
