#include "net/http/socket_batch.h"

#include <liburing.h>
#include <sys/socket.h>

#include <algorithm>
#include <cassert>
#include <cerrno>

#include "base/uninterrupted.h"

namespace redrive::http {
namespace {

constexpr int kReceiveFlags = MSG_DONTWAIT;
constexpr int kSendFlags = MSG_DONTWAIT | MSG_NOSIGNAL;

// The result of a call, or the negative error number, as io_uring reports it.
template <class Call>
ssize_t result_of(Call call) {
  const ssize_t result = uninterrupted(call);
  return result < 0 ? -errno : result;
}

}  // namespace

ssize_t receive_now(int socket, std::span<char> into) {
  return result_of([&] { return ::recv(socket, into.data(), into.size(), kReceiveFlags); });
}

ssize_t send_now(int socket, std::string_view bytes) {
  return result_of([&] { return ::send(socket, bytes.data(), bytes.size(), kSendFlags); });
}

class SocketBatch::Ring {
 public:
  // Returns nullptr if the kernel is too old for io_uring or a policy forbids it.
  static std::unique_ptr<Ring> make() {
    auto ring = std::make_unique<Ring>();
    io_uring_params wanted{};
    wanted.flags =
        IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SUBMIT_ALL;
    ring->made_ = io_uring_queue_init_params(kCallsMax, &ring->ring_, &wanted) == 0;
    if (!ring->made_) return nullptr;
    io_uring_register_ring_fd(&ring->ring_);  // Saves a lookup; optional, so failure is ignored.
    return ring;
  }
  Ring() = default;
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() {
    if (made_) io_uring_queue_exit(&ring_);
  }

  // Returns how many calls, from the first on, the kernel has accepted; those have their results.
  std::size_t run(std::span<const Call> calls, std::span<ssize_t> results) {
    for (std::size_t i = 0; i < calls.size(); ++i) ask(calls[i], i);
    // Non-blocking calls complete on submission.
    const int taken = io_uring_submit_and_wait(&ring_, static_cast<unsigned>(calls.size()));
    for (int left = taken; left > 0;) left -= static_cast<int>(reap(results));
    return static_cast<std::size_t>(std::max(taken, 0));
  }

 private:
  unsigned reap(std::span<ssize_t> results) {
    io_uring_cqe* completion = nullptr;
    io_uring_wait_cqe(&ring_,
                      &completion);  // If a signal interrupts it, the caller's loop tries again.
    unsigned head = 0;
    unsigned count = 0;
    io_uring_for_each_cqe(&ring_, head, completion) {
      results[completion->user_data] = completion->res;
      ++count;
    }
    io_uring_cq_advance(&ring_, count);
    return count;
  }

  void ask(const Call& call, std::size_t number) {
    io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
    assert(entry != nullptr);  // The ring has kCallsMax entries.
    if (call.kind == Call::Kind::receive) {
      io_uring_prep_recv(entry, call.socket, call.data, call.size, kReceiveFlags);
    } else {
      io_uring_prep_send(entry, call.socket, call.data, call.size, kSendFlags);
    }
    entry->user_data = number;
  }

  io_uring ring_{};
  bool made_ = false;
};

SocketBatch::SocketBatch(Way way) : ring_(way == Way::together ? Ring::make() : nullptr) {}
SocketBatch::~SocketBatch() = default;

void SocketBatch::receive(int socket, std::span<char> into) {
  assert(!is_full());
  calls_.push_back({Call::Kind::receive, socket, into.data(), into.size()});
}

void SocketBatch::send(int socket, std::string_view bytes) {
  assert(!is_full());
  calls_.push_back({Call::Kind::send, socket, const_cast<char*>(bytes.data()), bytes.size()});
}

std::span<const ssize_t> SocketBatch::run() {
  results_.resize(calls_.size());
  std::size_t done = 0;
  if (ring_ && calls_.size() > 1) {
    done = ring_->run(calls_, results_);
    // Probably out of memory. The ring still holds unsubmitted entries, so it cannot be reused.
    if (done < calls_.size()) ring_.reset();
  }
  for (; done < calls_.size(); ++done) {
    const auto& [kind, socket, data, size] = calls_[done];
    results_[done] = kind == Call::Kind::receive ? receive_now(socket, {data, size})
                                                 : send_now(socket, {data, size});
  }
  calls_.clear();
  return results_;
}

}  // namespace redrive::http
