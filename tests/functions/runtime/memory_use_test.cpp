#include "functions/runtime/memory_use.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "functions/runtime/spawn.h"

namespace redrive::runtime {
namespace {

// A child that changes its name each time it reads a byte, and writes one when done.
class NamedChild {
 public:
  NamedChild() {
    EXPECT_EQ(::pipe(to_), 0);
    EXPECT_EQ(::pipe(from_), 0);
    pid_ = ::fork();
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    char byte = 0;
    for (const char* const name : {kSpawningName, "program"}) {
      ::prctl(PR_SET_NAME, name);
      (void)!::write(from_[1], &byte, 1);
      (void)!::read(to_[0], &byte, 1);
    }
    ::_exit(0);
  }
  ~NamedChild() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    for (const int number : {to_[0], to_[1], from_[0], from_[1]}) ::close(number);
  }

  void wait_for_name() {
    char byte = 0;
    EXPECT_EQ(::read(from_[0], &byte, 1), 1);
  }
  void go_on() { EXPECT_EQ(::write(to_[1], "x", 1), 1); }
  pid_t pid() const { return pid_; }

 private:
  int to_[2] = {};
  int from_[2] = {};
  pid_t pid_ = -1;
};

TEST(MemoryUseTest, MemoryBeforeTheProgramRunsIsNotCounted) {
  NamedChild child;
  MemoryUse memory;
  memory.follow(child.pid(), false);
  child.wait_for_name();
  EXPECT_EQ(memory.sample_tree(), 0u);
  EXPECT_EQ(memory.sample(), 0u);
  EXPECT_EQ(memory.bytes_max(), 0u);
  child.go_on();
  child.wait_for_name();
  EXPECT_GT(memory.sample(), 0u);
  EXPECT_GT(memory.sample_tree(), 0u);
}

}  // namespace
}  // namespace redrive::runtime
