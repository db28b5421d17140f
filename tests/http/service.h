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

#include "http/server.h"

namespace redrive::http {

// Values handed from I/O threads to the test's own. Taking waits for one, within reason.
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
  const std::size_t mark =
      begin_response(out, {.content_type = "text/plain", .keep_alive = keep_alive});
  out.append(body);
  end_response(out, mark);
}

// A server whose paths do what their names say:
//   /hold/N    replies "held N" for mark N; /hold-large/N/BYTES so many bytes
//   /gather    gathers; at the end of the pass all are answered with how many they were
//   /defer     defers; the ticket goes to `tickets`, a client that left to `abandoned`
//   /large/N   replies N bytes
//   otherwise  replies "METHOD target body"
struct Service {
  Mailbox<Ticket> tickets;
  Mailbox<std::uint64_t> abandoned;  // Generations of tickets.
  Mailbox<Mark> holds;               // Marks in the order of handling.
  Mailbox<int> rounds;
  Mailbox<bool> found;  // Of what was gathered: whether its client was still there.
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

  void answer(const Ticket& ticket, std::string text, Mark after = 0) {
    server->resume(ticket, [text = std::move(text), after](std::string* out) {
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
    const std::vector<Ticket> now = std::exchange(gathered_, {});
    for (const Ticket& ticket : now) {
      server->answer(ticket, [&](std::string* out) {
        if (out != nullptr) write_text(*out, "one of " + std::to_string(now.size()));
        found.put(out != nullptr);
        return Mark(0);
      });
    }
  }

  void hold(Exchange& exchange) {
    const Mark mark = std::stoull(std::string(exchange.request().path.substr(6)));
    write_text(exchange.out(), "held " + std::to_string(mark), exchange.request().keep_alive);
    holds.put(mark);
    exchange.reply(mark);
  }

  void hold_large(Exchange& exchange) {
    const std::string numbers(exchange.request().path.substr(12));
    const std::size_t slash = numbers.find('/');
    const Mark mark = std::stoull(numbers.substr(0, slash));
    write_text(exchange.out(), std::string(std::stoul(numbers.substr(slash + 1)), 'x'));
    holds.put(mark);
    exchange.reply(mark);
  }

  void defer(Exchange& exchange) {
    auto generation = std::make_shared<std::uint64_t>(0);
    const Ticket ticket = exchange.defer([this, generation] { abandoned.put(*generation); });
    *generation = ticket.generation;
    tickets.put(ticket);
  }

  std::vector<Ticket> gathered_;  // With one I/O thread, which is its owner.
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
