#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "net/wire/shape.h"

namespace redrive::documents {

// GET and POST session: the signed-in key and what it may do.
struct SessionView {
  bool signed_in = false;
  bool keys = false;  // Whether the server has keys; without keys no sign-in is needed.
  std::optional<std::string_view> name;  // Of the key.
  std::optional<std::string_view> role;
  std::vector<std::string_view> rights;
  std::vector<std::string_view> queues;  // Patterns; empty: all.
  std::optional<std::string_view> account;
  std::optional<std::string_view> region;
  std::optional<std::string_view> expires_at;
  std::string_view version;
  bool virtual_clock = false;
  bool memory = false;
  bool secure = false;  // The request came over TLS.
};
consteval auto shape_of(SessionView*) {
  using Out = SessionView;
  return wire::shape(wire::required("signedIn", &Out::signed_in),
                     wire::required("keys", &Out::keys),
                     wire::optional("name", &Out::name),
                     wire::optional("role", &Out::role),
                     wire::optional("rights", &Out::rights).each("right"),
                     wire::optional("queues", &Out::queues).each("queue"),
                     wire::optional("account", &Out::account),
                     wire::optional("region", &Out::region),
                     wire::optional("expiresAt", &Out::expires_at),
                     wire::required("version", &Out::version),
                     wire::required("virtualClock", &Out::virtual_clock),
                     wire::required("memory", &Out::memory),
                     wire::required("secure", &Out::secure));
}

// POST session. Without a token the signature of the request signs in.
struct SignInRequest {
  std::optional<std::string_view> token;  // Of a one-time link.
};
consteval auto shape_of(SignInRequest*) {
  return wire::shape(wire::optional("token", &SignInRequest::token));
}

// POST session/link.
struct SignInLink {
  std::string_view token;
  std::string_view expires_at;
};
consteval auto shape_of(SignInLink*) {
  return wire::shape(wire::required("token", &SignInLink::token),
                     wire::required("expiresAt", &SignInLink::expires_at));
}

}  // namespace redrive::documents
