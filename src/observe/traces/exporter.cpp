#include "observe/traces/exporter.h"

#include <fmt/format.h>

#include <algorithm>

#include "net/http/client.h"

namespace redrive::traces {
namespace {

constexpr std::chrono::milliseconds kLastTimeout{500};

}  // namespace

Exporter::Exporter(Options options) : options_(std::move(options)), thread_([this] { run(); }) {}

Exporter::~Exporter() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

template <class T>
void Exporter::push(std::deque<T>& queue, T value) {
  if (queue.size() >= options_.spans_max) {
    ++dropped_;
    return;
  }
  queue.push_back(std::move(value));
  if (queue.size() == options_.batch_max) wake_.notify_one();
}

void Exporter::add(Span span) {
  const MutexLock lock(mutex_);
  push(spans_, std::move(span));
}

void Exporter::add_later(std::function<void(Exporter&)> make) {
  const MutexLock lock(mutex_);
  push(later_, std::move(make));
}

void Exporter::run() {
  while (true) {
    std::deque<std::function<void(Exporter&)>> later;
    bool last = false;
    {
      UniqueMutexLock lock(mutex_);
      wake_.wait_for(mutex_, options_.pause, [&]() REQUIRES(mutex_) {
        return stopping_ || std::max(spans_.size(), later_.size()) >= options_.batch_max;
      });
      last = stopping_;
      if (!last) later.swap(later_);  // At shutdown the objects they use may be gone.
    }
    for (const auto& make : later) make(*this);
    std::vector<Span> batch;
    {
      const MutexLock lock(mutex_);
      const std::size_t count = std::min(spans_.size(), options_.batch_max);
      std::move(spans_.begin(),
                spans_.begin() + static_cast<std::ptrdiff_t>(count),
                std::back_inserter(batch));
      spans_.erase(spans_.begin(), spans_.begin() + static_cast<std::ptrdiff_t>(count));
    }
    if (!batch.empty()) send(batch);
    if (last) return;
  }
}

void Exporter::send(const std::vector<Span>& spans) {
  http::Client client;
  const bool last = [&] {
    const MutexLock lock(mutex_);
    return stopping_;
  }();
  const auto answer =
      client.send({.method = "POST",
                   .url = options_.endpoint + "/v1/traces",
                   .headers = {{"Content-Type", "application/json"}},
                   .body = otlp_document(spans),
                   .timeout = last ? std::min(kLastTimeout, options_.timeout) : options_.timeout});
  const bool taken = answer && answer->status >= 200 && answer->status < 300;
  (taken ? sent_ : dropped_) += spans.size();
  note(
      taken,
      !answer ? answer.error().message : fmt::format("it responds with status {}", answer->status));
}

// Logs only changes, so that a collector that is down overnight does not fill the log.
void Exporter::note(bool reached, const std::string& why) {
  if (reached == !away_ || !options_.log) return;
  away_ = !reached;
  options_.log(reached ? fmt::format("the trace collector is back; {} spans were dropped so far",
                                     dropped_.load())
                       : fmt::format("the trace collector does not accept spans: {}", why));
}

}  // namespace redrive::traces
