#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/padded_text.h"
#include "cli/client/endpoint.h"
#include "cli/client/failure.h"
#include "cli/client/transport.h"
#include "net/wire/decoder.h"
#include "net/wire/encode.h"
#include "net/wire/valid_text.h"

namespace redrive::cli {

// A decoded response together with the bytes that its views point into.
template <class T>
class Reply {
 public:
  const T* operator->() const { return &held_->value; }
  const T& operator*() const { return held_->value; }

  static Answer<Reply> decode(std::string body);

 private:
  struct Held {
    PaddedText body;
    wire::Decoder decoder;
    T value;
  };
  std::unique_ptr<Held> held_ = std::make_unique<Held>();
};

// Encodes a document as a request body. Fails if it contains text that is not UTF-8, which would be
// changed silently.
template <class T>
Answer<std::string> request_body(const T& document) {
  if (!wire::has_valid_text(document)) {
    return usage_failure("a text is not valid UTF-8; bytes can be sent as a Binary attribute");
  }
  std::string body;
  wire::encode_json(body, document);
  return body;
}

// Client for the server's APIs over one transport. For one thread.
class Service {
 public:
  Service(Endpoint endpoint, std::unique_ptr<Transport> transport, const Clock& clock);

  template <class Action>
  Answer<Reply<typename Action::Output>> call(const typename Action::Input& input) {
    std::string body = TRY(request_body(input));
    return Reply<typename Action::Output>::decode(TRY(post(Action::kName, std::move(body))));
  }

  // The management API, which only Redrive has; `path` is relative to /_redrive/v1/.
  template <class Output>
  Answer<Reply<Output>> manage(std::string_view method, std::string_view path,
                               std::string body = {}) {
    return Reply<Output>::decode(TRY(ask_management(method, path, std::move(body))));
  }

  // The Lambda API; `path` starts with a version: 2015-03-31/functions.
  template <class Output>
  Answer<Reply<Output>> lambda(std::string_view method, std::string_view path,
                               std::string body = {}) {
    return Reply<Output>::decode(TRY(ask_lambda(method, path, std::move(body))).body);
  }
  // The whole response; some operations return data in headers.
  Answer<http::ClientResponse> ask_lambda(
      std::string_view method, std::string_view path, std::string body = {},
      std::vector<std::pair<std::string, std::string>> headers = {});

  // Sends a JSON document and returns that of the response.
  Answer<std::string> post(std::string_view action, std::string body);

 private:
  Answer<std::string> ask_management(std::string_view method, std::string_view path,
                                     std::string body);
  // Signs and sends a request for `path`.
  Answer<http::ClientResponse> send(http::ClientRequest request, std::string_view path,
                                    std::string_view service);

  Endpoint endpoint_;
  std::unique_ptr<Transport> transport_;
  const Clock& clock_;
};

// Signs a request for `target` (path and query) with the endpoint's credentials, which must be set.
void add_signature(http::ClientRequest& request, const Endpoint& endpoint, std::string_view target,
                   std::string_view service, Timestamp now);

std::unexpected<Failure> unreadable_answer(std::string_view why);

template <class T>
Answer<Reply<T>> Reply<T>::decode(std::string body) {
  Reply reply;
  reply.held_->body = PaddedText(body.empty() ? "{}" : body);
  const auto decoded =
      wire::decode_json(reply.held_->decoder, reply.held_->body, reply.held_->value);
  if (!decoded) return unreadable_answer(decoded.error().message);
  return reply;
}

}  // namespace redrive::cli
