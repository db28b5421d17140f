#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "http/buffer.h"
#include "http/limits.h"
#include "http/message.h"
#include "http/parser.h"
#include "runtime/watch.h"

namespace redrive::runtime {

// One connection of a runtime to its Runtime API. Requests are handled one by one; a request is
// answered while it is handled or later, and the next one waits until then.
//
// Answers leave at the end of the poller's round: when a runtime sends its result and asks for the
// next event in one breath, both answers travel together if there is a next event.
class ApiConnection {
 public:
  class Owner {
   public:
    // Something has come: perhaps requests, which are told of next.
    virtual void on_bytes() = 0;
    virtual void on_request(ApiConnection& connection, const http::Request& request) = 0;
    // More than a runtime may send: it cannot be told where its next request begins.
    virtual void on_refused(ApiConnection& connection, int status) = 0;
    virtual void on_closed(ApiConnection& connection) = 0;

   protected:
    ~Owner() = default;
  };

  ApiConnection(Poller& poller, Owner& owner) : poller_(poller), owner_(owner) {}

  // A socket, or two pipes.
  bool open(Descriptor input, Descriptor output);
  // Answers the request in hand.
  void answer(int status, std::span<const http::Header> headers, std::string_view body);
  // The request in hand wants none.
  void pass_over() { handling_ = false; }
  // Answers a request that will come: to those who know from `ahead` that they are to pass it over.
  void answer_ahead(std::string_view ahead, std::span<const http::Header> headers,
                    std::string_view body);
  // Serves what has come and was not announced yet: nobody is left to send more.
  void serve_rest();
  void close();
  bool is_open() const { return input_.is_open(); }
  // Whether anybody is there to hear an answer.
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
  Watch output_;           // Of two pipes.
  bool is_piped_ = false;  // Else the input leads both ways.
  http::Parser parser_;
  http::Buffer in_;
  std::string out_;
  std::size_t out_sent_ = 0;
  bool handling_ = false;  // A request has no answer yet.
  bool serving_ = false;
  bool flush_posted_ = false;
  bool keep_alive_ = true;
  bool refused_ = false;  // Where the next request would begin is unknown.
};

}  // namespace redrive::runtime
