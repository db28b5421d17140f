#pragma once

#include <openssl/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/result.h"

namespace redrive::http {

// Certificate and key of a server, as PEM files.
struct TlsFiles {
  std::string certificate;  // The server's own certificate first, then its chain.
  std::string key;
};

// A server's current certificate: TLS 1.2 and 1.3, HTTP/1.1 via ALPN.
class TlsContext {
 public:
  static Result<std::unique_ptr<TlsContext>> load(const TlsFiles& files);

  // Reloads the files for new sessions; existing ones keep their certificate. If a file cannot be
  // used, the previous certificate stays in use. Thread-safe.
  Result<void> reload();
  // A new server-side session, or nullptr if out of memory. Thread-safe.
  SSL* new_session() const;

 private:
  using Handle = std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)>;

  TlsContext(TlsFiles files, Handle handle);
  static Result<Handle> make(const TlsFiles& files);

  const TlsFiles files_;
  mutable Mutex mutex_;
  Handle handle_ GUARDED_BY(mutex_);
};

// TLS of one connection, over a non-blocking socket that must outlive this object.
//
// epoll does not report bytes that are decrypted but not read yet: check has_pending().
class TlsSession {
 public:
  enum class Outcome : std::uint8_t {
    done,        // Reads and writes: at least one byte moved.
    want_read,   // Retry when the socket is readable,
    want_write,  // or writable.
    ended,       // Closed by the peer, or a protocol error.
    plain_http,  // Handshake only: the client sent plain HTTP.
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
  // Sends close_notify, without blocking.
  void send_close_notify();

 private:
  Outcome outcome_of(int result);

  SSL* ssl_;
  const int socket_;
  bool usable_ = false;  // The handshake is complete and nothing has failed since.
};

}  // namespace redrive::http
