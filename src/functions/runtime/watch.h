#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "net/http/poller.h"

namespace redrive::runtime {

using http::Descriptor;
using http::Poller;

// A descriptor with its event callback (`events` are epoll's). Like every watcher, it must be freed
// by a task posted after its descriptor was closed.
class Watch final : private Poller::Watcher {
 public:
  bool open(Poller& poller, Descriptor descriptor, std::function<void(std::uint32_t)> tell) {
    descriptor_ = std::move(descriptor);
    tell_ = std::move(tell);
    return descriptor_.is_open() && poller.watch(descriptor_, *this);
  }
  void close() { descriptor_.close(); }
  bool is_open() const { return descriptor_.is_open(); }
  int number() const { return descriptor_.number(); }

 private:
  void on_events(std::uint32_t events) override {
    if (descriptor_.is_open()) tell_(events);
  }

  Descriptor descriptor_;
  std::function<void(std::uint32_t)> tell_;
};

}  // namespace redrive::runtime
