#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "bench/actors.h"
#include "bench/connection.h"
#include "bench/nanos.h"

namespace redrive::bench {

// Runs actors and their connections in one thread with epoll.
class Load {
 public:
  // Connects them one after the other and performs each handshake.
  static Result<std::unique_ptr<Load>> open(const Endpoint& endpoint,
                                            std::vector<std::unique_ptr<Actor>> actors);
  ~Load();
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  // Runs until every actor is done, the time is up or `is_over` returns true; pending responses are
  // not waited for. The first refused or broken response ends it with an error.
  Result<void> run(Nanos time_max, const std::function<bool()>& is_over = {});

 private:
  struct Seat {
    Connection connection;
    std::unique_ptr<Actor> actor;
    Step state = Step::pause;
    std::uint32_t watched = 0;  // Registered epoll events.
  };

  explicit Load(int epoll_fd) : epoll_fd_(epoll_fd) {}

  Result<void> serve(Seat& seat);
  Result<void> digest(Seat& seat);
  Result<void> advance(Seat& seat);
  Result<void> advance_paused();
  Result<void> flush(Seat& seat);
  Result<void> watch(Seat& seat, std::uint32_t events);

  int epoll_fd_ = -1;
  std::vector<Seat> seats_;
  std::vector<Seat*> paused_;
  std::size_t done_ = 0;
};

}  // namespace redrive::bench
