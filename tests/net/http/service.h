#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/http/server.h"

namespace redrive::http {

// Passes values from I/O threads to the test's thread. take() waits for one, with a time limit.
template <class T>
class Mailbox {
 public:
  void put(T value) {
    const std::lock_guard lock(mutex_);
    values_.push_back(std::move(value));
    changed_.notify_all();
  }
  std::optional<T> take() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(20), [this] { return !values_.empty(); })) {
      return std::nullopt;
    }
    T value = std::move(values_.front());
    values_.pop_front();
    return value;
  }
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return values_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> values_;  // Guarded by mutex_.
};

inline void write_text(std::string& out, std::string_view body, bool keep_alive = true) {
  const std::size_t length_at =
      begin_response(out, {.content_type = "text/plain", .keep_alive = keep_alive});
  out.append(body);
  end_response(out, length_at);
}

// A server whose paths do what their names say:
//   /hold/N    replies "held N" for sync point N; /hold-large/N/BYTES that many bytes
//   /gather    gathers; at the end of the pass each is answered with their number
//   /defer     defers; the token goes to `tokens`, a disconnect to `abandoned`
//   /large/N   replies N bytes
//   otherwise  replies "METHOD target body"
struct Service {
  Mailbox<ReplyToken> tokens;
  Mailbox<std::uint64_t> abandoned;  // Generations of tokens.
  Mailbox<SyncPoint> holds;          // In the order of handling.
  Mailbox<int> rounds;
  Mailbox<bool> found;  // For gathered requests: whether the client was still connected.
  std::unique_ptr<Server> server;

  explicit Service(const Server::Options& options = {}) {
    auto started = Server::start(options,
                                 {.handle = [this](Exchange& exchange) { handle(exchange); },
                                  .answer_gathered = [this] { answer_gathered(); },
                                  .round_ended = [this](bool) { rounds.put(1); }});
    if (!started) throw std::runtime_error(started.error().message);
    server = std::move(*started);
  }
  ~Service() { server.reset(); }

  std::uint16_t port() const { return server->port(); }

  void answer(const ReplyToken& token, std::string text, SyncPoint after = 0) {
    server->resume(token, [text = std::move(text), after](std::string* out) {
      if (out != nullptr) write_text(*out, text);
      return after;
    });
  }

 private:
  void handle(Exchange& exchange) {
    const Request& request = exchange.request();
    if (request.path.starts_with("/hold/")) return hold(exchange);
    if (request.path.starts_with("/hold-large/")) return hold_large(exchange);
    if (request.path == "/defer") return defer(exchange);
    if (request.path == "/gather") return gathered_.push_back(exchange.gather());
    std::string text;
    if (request.path.starts_with("/large/")) {
      text.assign(std::stoul(std::string(request.path.substr(7))), 'x');
    } else {
      text.append(request.method).append(" ").append(request.target).append(" ");
      text.append(request.body);
    }
    write_text(exchange.out(), text, request.keep_alive);
    exchange.reply(0);
  }

  void answer_gathered() {
    const std::vector<ReplyToken> now = std::exchange(gathered_, {});
    for (const ReplyToken& token : now) {
      server->answer(token, [&](std::string* out) {
        if (out != nullptr) write_text(*out, "one of " + std::to_string(now.size()));
        found.put(out != nullptr);
        return SyncPoint(0);
      });
    }
  }

  void hold(Exchange& exchange) {
    const SyncPoint point = std::stoull(std::string(exchange.request().path.substr(6)));
    write_text(exchange.out(), "held " + std::to_string(point), exchange.request().keep_alive);
    holds.put(point);
    exchange.reply(point);
  }

  void hold_large(Exchange& exchange) {
    const std::string numbers(exchange.request().path.substr(12));
    const std::size_t slash = numbers.find('/');
    const SyncPoint point = std::stoull(numbers.substr(0, slash));
    write_text(exchange.out(), std::string(std::stoul(numbers.substr(slash + 1)), 'x'));
    holds.put(point);
    exchange.reply(point);
  }

  void defer(Exchange& exchange) {
    auto generation = std::make_shared<std::uint64_t>(0);
    const ReplyToken token = exchange.defer([this, generation] { abandoned.put(*generation); });
    *generation = token.generation;
    tokens.put(token);
  }

  std::vector<ReplyToken> gathered_;  // Owned by the only I/O thread.
};

inline std::string get(std::string_view target, std::string_view headers = "") {
  return std::string("GET ").append(target).append(" HTTP/1.1\r\nHost: h\r\n").append(headers) +
         "\r\n";
}
inline std::string post(std::string_view target, std::string_view body) {
  return std::string("POST ").append(target).append(" HTTP/1.1\r\nHost: h\r\nContent-Length: ") +
         std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

}  // namespace redrive::http
