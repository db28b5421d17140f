#include "net/http/tls.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

namespace redrive::http {

namespace {

constexpr unsigned char kProtocols[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
// For TLS 1.2, only ciphers with forward secrecy and AEAD; TLS 1.3 has no others.
constexpr const char* kCiphers = "ECDHE+AESGCM:ECDHE+CHACHA20";

std::string last_error() {
  const unsigned long code = ERR_peek_last_error();
  const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "it cannot be used" : reason;
}

std::unexpected<Error> unusable(const std::string& file) {
  return fail(ErrorCode::usage, fmt::format("{}: {}", file, last_error()));
}

// If the client sends ALPN, it must offer HTTP/1.1; without ALPN, HTTP/1.1 is assumed.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_bytes,
                    const unsigned char* offered, unsigned int offered_bytes, void*) {
  unsigned char* found = nullptr;
  const int result = SSL_select_next_proto(
      &found, chosen_bytes, kProtocols, sizeof kProtocols, offered, offered_bytes);
  *chosen = found;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

// Keys with a passphrase are refused: the server cannot prompt for it.
int no_passphrase(char*, int, int, void*) {
  return 0;
}

// --- Socket BIO: OpenSSL's own would raise SIGPIPE when the peer has disconnected ---

int socket_of(BIO* bio) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}

bool means_later(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

int write_socket(BIO* bio, const char* bytes, int size) {
  const auto count = ::send(socket_of(bio), bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  BIO_clear_retry_flags(bio);
  if (count < 0 && means_later(errno)) BIO_set_retry_write(bio);
  return static_cast<int>(count);
}

int read_socket(BIO* bio, char* space, int size) {
  const auto count = ::recv(socket_of(bio), space, static_cast<std::size_t>(size), 0);
  BIO_clear_retry_flags(bio);
  if (count < 0 && means_later(errno)) BIO_set_retry_read(bio);
  return static_cast<int>(count);
}

long control_socket(BIO*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO* make_bio(int socket) {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    BIO_meth_set_write(made, write_socket);
    BIO_meth_set_read(made, read_socket);
    BIO_meth_set_ctrl(made, control_socket);
    return made;
  }();
  BIO* const bio = BIO_new(method);
  if (bio == nullptr) return nullptr;
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(socket)));
  BIO_set_init(bio, 1);
  return bio;
}

void set_defaults(SSL_CTX* context) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_cipher_list(context, kCiphers);
  SSL_CTX_set_options(context,
                      SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                          SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_IGNORE_UNEXPECTED_EOF);
  // Release buffers of idle connections; allow a write to be retried from another address.
  SSL_CTX_set_mode(context,
                   SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                       SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
  SSL_CTX_set_default_passwd_cb(context, no_passphrase);
}

}  // namespace

// --- The certificate ---

TlsContext::TlsContext(TlsFiles files, Handle handle)
    : files_(std::move(files)), handle_(std::move(handle)) {}

Result<TlsContext::Handle> TlsContext::make(const TlsFiles& files) {
  ERR_clear_error();
  Handle context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (!context) return fail(ErrorCode::usage, "TLS: " + last_error());
  set_defaults(context.get());
  if (SSL_CTX_use_certificate_chain_file(context.get(), files.certificate.c_str()) != 1) {
    return unusable(files.certificate);
  }
  if (SSL_CTX_use_PrivateKey_file(context.get(), files.key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1) {
    return unusable(files.key);
  }
  return context;
}

Result<std::unique_ptr<TlsContext>> TlsContext::load(const TlsFiles& files) {
  Handle handle = TRY(make(files));
  return std::unique_ptr<TlsContext>(new TlsContext(files, std::move(handle)));
}

Result<void> TlsContext::reload() {
  Handle fresh = TRY(make(files_));
  const MutexLock lock(mutex_);
  handle_.swap(fresh);
  return {};
}

SSL* TlsContext::new_session() const {
  const MutexLock lock(mutex_);
  return SSL_new(handle_.get());  // A session keeps the certificate it was created with.
}

// --- A connection ---

TlsSession::TlsSession(const TlsContext& context, int socket)
    : ssl_(context.new_session()), socket_(socket) {
  BIO* const bio = ssl_ == nullptr ? nullptr : make_bio(socket_);
  if (bio == nullptr) return;  // Out of memory: the handshake will fail.
  SSL_set_bio(ssl_, bio, bio);
  SSL_set_accept_state(ssl_);
}

TlsSession::~TlsSession() {
  SSL_free(ssl_);
}

TlsSession::Outcome TlsSession::outcome_of(int result) {
  switch (SSL_get_error(ssl_, result)) {
    case SSL_ERROR_NONE:
      return Outcome::done;
    case SSL_ERROR_WANT_READ:
      return Outcome::want_read;
    case SSL_ERROR_WANT_WRITE:
      return Outcome::want_write;
    case SSL_ERROR_ZERO_RETURN:
      return Outcome::ended;
    default:
      usable_ = false;
      return Outcome::ended;
  }
}

TlsSession::Outcome TlsSession::handshake() {
  if (ssl_ == nullptr || SSL_get_rbio(ssl_) == nullptr) return Outcome::ended;
  ERR_clear_error();
  const Outcome outcome = outcome_of(SSL_do_handshake(ssl_));
  usable_ = outcome == Outcome::done;
  if (outcome == Outcome::ended && ERR_GET_REASON(ERR_peek_error()) == SSL_R_HTTP_REQUEST) {
    return Outcome::plain_http;
  }
  return outcome;
}

TlsSession::Transfer TlsSession::read(std::span<char> space) {
  ERR_clear_error();
  std::size_t bytes = 0;
  const int result = SSL_read_ex(ssl_, space.data(), space.size(), &bytes);
  return {.outcome = outcome_of(result), .bytes = bytes};
}

TlsSession::Transfer TlsSession::write(std::string_view bytes) {
  ERR_clear_error();
  std::size_t written = 0;
  const int result = SSL_write_ex(ssl_, bytes.data(), bytes.size(), &written);
  return {.outcome = outcome_of(result), .bytes = written};
}

bool TlsSession::has_pending() const {
  return SSL_pending(ssl_) > 0;
}

void TlsSession::send_close_notify() {
  if (!std::exchange(usable_, false)) return;
  ERR_clear_error();
  SSL_shutdown(ssl_);
}

}  // namespace redrive::http
