#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "functions/runtime/watch.h"
#include "net/http/buffer.h"
#include "net/http/limits.h"
#include "net/http/message.h"
#include "net/http/parser.h"

namespace redrive::runtime {

// One connection of a runtime to its Runtime API. Requests are handled one at a time; a request is
// answered while it is handled or later, and the next one waits until then.
//
// Responses are sent at the end of the poller's pass: when a runtime sends its result and asks for
// the next event in one write, both responses are sent together if there is a next event.
class ApiConnection {
 public:
  class Owner {
   public:
    // Bytes were received; any requests among them are reported next.
    virtual void on_bytes() = 0;
    virtual void on_request(ApiConnection& connection, const http::Request& request) = 0;
    // The runtime sent more than allowed, so the start of its next request is unknown.
    virtual void on_refused(ApiConnection& connection, int status) = 0;
    virtual void on_closed(ApiConnection& connection) = 0;

   protected:
    ~Owner() = default;
  };

  ApiConnection(Poller& poller, Owner& owner) : poller_(poller), owner_(owner) {}

  // Takes a socket, or two pipes.
  bool open(Descriptor input, Descriptor output);
  // Answers the current request.
  void answer(int status, std::span<const http::Header> headers, std::string_view body);
  // The current request needs no response.
  void pass_over() { handling_ = false; }
  // Answers a future request. The receiver recognises the `ahead` header and skips that request.
  void answer_ahead(std::string_view ahead, std::span<const http::Header> headers,
                    std::string_view body);
  // Serves buffered requests after the peer is gone.
  void serve_rest();
  void close();
  bool is_open() const { return input_.is_open(); }
  // Whether a response can still be delivered.
  bool is_heard() const { return is_piped_ ? output_.is_open() : input_.is_open(); }

 private:
  void on_input(std::uint32_t events);
  void on_output(std::uint32_t events);
  bool receive(bool over);
  void serve();
  void handle(const http::Request& request);
  void write_answer(int status, std::span<const http::Header> headers, std::string_view body);
  void flush_soon();
  void flush();
  void lose_output();

  Poller& poller_;
  Owner& owner_;
  Watch input_;
  Watch output_;           // Only with two pipes.
  bool is_piped_ = false;  // Otherwise input_ is bidirectional.
  http::Parser parser_;
  http::Buffer in_;
  std::string out_;
  std::size_t out_sent_ = 0;
  bool handling_ = false;  // A request has not been answered yet.
  bool serving_ = false;
  bool flush_posted_ = false;
  bool keep_alive_ = true;
  bool refused_ = false;  // The start of the next request is unknown.
};

}  // namespace redrive::runtime
