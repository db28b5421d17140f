#include <signal.h>
#include <sys/wait.h>

#include "tests/functions/runtime/fixture.h"

namespace redrive::runtime {
namespace {

// Functions die with a killed server.
class OrphanTest : public InvokerTest, public testing::WithParamInterface<InvokerOptions::Sandbox> {
 protected:
  // Every process of this test has its directory on its command line.
  bool is_anybody_left() const {
    return any_process(
        [this](const std::string& line) { return line.find(root_.string()) != std::string::npos; });
  }

  // In its own process: signals `ready` when its function runs, and then only waits.
  [[noreturn]] void be_server(int ready) {
    options_.sandbox = GetParam();
    auto running = begin(python("cases.sleeps"), R"({"seconds":100})");
    while (invoker().stats(python("").arn).running == 0) ::usleep(1000);
    (void)!::write(ready, "!", 1);
    running.wait();
    ::_exit(0);
  }
};

INSTANTIATE_TEST_SUITE_P(Sandboxes, OrphanTest,
                         testing::Values(InvokerOptions::Sandbox::automatic,
                                         InvokerOptions::Sandbox::off));

TEST_P(OrphanTest, NobodyIsLeft) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer has no threads after a fork";
#endif
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t server = ::fork();
  if (server == 0) be_server(ends[1]);
  char byte = 0;
  ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  EXPECT_TRUE(is_anybody_left());
  ::kill(server, SIGKILL);
  ::waitpid(server, nullptr, 0);
  for (int i = 0; i < 500 && is_anybody_left(); ++i) ::usleep(10'000);
  EXPECT_FALSE(is_anybody_left());
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace redrive::runtime
