#include "cli/apply/directory_watch.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace redrive::cli {
namespace {

namespace fs = std::filesystem;

constexpr Duration kQuietTime{150};
constexpr std::uint32_t kChanges =
    IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_ATTRIB;

}  // namespace

Answer<DirectoryWatch> DirectoryWatch::open(const fs::path& directory) {
  const int descriptor = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (descriptor < 0) {
    return usage_failure(fmt::format("cannot watch files: {}", std::strerror(errno)));
  }
  DirectoryWatch watch(descriptor, directory);
  watch.watch_all();
  return watch;
}

DirectoryWatch::~DirectoryWatch() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

DirectoryWatch::DirectoryWatch(DirectoryWatch&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), directory_(std::move(other.directory_)) {}

// Watching a directory twice is harmless, so new ones are found by watching all of them.
void DirectoryWatch::watch_all() const {
  ::inotify_add_watch(descriptor_, directory_.c_str(), kChanges);
  std::error_code error;
  for (fs::recursive_directory_iterator at(directory_, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code ignored;
    if (at->is_directory(ignored)) {
      ::inotify_add_watch(descriptor_, at->path().c_str(), kChanges);
    }
  }
}

bool DirectoryWatch::ready(Duration patience) const {
  pollfd waiting{.fd = descriptor_, .events = POLLIN, .revents = 0};
  return ::poll(&waiting, 1, static_cast<int>(patience.count())) > 0;
}

bool DirectoryWatch::drain() const {
  std::array<char, 16'384> events;
  bool any = false;
  while (::read(descriptor_, events.data(), events.size()) > 0) any = true;
  return any;
}

bool DirectoryWatch::wait(Duration patience) {
  if (!ready(patience) || !drain()) return false;
  while (ready(kQuietTime) && drain()) {
  }
  watch_all();
  return true;
}

}  // namespace redrive::cli
