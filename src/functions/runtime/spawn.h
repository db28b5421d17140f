#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/http/poller.h"

namespace redrive::runtime {

using http::Descriptor;

// Name (/proc/PID/comm) of a child until it execs. The kernel wakes the caller of spawn() shortly
// before the child has its own memory: while a process has this name, /proc shows the server's
// memory.
inline constexpr char kSpawningName[] = "redrive-spawn";

// Describes a process completely before it is created: between clone and exec it may neither
// allocate nor lock.
struct SpawnRequest {
  std::string program;  // A path.
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // name=value
  std::string directory;                 // Working directory.
  int input = -1;                        // -1: /dev/null.
  int output = -1;
  int errors = -1;
  // Inherited as descriptors 3 (for reading) and 4 (for writing); -1: none.
  int link_input = -1;
  int link_output = -1;
  std::optional<unsigned> user;  // User and group; requires root.

  // Mounts that the process sees; requires root.
  struct Mount {
    std::string source;  // Empty: an empty directory.
    std::string target;
    bool writable = false;
  };
  std::vector<Mount> mounts;

  std::size_t data_bytes_max = 0;  // 0: unlimited.
  std::size_t processes_max = 0;   // Of its user; 0: unlimited.
  std::size_t file_bytes_max = 0;  // 0: unlimited.
  std::size_t descriptors_max = 1024;
};

struct Spawned {
  pid_t pid = -1;
  Descriptor handle;  // A pidfd: readable when the process has exited.
};

// Starts a process in its own session, with no other descriptors and no way to gain privileges; it
// dies with the calling thread. Not thread-safe.
//
// The child shares the caller's memory until it execs (like vfork), because copying the page tables
// of a large server would stall it.
Result<Spawned> spawn(const SpawnRequest& request);

}  // namespace redrive::runtime
