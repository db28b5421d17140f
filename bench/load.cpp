#include "bench/load.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace redrive::bench {
namespace {

constexpr std::size_t kEventsMax = 256;
constexpr int kTurnMilliseconds = 20;  // Maximum delay before the end of the time is noticed.

Result<void> greet(Connection& connection, Client& client) {
  while (TRY(client.greet(connection.in(), connection.out())) == Progress::under_way) {
    RETURN_IF_ERROR(connection.flush_all());
    RETURN_IF_ERROR(connection.read_some());
  }
  return connection.flush_all();
}

}  // namespace

Result<std::unique_ptr<Load>> Load::open(const Endpoint& endpoint,
                                         std::vector<std::unique_ptr<Actor>> actors) {
  const int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_fd < 0) return fail(ErrorCode::network, "no epoll set to be had");
  std::unique_ptr<Load> load(new Load(epoll_fd));
  load->seats_.reserve(actors.size());  // epoll and paused_ point to seats.
  for (auto& actor : actors) {
    Seat& seat = load->seats_.emplace_back(Seat{TRY(Connection::open(endpoint)), std::move(actor)});
    RETURN_IF_ERROR(greet(seat.connection, seat.actor->client()));
    RETURN_IF_ERROR(load->watch(seat, EPOLLIN));
  }
  return load;
}

Load::~Load() {
  close(epoll_fd_);
}

Result<void> Load::run(Nanos time_max, const std::function<bool()>& is_over) {
  const Nanos end = now() + time_max;
  for (Seat& seat : seats_) {
    RETURN_IF_ERROR(advance(seat));
    RETURN_IF_ERROR(digest(seat));  // Bytes that followed the handshake.
  }
  std::array<epoll_event, kEventsMax> events;
  while (done_ < seats_.size() && now() < end && !(is_over && is_over())) {
    const int count = epoll_wait(epoll_fd_, events.data(), events.size(), kTurnMilliseconds);
    for (int i = 0; i < count; ++i) {
      RETURN_IF_ERROR(serve(*static_cast<Seat*>(events[static_cast<std::size_t>(i)].data.ptr)));
    }
    RETURN_IF_ERROR(advance_paused());
  }
  return {};
}

Result<void> Load::serve(Seat& seat) {
  if ((seat.watched & EPOLLOUT) != 0) RETURN_IF_ERROR(flush(seat));
  RETURN_IF_ERROR(seat.connection.read());
  return digest(seat);
}

Result<void> Load::digest(Seat& seat) {
  std::string& out = seat.connection.out();
  const Progress progress = TRY(seat.actor->client().take(seat.connection.in(), out));
  if (progress == Progress::under_way) return out.empty() ? Result<void>() : flush(seat);
  seat.actor->finished();
  return advance(seat);
}

Result<void> Load::advance(Seat& seat) {
  seat.state = seat.actor->next(seat.connection.out());
  if (seat.state == Step::done) ++done_;
  if (seat.state == Step::pause) paused_.push_back(&seat);
  return flush(seat);
}

Result<void> Load::flush(Seat& seat) {
  const bool all = TRY(seat.connection.flush());
  return watch(seat, all ? EPOLLIN : EPOLLIN | EPOLLOUT);
}

Result<void> Load::advance_paused() {
  for (Seat* seat : std::exchange(paused_, {})) RETURN_IF_ERROR(advance(*seat));
  return {};
}

Result<void> Load::watch(Seat& seat, std::uint32_t events) {
  if (seat.watched == events) return {};
  epoll_event event{.events = events, .data = {.ptr = &seat}};
  const int operation = seat.watched == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  if (epoll_ctl(epoll_fd_, operation, seat.connection.fd(), &event) != 0) {
    return fail(ErrorCode::network, fmt::format("epoll_ctl: {}", std::strerror(errno)));
  }
  seat.watched = events;
  return {};
}

}  // namespace redrive::bench
