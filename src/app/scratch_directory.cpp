#include "app/scratch_directory.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <system_error>

#include "base/file_system.h"
#include "base/text.h"

namespace redrive::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kScratchPrefix = "redrive-handlers-";
// Directories that are being created and not locked yet have another prefix, so that they are not
// mistaken for leftovers.
constexpr std::string_view kUnfinishedPrefix = ".redrive-handlers-";

http::Descriptor open_directory(const fs::path& path) {
  return http::Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

bool lock_directory(const http::Descriptor& directory) {
  return directory.is_open() && ::flock(directory.number(), LOCK_EX | LOCK_NB) == 0;
}

bool is_ours(const http::Descriptor& directory) {
  struct stat status {};
  return ::fstat(directory.number(), &status) == 0 && status.st_uid == ::geteuid();
}

// A sandbox that was being set up when its server was killed waits forever, without a function.
void end_processes_of(const fs::path& directory) {
  for_each_entry("/proc", [&](const fs::directory_entry& entry) {
    const std::string words = read_file(entry.path() / "cmdline").value_or("");
    const auto pid = parse_int<pid_t>(entry.path().filename().string());
    if (pid && words.find(directory.filename().string()) != words.npos) ::kill(*pid, SIGKILL);
  });
}

void remove_left_behind(const fs::path& parent) {
  std::error_code ignored;
  for_each_entry(parent, [&](const fs::directory_entry& entry) {
    if (!entry.path().filename().string().starts_with(kScratchPrefix)) return;
    const http::Descriptor directory = open_directory(entry.path());
    if (!lock_directory(directory) || !is_ours(directory)) return;
    end_processes_of(entry.path());
    fs::remove_all(entry.path(), ignored);
  });
}

}  // namespace

ScratchDirectory::ScratchDirectory(const fs::path& parent, IdSource& ids)
    : path_(parent / (std::string(kScratchPrefix) + ids.uuid().text())) {
  remove_left_behind(parent);
  const fs::path unfinished = parent / (std::string(kUnfinishedPrefix) + ids.uuid().text());
  std::error_code ignored;
  // Without it functions cannot run, and their invocations fail.
  if (::mkdir(unfinished.c_str(), 0700) != 0) return;
  ::chmod(unfinished.c_str(), 0711);  // Again, because of the umask.
  lock_ = open_directory(unfinished);
  static_cast<void>(lock_directory(lock_));
  fs::rename(unfinished, path_, ignored);
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace redrive::app
