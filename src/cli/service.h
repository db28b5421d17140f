#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "cli/endpoint.h"
#include "cli/failure.h"
#include "cli/transport.h"
#include "wire/decoder.h"
#include "wire/encode.h"
#include "wire/valid_text.h"

namespace redrive::cli {

// A decoded answer together with the bytes that its views point into.
template <class T>
class Reply {
 public:
  const T* operator->() const { return &held_->value; }
  const T& operator*() const { return held_->value; }

  static Answer<Reply> decode(std::string body);

 private:
  struct Held {
    std::string padded_body;
    wire::Decoder decoder;
    T value;
  };
  std::unique_ptr<Held> held_ = std::make_unique<Held>();
};

// A document as the body of a request. Fails when a text in it is not UTF-8: it would be sent as
// something else than what was meant.
template <class T>
Answer<std::string> request_body(const T& document) {
  if (!wire::has_valid_text(document)) {
    return usage_failure("a text is not valid UTF-8; bytes can be sent as a Binary attribute");
  }
  std::string body;
  wire::encode_json(body, document);
  return body;
}

// The server's APIs as a client sees them, over one transport. For one thread.
class Service {
 public:
  Service(Endpoint endpoint, std::unique_ptr<Transport> transport, const Clock& clock);

  template <class Action>
  Answer<Reply<typename Action::Output>> call(const typename Action::Input& input) {
    std::string body = TRY(request_body(input));
    return Reply<typename Action::Output>::decode(TRY(post(Action::kName, std::move(body))));
  }

  // The management API, which only Redrive has; `path` goes on from /_redrive/v1/.
  template <class Output>
  Answer<Reply<Output>> manage(std::string_view method, std::string_view path,
                               std::string body = {}) {
    return Reply<Output>::decode(TRY(ask_management(method, path, std::move(body))));
  }

  // The Lambda API; `path` begins with a version: 2015-03-31/functions.
  template <class Output>
  Answer<Reply<Output>> lambda(std::string_view method, std::string_view path,
                               std::string body = {}) {
    return Reply<Output>::decode(TRY(ask_lambda(method, path, std::move(body))).body);
  }
  // The whole answer, of which some operations put a part into headers.
  Answer<http::ClientResponse> ask_lambda(
      std::string_view method, std::string_view path, std::string body = {},
      std::vector<std::pair<std::string, std::string>> headers = {});

  // Sends a JSON document and gives back that of the answer, or why there is none.
  Answer<std::string> post(std::string_view action, std::string body);

 private:
  Answer<std::string> ask_management(std::string_view method, std::string_view path,
                                     std::string body);
  // Signs and sends a request for `path` on the server.
  Answer<http::ClientResponse> send(http::ClientRequest request, std::string_view path,
                                    std::string_view service);

  Endpoint endpoint_;
  std::unique_ptr<Transport> transport_;
  const Clock& clock_;
};

// Signs a request for `target`, which is path and query, with the endpoint's credentials; it must
// have some.
void add_signature(http::ClientRequest& request, const Endpoint& endpoint, std::string_view target,
                   std::string_view service, Timestamp now);

std::unexpected<Failure> unreadable_answer(std::string_view why);

template <class T>
Answer<Reply<T>> Reply<T>::decode(std::string body) {
  constexpr std::size_t kPadding = 64;  // The parser reads ahead.
  Reply reply;
  if (body.empty()) body = "{}";
  const std::size_t size = body.size();
  reply.held_->padded_body = std::move(body);
  reply.held_->padded_body.resize(size + kPadding);
  const std::string_view text = std::string_view(reply.held_->padded_body).substr(0, size);
  const auto decoded = wire::decode_json(reply.held_->decoder, text, reply.held_->value);
  if (!decoded) return unreadable_answer(decoded.error().message);
  return reply;
}

}  // namespace redrive::cli
