#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace redrive::queue {

// The consumer of an attempt, as stored in the name table (Attempt::by). One text, written and read
// only here, so that an attempt stays 24 bytes:
//
//   function:orders code=9f3c2a1b version=4 runtime=python3.11.2
//   checkout 10.0.0.7 app=checkout-1.4 runtime=python3.11.2 agent=Boto3/1.34.2
//
// The fields after the plain name are optional, so older names without fields can be read. No value
// has spaces or `=`.
struct ConsumerName {
  enum class Kind { client, function };

  Kind kind = Kind::client;
  std::string name;         // Of the function, or of the key that signed the receive.
  std::string code;         // Functions: the first digits of the code's SHA-256, in hexadecimal.
  std::string version;      // Functions: the number of the published version; empty: $LATEST.
  std::string interpreter;  // python3.11.2, nodejs18.19.0
  std::string app;          // Clients: what AWS_SDK_UA_APP_ID says.
  std::string agent;        // Clients: the SDK, as Boto3/1.34.2.
  std::string address;      // Clients: where the receive came from.

  friend bool operator==(const ConsumerName&, const ConsumerName&) = default;

  // The text above.
  std::string text() const;
  // The same without fields: `function:orders`, `checkout 10.0.0.7`.
  std::string plain() const;
  // The code that ran: of a function, or the app id of a client. Empty: unknown.
  const std::string& code_version() const { return kind == Kind::function ? code : app; }
  // Equal for all consumers that run the same code in the same role, whatever their hosts:
  // `function:orders code=9f3c2a1b`, `checkout app=checkout-1.4`. A text that parses.
  std::string code_key() const;
  // The same without the code: versions with the same role are compared.
  std::string role() const;
};

// Parses any name; a name without known fields is a plain one.
ConsumerName parse_consumer_name(std::string_view text);

// What is kept of a User-Agent. Clients control it: every value is cut to kConsumerFieldBytes and
// to harmless characters.
struct UserAgent {
  std::string app;          // Of `app/...`.
  std::string agent;        // Its first product.
  std::string interpreter;  // Of `lang/python#3.11.2`, `md/nodejs#18.19.0`, ...

  friend bool operator==(const UserAgent&, const UserAgent&) = default;
};
UserAgent parse_user_agent(std::string_view header);

inline constexpr std::size_t kConsumerFieldBytes = 50;  // What AWS allows for an app id.
inline constexpr std::size_t kCodeDigits = 8;

// The first kCodeDigits of a SHA-256 that is given in base64, in hexadecimal; empty if it is not
// one.
std::string code_digits(std::string_view sha256_base64);

}  // namespace redrive::queue
