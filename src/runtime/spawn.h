#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "http/poller.h"

namespace redrive::runtime {

using http::Descriptor;

// The name (/proc/PID/comm) of a child until its program runs. The kernel wakes the caller of
// spawn() shortly before the child has memory of its own: while a process has this name, what
// /proc says of its memory is the server's.
inline constexpr char kSpawningName[] = "redrive-spawn";

// A process to be, told completely before it is made: between its birth and its program there is
// no memory to be had and no lock to be taken.
struct SpawnRequest {
  std::string program;  // A path.
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // name=value
  std::string directory;                 // Working directory.
  int input = -1;                        // -1: /dev/null.
  int output = -1;
  int errors = -1;
  // Two more, which become descriptors 3 (to read from) and 4 (to write to); -1: there are none.
  int link_input = -1;
  int link_output = -1;
  std::optional<unsigned> user;  // User and group; only for root.

  // What the process sees of the file system, for root: a place filled with another's content.
  struct Mount {
    std::string source;  // Empty: with nothing.
    std::string target;
    bool writable = false;
  };
  std::vector<Mount> mounts;

  std::size_t data_bytes_max = 0;  // 0: no limit of its own.
  std::size_t processes_max = 0;   // Of its user; 0: no limit of its own.
  std::size_t file_bytes_max = 0;  // 0: no limit of its own.
  std::size_t descriptors_max = 1024;
};

struct Spawned {
  pid_t pid = -1;
  Descriptor handle;  // A pidfd: readable when the process has ended.
};

// Starts a process in a session of its own, without descriptors but those, with no way to gain
// privileges; it dies when the calling thread does. Only one thread may call this at a time.
//
// The caller's memory is lent to the child until its program runs (as vfork does), because copying
// the page tables of a large server would hold up everybody.
Result<Spawned> spawn(const SpawnRequest& request);

}  // namespace redrive::runtime
