#include "objects/shared_sync.h"

#include "objects/durable_file.h"

namespace redrive::objects {
namespace {

constexpr std::uint64_t kFailuresKept = 64;

}  // namespace

Outcome<void> SharedSync::operator()(const Work& sync) {
  UniqueMutexLock lock(mutex_);
  // A sync that is already running may not include the caller's change.
  const std::uint64_t mine = begun_ + 1;
  while (done_ < mine) {
    if (running_) {
      ended_.wait(mutex_);
      continue;
    }
    running_ = true;
    const std::uint64_t number = ++begun_;
    lock.unlock();
    auto outcome = sync();
    lock.lock();
    running_ = false;
    done_ = number;
    if (!outcome) failures_.emplace(number, std::move(outcome.error()));
    std::erase_if(failures_, [&](const auto& one) { return one.first + kFailuresKept < number; });
    ended_.notify_all();
  }
  // A later successful sync does not undo an earlier failure.
  const auto failed = failures_.find(mine);
  if (failed != failures_.end()) return std::unexpected(failed->second);
  return {};
}

Outcome<void> DirectorySyncs::operator()(const std::filesystem::path& directory) {
  std::shared_ptr<SharedSync> shared;
  {
    const MutexLock lock(mutex_);
    auto& known = syncs_[directory];
    if (known == nullptr) known = std::make_shared<SharedSync>();
    shared = known;
  }
  return (*shared)([&] { return sync_directory(directory, Sync::yes); });
}

}  // namespace redrive::objects
