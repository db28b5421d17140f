#include "cli/client/own_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace redrive::cli {
namespace {

std::unexpected<Failure> no_server(std::string why) {
  return std::unexpected(
      Failure{Failure::Kind::refused, "", "cannot start a server: " + std::move(why)});
}

// In the child: dies with the parent, and its stdout is only used for its address.
[[noreturn]] void become_server(int out) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  setpgid(0, 0);  // Ctrl-C is handled by the parent, which stops it.
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(nowhere, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  execl("/proc/self/exe", "redrive", "serve", "--memory", "--listen", "127.0.0.1:0", nullptr);
  _exit(127);
}

// Its first line ends with its address.
std::string read_address(int in) {
  std::string line;
  char c = 0;
  while (read(in, &c, 1) == 1 && c != '\n') line += c;
  return line.substr(line.rfind(' ') + 1);
}

}  // namespace

Answer<std::unique_ptr<OwnServer>> OwnServer::start() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return no_server(strerror(errno));
  const pid_t process = fork();
  if (process == 0) become_server(ends[1]);
  close(ends[1]);
  std::string url = process > 0 ? read_address(ends[0]) : "";
  // The pipe stays open for the server's later output.
  const int kept = ends[0];
  if (process < 0) return close(kept), no_server(strerror(errno));
  std::unique_ptr<OwnServer> server(new OwnServer(process, std::move(url)));
  if (!server->url_.starts_with("http")) return no_server("it exited immediately");
  return server;
}

OwnServer::~OwnServer() {
  kill(process_, SIGTERM);
  waitpid(process_, nullptr, 0);
}

}  // namespace redrive::cli
