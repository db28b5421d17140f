#include "http/loop.h"

#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <utility>

namespace redrive::http {

namespace {

constexpr std::size_t kScratchBytes = 64u << 10;
// Spare response strings: enough for the replies of a round, none of them large.
constexpr std::size_t kStringsMax = 256;
constexpr std::size_t kStringBytesMax = 64u << 10;
constexpr std::size_t kStringBytesFirst = 1u << 10;
constexpr std::chrono::milliseconds kTickMin{5};
constexpr std::chrono::milliseconds kTickMax{1'000};

// Times are checked in a sweep over all connections rather than with a timer for each: exact to
// about a quarter of the shortest limit, and free of charge for each request.
std::chrono::milliseconds tick_for(const Limits& limits) {
  const auto shortest =
      std::min({limits.request_time_max, limits.idle_time_max, limits.reply_time_max});
  return std::clamp(shortest / 4, kTickMin, kTickMax);
}

}  // namespace

void Shared::connection_closed() {
  if (connections.fetch_sub(1) > 1) return;
  const std::lock_guard lock(all_closed_mutex);
  all_closed.notify_all();
}

Loop::Loop(Shared& shared, unsigned index)
    : shared_(shared),
      index_(index),
      context_(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO),
      work_(context_.get_executor()),
      sweep_timer_(context_),
      tick_(tick_for(shared.limits)),
      scratch_(kScratchBytes) {}

void Loop::run() {
  schedule_sweep();
  context_.run();
}

void Loop::stop() {
  asio::post(context_, [this] {
    stopping_ = true;
    sweep_timer_.cancel();
    close_connections();
    work_.reset();
  });
}

void Loop::start_draining() {
  asio::post(context_, [this] {
    draining_ = true;
    for (std::size_t slot = 0; slot < connections_.size(); ++slot) {
      if (connections_[slot]) connections_[slot]->close_if_idle();
    }
  });
}

void Loop::close_all() {
  asio::post(context_, [this] { close_connections(); });
}

void Loop::close_connections() {
  for (std::size_t slot = 0; slot < connections_.size(); ++slot) {
    if (connections_[slot]) connections_[slot]->close();
  }
}

void Loop::post(std::function<void()> work) {
  asio::post(context_, std::move(work));
}

// --- Connections ---

void Loop::adopt(Accepted accepted) {
  asio::dispatch(context_,
                 [this, accepted = std::move(accepted)]() mutable { insert(std::move(accepted)); });
}

void Loop::insert(Accepted accepted) {
  error_code error;
  Socket socket(context_);
  if (!stopping_ && !draining_) socket.assign(accepted.protocol, accepted.descriptor, error);
  if (!socket.is_open()) {
    ::close(accepted.descriptor);
    return note_closed();
  }
  socket.non_blocking(true, error);
  socket.set_option(asio::ip::tcp::no_delay(true), error);
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(connections_.size()));
    connections_.emplace_back();
  }
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  connections_[slot] = std::make_unique<Connection>(
      *this, std::move(socket), Connection::Origin{.slot = slot, .peer = std::move(accepted.peer)});
  connections_[slot]->start();
}

void Loop::retire(Connection& connection) {
  if (!connection.is_done()) return;
  const std::uint32_t slot = connection.slot();
  if (!connections_[slot]) return;  // Retired already, waiting to be freed.
  if (retired_.empty()) asio::post(context_, [this] { retired_.clear(); });
  retired_.push_back(std::move(connections_[slot]));
  free_slots_.push_back(slot);
}

Ticket Loop::make_ticket(const Connection& connection) {
  return {.thread = index_, .slot = connection.slot(), .generation = ++generation_last_};
}

void Loop::resume(const Ticket& ticket, std::function<Mark(std::string*)> write) {
  asio::post(context_, [this, ticket, write = std::move(write)] {
    Connection* const connection =
        ticket.slot < connections_.size() ? connections_[ticket.slot].get() : nullptr;
    if (connection != nullptr && connection->awaits(ticket)) {
      connection->resume(write);
    } else {
      write(nullptr);
    }
  });
}

// --- Time ---

std::uint64_t Loop::ticks_in(std::chrono::milliseconds time) const {
  return static_cast<std::uint64_t>((time + tick_ - std::chrono::milliseconds(1)) / tick_);
}

void Loop::schedule_sweep() {
  sweep_timer_.expires_after(tick_);
  sweep_timer_.async_wait([this](const error_code& error) {
    if (error || stopping_) return;
    sweep();
    schedule_sweep();
  });
}

void Loop::sweep() {
  ++ticks_;
  for (std::size_t slot = 0; slot < connections_.size(); ++slot) {
    if (connections_[slot]) connections_[slot]->check_time();
  }
}

// --- Held replies ---

void Loop::hold(Mark mark, Connection& connection) {
  held_.push(mark, connection);
  release(shared_.released.load());
  if (round_open_) return;
  round_open_ = true;
  // Runs behind everything that is ready now.
  asio::post(context_, [this] { end_round(); });
}

void Loop::end_round() {
  round_open_ = false;
  if (shared_.hooks.round_ended) shared_.hooks.round_ended();
}

void Loop::release(Mark reached) {
  if (held_.first_mark() > reached || !held_.claim_wake()) return;
  asio::post(context_, [this] { write_released(); });
}

void Loop::write_released() {
  held_.wake_done();
  const Mark reached = shared_.released.load();
  while (Connection* const connection = held_.pop(reached)) connection->leave_hold();
}

// --- Response strings ---

std::string Loop::take_string() {
  if (strings_.empty()) {
    std::string fresh;
    fresh.reserve(kStringBytesFirst);
    return fresh;
  }
  std::string spare = std::move(strings_.back());
  strings_.pop_back();
  return spare;
}

void Loop::give_back(std::string&& string) {
  const bool worth_keeping =
      string.capacity() >= kStringBytesFirst && string.capacity() <= kStringBytesMax;
  if (!worth_keeping || strings_.size() == kStringsMax) return;
  string.clear();
  strings_.push_back(std::move(string));
}

}  // namespace redrive::http
