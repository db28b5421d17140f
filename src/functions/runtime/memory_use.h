#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstddef>

#include "net/http/poller.h"

namespace redrive::runtime {

// Current and peak memory of a process.
class MemoryUse {
 public:
  // `wrapped`: the process is a sandbox around the actual one.
  void follow(pid_t pid, bool wrapped) {
    pid_ = pid;
    wrapped_ = wrapped;
  }
  // The program alone: cheap enough for every invocation.
  std::size_t sample();
  // Including children; compared with the limit.
  std::size_t sample_tree();
  std::size_t bytes_max() const { return bytes_max_; }

 private:
  // Whether the process has exec'd its program. Before that it shares the server's memory, which
  // must not be counted against the function.
  bool has_started();
  void find_program();

  pid_t pid_ = -1;
  bool wrapped_ = false;
  bool started_ = false;
  pid_t program_ = -1;
  http::Descriptor program_statm_;
  std::size_t bytes_max_ = 0;
};

}  // namespace redrive::runtime
