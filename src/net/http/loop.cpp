#include "net/http/loop.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cassert>
#include <utility>

namespace redrive::http {

namespace {

// Response strings kept for reuse: enough for the replies of a round, and none of them large.
constexpr std::size_t kStringsMax = 256;
constexpr std::size_t kStringBytesMax = 64u << 10;
constexpr std::size_t kStringBytesFirst = 1u << 10;
// A thread that always finds something ready still requests a sync after this many passes, and
// after this many replies, when sharing it further would hardly make it cheaper.
constexpr unsigned kRoundsMax = 8;
constexpr unsigned kRoundRepliesMax = 256;
// A round ends after this time even if more is ready: a timer that works for a millisecond in each
// pass must not delay replies for kRoundsMax passes.
constexpr std::chrono::milliseconds kRoundTimeMax{2};
constexpr unsigned kGatheredEnough = 64;
constexpr std::chrono::milliseconds kTickMin{5};
constexpr std::chrono::milliseconds kTickMax{1'000};

thread_local const Loop* t_running = nullptr;  // The loop whose thread this is.

// Time limits are checked in a sweep over all connections rather than with a timer each: accurate
// to about a quarter of the shortest limit, and no cost per request.
std::chrono::milliseconds tick_for(const Limits& limits) {
  const auto shortest =
      std::min({limits.request_time_max, limits.idle_time_max, limits.reply_time_max});
  return std::clamp(shortest / 4, kTickMin, kTickMax);
}

}  // namespace

void Shared::connection_closed() {
  if (connections.fetch_sub(1) > 1) return;
  const MutexLock lock(all_closed_mutex);
  all_closed.notify_all();
}

Loop::Loop(Shared& shared, unsigned index)
    : shared_(shared),
      index_(index),
      sweep_timer_(poller_, [this] { sweep(); }),
      tick_(tick_for(shared.limits)) {
  poller_.measure(traffic_.pass_micros);
}

void Loop::run() {
  t_running = this;
  batch_.emplace();
  schedule_sweep();
  while (!is_over()) {
    write_released();
    // Never sleep while requests are gathered: no event would wake this thread to answer them.
    const bool pending = round_open_ || gathered_ > 0;
    const bool worked = poller_.run_once(pending ? Poller::Wait::none : Poller::Wait::allowed);
    run_batch();
    if (!round_open_) answer_gathered();
    if (round_open_ && (!worked || is_round_full())) end_round(!worked);
  }
  batch_.reset();
}

bool Loop::is_own_thread() const {
  return t_running == this;
}

void Loop::stop() {
  post([this] {
    stopping_ = true;
    close_connections();
  });
}

void Loop::start_draining() {
  post([this] {
    draining_ = true;
    for (std::size_t slot = 0; slot < connections_.size(); ++slot) {
      if (connections_[slot]) connections_[slot]->close_if_idle();
    }
  });
}

void Loop::close_all() {
  post([this] { close_connections(); });
}

void Loop::close_connections() {
  run_batch();
  for (std::size_t slot = 0; slot < connections_.size(); ++slot) {
    if (connections_[slot]) connections_[slot]->close();
  }
}

void Loop::post(std::function<void()> work) {
  poller_.post(std::move(work));
}

// --- Connections ---

void Loop::adopt(Accepted accepted) {
  // std::function must be copyable; a Descriptor is not.
  const auto shared = std::make_shared<Accepted>(std::move(accepted));
  post([this, shared] { insert(std::move(*shared)); });
}

void Loop::insert(Accepted accepted) {
  if (stopping_ || draining_) {
    accepted.socket.close();
    return note_closed();
  }
  traffic_.accepted.add();
  const int on = 1;
  ::setsockopt(accepted.socket.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(connections_.size()));
    connections_.emplace_back();
  }
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  connections_[slot] = std::make_unique<Connection>(
      *this,
      std::move(accepted.socket),
      Connection::Origin{.slot = slot, .peer = std::move(accepted.peer)});
  connections_[slot]->start(poller_);
}

void Loop::retire(Connection& connection) {
  if (!connection.is_done()) return;
  const std::uint32_t slot = connection.slot();
  if (!connections_[slot]) return;  // Already retired, waiting to be freed.
  // Freed by a posted task, so that tasks the connection has posted before run first.
  post([gone = std::shared_ptr<Connection>(std::move(connections_[slot]))] {});
  free_slots_.push_back(slot);
}

ReplyToken Loop::make_token(const Connection& connection) {
  return {.thread = index_, .slot = connection.slot(), .generation = ++generation_last_};
}

Connection* Loop::awaiting(const ReplyToken& token) const {
  Connection* const connection =
      token.slot < connections_.size() ? connections_[token.slot].get() : nullptr;
  return connection != nullptr && connection->awaits(token) ? connection : nullptr;
}

void Loop::resume(const ReplyToken& token, std::function<SyncPoint(std::string*)> write,
                  metrics::Histogram* whole) {
  post([this, token, write = std::move(write), whole] {
    if (Connection* const connection = awaiting(token)) {
      connection->resume(write, whole);
    } else {
      write(nullptr);
    }
  });
}

void Loop::answer(const ReplyToken& token, const std::function<SyncPoint(std::string*)>& write) {
  if (Connection* const connection = awaiting(token)) {
    connection->answer_gathered(write);
  } else {
    write(nullptr);
  }
}

// --- Batched system calls ---

void Loop::receive_together(Connection& connection, int socket) {
  join_batch(connection);
  batch_->receive(socket, receive_buffers_.empty(in_batch_.size() - 1).space());
}

void Loop::send_together(Connection& connection, int socket, std::string_view bytes) {
  join_batch(connection);
  batch_->send(socket, bytes);
}

void Loop::join_batch(Connection& connection) {
  if (batch_->is_full()) run_batch();
  in_batch_.push_back(&connection);
}

// on_moved() must not add calls to the batch being completed.
void Loop::run_batch() {
  if (batch_->empty()) return;
  const auto results = batch_->run();
  for (std::size_t i = 0; i < results.size(); ++i) {
    Buffer in = receive_buffers_.empty(i);
    in_batch_[i]->on_moved(results[i], in);
  }
  assert(batch_->empty());
  in_batch_.clear();
  if (gathered_ >= kGatheredEnough) answer_gathered();
}

void Loop::note_gathered() {
  ++gathered_;
  open_round();
}

void Loop::note_longest(Poller::Clock::duration taken) {
  handler_longest_ = taken;
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(taken).count();
  traffic_.handler_micros_max.store(static_cast<std::uint64_t>(micros), std::memory_order_relaxed);
}

// Loops because a response sent at once may let a pipelined request be handled and gathered.
void Loop::answer_gathered() {
  while (std::exchange(gathered_, 0) > 0) shared_.hooks.answer_gathered();
}

// --- Time ---

std::uint64_t Loop::ticks_in(std::chrono::milliseconds time) const {
  return static_cast<std::uint64_t>((time + tick_ - std::chrono::milliseconds(1)) / tick_);
}

void Loop::schedule_sweep() {
  sweep_timer_.set(Poller::Clock::now() + tick_);
}

void Loop::sweep() {
  ++ticks_;
  for (std::size_t slot = 0; slot < connections_.size(); ++slot) {
    if (connections_[slot]) connections_[slot]->check_time();
  }
  schedule_sweep();
}

// --- Held replies ---

void Loop::hold(SyncPoint point, Connection& connection) {
  held_.push(point, connection);
  last_held_ = std::max(last_held_, point);
  open_round();
  ++round_replies_;
}

void Loop::open_round() {
  if (round_open_ || asked_ != 0) return;
  round_open_ = true;
  round_began_ = poller_.now();
  rounds_ = 0;
  round_replies_ = 0;
}

bool Loop::is_round_full() {
  return ++rounds_ >= kRoundsMax || round_replies_ >= kRoundRepliesMax ||
         poller_.now() - round_began_ >= kRoundTimeMax;
}

void Loop::end_round(bool idle) {
  answer_gathered();
  round_open_ = false;
  asked_ = last_held_;
  if (shared_.hooks.round_ended) shared_.hooks.round_ended(idle);
}

void Loop::release(SyncPoint reached) {
  if (is_own_thread()) return;  // The loop checks for itself before it sleeps.
  if (held_.first_sync_point() <= reached) poller_.wake();
}

void Loop::write_released() {
  const SyncPoint reached = shared_.released.load();
  while (Connection* const connection = held_.pop(reached)) connection->leave_hold();
  run_batch();
  if (asked_ > reached) return;
  asked_ = 0;
  // Writing a reply may have gathered the next pipelined request, which opens the next round.
  if (!held_.empty() || gathered_ > 0) open_round();
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
