#pragma once

#include <openssl/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace redrive::http {

// Where a server's certificate comes from. Both files are PEM.
struct TlsFiles {
  std::string certificate;  // The server's own first, then those that vouch for it.
  std::string key;
};

// The present certificate of a server: TLS 1.2 and 1.3, HTTP/1.1 by ALPN.
class TlsContext {
 public:
  static Result<std::unique_ptr<TlsContext>> load(const TlsFiles& files);

  // Reads the files again. Sessions that exist go on with what they have; when a file cannot be
  // used, so do those to come. From any thread.
  Result<void> reload();
  // A new session in the role of the server, or nullptr without memory. From any thread.
  SSL* new_session() const;

 private:
  using Handle = std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)>;

  TlsContext(TlsFiles files, Handle handle);
  static Result<Handle> make(const TlsFiles& files);

  const TlsFiles files_;
  mutable std::mutex mutex_;
  Handle handle_;  // Guarded by mutex_.
};

// One connection's TLS over a socket that does not block and outlives this object.
//
// Bytes that were decrypted but did not fit are not announced by the socket: has_pending() tells.
class TlsSession {
 public:
  enum class Outcome : std::uint8_t {
    done,        // For reads and writes: at least one byte.
    want_read,   // Call again when the socket is readable,
    want_write,  // or writable.
    ended,       // The other side has closed, or cannot be understood.
    plain_http,  // Of a handshake: the other side does not speak TLS but HTTP.
  };
  struct Transfer {
    Outcome outcome;
    std::size_t bytes = 0;
  };

  TlsSession(const TlsContext& context, int socket);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  Outcome handshake();
  Transfer read(std::span<char> space);
  Transfer write(std::string_view bytes);
  bool has_pending() const;
  // Tells the other side that no more will come, as far as that goes without waiting.
  void say_goodbye();

 private:
  Outcome outcome_of(int result);

  SSL* ssl_;
  const int socket_;
  bool usable_ = false;  // The handshake is over and nothing has failed since.
};

}  // namespace redrive::http
