#include "net/http/tls.h"

#include <gtest/gtest.h>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "net/http/client.h"
#include "tests/base/eventually.h"
#include "tests/net/http/raw_client.h"
#include "tests/net/http/service.h"

namespace redrive::http {
namespace {

using namespace std::chrono_literals;

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};

// A self-signed certificate for localhost and 127.0.0.1, in its own directory.
class TestTls : public ::testing::Test {
 protected:
  TestTls() {
    char pattern[] = "/tmp/redrive-tls-XXXXXX";
    directory_ = ::mkdtemp(pattern);
    files_ = {.certificate = directory_ / "certificate.pem", .key = directory_ / "key.pem"};
    write_certificate("first");
  }
  ~TestTls() override { std::filesystem::remove_all(directory_); }

  void write_certificate(const char* name) {
    const std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>> key(EVP_EC_gen("P-256"));
    const std::unique_ptr<X509, Freed<X509_free>> certificate(X509_new());
    X509_set_version(certificate.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), ++serial_);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -60);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
    X509_set_pubkey(certificate.get(), key.get());
    X509_NAME* const subject = X509_get_subject_name(certificate.get());
    X509_NAME_add_entry_by_txt(
        subject, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
    X509_set_issuer_name(certificate.get(), subject);
    const std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>> names(
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1"));
    X509_add_ext(certificate.get(), names.get(), -1);
    X509_sign(certificate.get(), key.get(), EVP_sha256());
    const std::unique_ptr<BIO, Freed<BIO_free>> out(BIO_new_file(files_.certificate.c_str(), "w"));
    PEM_write_bio_X509(out.get(), certificate.get());
    const std::unique_ptr<BIO, Freed<BIO_free>> key_out(BIO_new_file(files_.key.c_str(), "w"));
    PEM_write_bio_PrivateKey(key_out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  }

  ClientRequest request_to(const Service& service, std::string path, std::string body = "") {
    return {.url = "https://127.0.0.1:" + std::to_string(service.port()) + path,
            .body = std::move(body),
            .ca_bundle = files_.certificate};
  }

  std::filesystem::path directory_;
  TlsFiles files_;
  long serial_ = 0;
};

// A blocking TLS client controlled step by step.
class TlsClient {
 public:
  explicit TlsClient(std::uint16_t port, int version_max = TLS1_3_VERSION,
                     const char* alpn = nullptr)
      : raw_(port), context_(SSL_CTX_new(TLS_client_method())), ssl_(nullptr) {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL's own sockets raise it when the server has closed.
    SSL_CTX_set_max_proto_version(context_.get(), version_max);
    SSL_CTX_set_security_level(context_.get(), 0);
    ssl_.reset(SSL_new(context_.get()));
    if (alpn != nullptr) {
      SSL_set_alpn_protos(ssl_.get(),
                          reinterpret_cast<const unsigned char*>(alpn),
                          static_cast<unsigned>(std::strlen(alpn)));
    }
    SSL_set_fd(ssl_.get(), raw_.descriptor());
    connected_ = SSL_connect(ssl_.get()) == 1;
  }

  bool connected() const { return connected_; }
  std::string version() const { return SSL_get_version(ssl_.get()); }
  std::string protocol() const {
    const unsigned char* bytes = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl_.get(), &bytes, &size);
    return {reinterpret_cast<const char*>(bytes), size};
  }
  std::string peer_name() const {
    char name[64] = "";
    const std::unique_ptr<X509, Freed<X509_free>> peer(SSL_get1_peer_certificate(ssl_.get()));
    X509_NAME_get_text_by_NID(X509_get_subject_name(peer.get()), NID_commonName, name, sizeof name);
    return name;
  }
  void send(std::string_view bytes) {
    SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
  }
  // Reads until `end`, or until the peer closes; at_goodbye() tells whether it sent close_notify.
  std::string read_until(std::string_view end) {
    std::string text;
    char bytes[4096];
    while (end.empty() || text.find(end) == std::string::npos) {
      const int count = SSL_read(ssl_.get(), bytes, sizeof bytes);
      if (count <= 0) break;
      text.append(bytes, static_cast<std::size_t>(count));
    }
    return text;
  }
  bool at_goodbye() {
    read_until("");
    return (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
  }

 private:
  RawClient raw_;
  std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>> context_;
  std::unique_ptr<SSL, Freed<SSL_free>> ssl_;
  bool connected_ = false;
};

TEST_F(TestTls, ServesRequestsOfAllSizes) {
  Service service({.tls = files_});
  Client client;
  for (const std::size_t size : {0u, 1u, 100u, 16'384u, 70'000u, 5'000'000u}) {
    SCOPED_TRACE(size);
    const std::string body(size, 'b');
    const auto answer = client.send(request_to(service, "/p", body));
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    EXPECT_EQ(answer->body, "POST /p " + body);
  }
  const auto large = client.send(request_to(service, "/large/30000000"));
  ASSERT_TRUE(large.has_value()) << large.error().message;
  EXPECT_EQ(large->body.size(), 30'000'000u);
  EXPECT_EQ(service.server->connections(), 1u);
}

TEST_F(TestTls, TheClientVerifiesTheCertificate) {
  Service service({.tls = files_});
  Client client;
  ClientRequest request = request_to(service, "/");
  request.ca_bundle.clear();
  EXPECT_FALSE(client.send(request).has_value());
  request.verify_tls = false;
  EXPECT_TRUE(client.send(request).has_value());
}

TEST_F(TestTls, NegotiatesHttp11Only) {
  Service service({.tls = files_});
  TlsClient both(service.port(),
                 TLS1_3_VERSION,
                 "\x02"
                 "h2"
                 "\x08"
                 "http/1.1");
  EXPECT_TRUE(both.connected());
  EXPECT_EQ(both.protocol(), "http/1.1");
  EXPECT_EQ(both.version(), "TLSv1.3");
  EXPECT_TRUE(TlsClient(service.port()).connected());
  EXPECT_TRUE(TlsClient(service.port(), TLS1_2_VERSION).connected());
  EXPECT_FALSE(TlsClient(service.port(), TLS1_1_VERSION).connected());
  EXPECT_FALSE(TlsClient(service.port(),
                         TLS1_3_VERSION,
                         "\x02"
                         "h2")
                   .connected());
}

// Several records may arrive at once, and one record may contain several requests.
TEST_F(TestTls, PipelinedRequestsAreAnsweredInOrder) {
  Service service({.tls = files_});
  TlsClient client(service.port());
  std::string requests;
  for (int i = 0; i < 300; ++i) requests += post("/" + std::to_string(i), std::string(1000, 'x'));
  requests += get("/last", "Connection: close\r\n");
  std::thread sender([&] { client.send(requests); });
  sender.join();
  const std::string answers = client.read_until("");
  std::size_t at = 0;
  for (int i = 0; i < 300; ++i) {
    at = answers.find("POST /" + std::to_string(i) + " ", at);
    ASSERT_NE(at, std::string::npos) << i;
  }
  EXPECT_NE(answers.find("GET /last", at), std::string::npos);
  EXPECT_TRUE(client.at_goodbye());
}

TEST_F(TestTls, DeferredRequestsKeepReading) {
  Service service({.tls = files_});
  TlsClient client(service.port());
  client.send(get("/defer"));
  const ReplyToken token = service.tokens.take().value();
  client.send(get("/next"));
  service.answer(token, "late");
  EXPECT_NE(client.read_until("late").find("200 OK"), std::string::npos);
  EXPECT_NE(client.read_until("GET /next ").find("200 OK"), std::string::npos);
}

TEST_F(TestTls, RefusalsArriveAndTheConnectionEndsProperly) {
  Service service({.tls = files_});
  TlsClient client(service.port());
  client.send("GET / HTTP/1.1\r\nHost : h\r\n\r\n");
  EXPECT_NE(client.read_until("\r\n\r\n").find("400 Bad Request"), std::string::npos);
  EXPECT_TRUE(client.at_goodbye());
}

TEST_F(TestTls, PlainHttpGetsAnError) {
  Service service({.tls = files_});
  RawClient plain(service.port());
  plain.send(get("/"));
  const std::string answer = plain.read_to_end();
  EXPECT_EQ(status_of(answer), 400);
  EXPECT_NE(answer.find("HTTPS"), std::string::npos);
  RawClient garbage(service.port());
  garbage.send("garbage that is neither\r\n");
  garbage.read_to_end();
  EXPECT_TRUE(garbage.at_end());
}

TEST_F(TestTls, TheHandshakeHasATimeLimit) {
  Service service({.limits = {.request_time_max = 40ms, .idle_time_max = 1h}, .tls = files_});
  RawClient silent(service.port());
  EXPECT_TRUE(silent.at_end());
  RawClient slow(service.port());
  slow.send("\x16\x03\x01");
  EXPECT_TRUE(slow.at_end());
}

TEST_F(TestTls, AHandshakeDoesNotOutliveADrain) {
  Service service({.tls = files_});
  RawClient silent(service.port());
  ASSERT_TRUE(eventually([&] { return service.server->connections() > 0; }));
  service.server->drain(10s);
  EXPECT_EQ(service.server->connections(), 0u);
}

TEST_F(TestTls, AReloadAffectsNewConnections) {
  Service service({.tls = files_});
  TlsClient old(service.port());
  EXPECT_EQ(old.peer_name(), "first");
  write_certificate("second");
  ASSERT_TRUE(service.server->reload_tls().has_value());
  EXPECT_EQ(TlsClient(service.port()).peer_name(), "second");
  old.send(get("/still"));
  EXPECT_NE(old.read_until("GET /still ").find("200 OK"), std::string::npos);
}

TEST_F(TestTls, ABadFileKeepsTheOldCertificate) {
  Service service({.tls = files_});
  std::ofstream(files_.certificate) << "no certificate";
  const auto reloaded = service.server->reload_tls();
  ASSERT_FALSE(reloaded.has_value());
  EXPECT_NE(reloaded.error().message.find(files_.certificate), std::string::npos);
  EXPECT_EQ(TlsClient(service.port()).peer_name(), "first");
}

TEST_F(TestTls, AKeyOfAnotherCertificateIsRefused) {
  const std::string first_key = directory_ / "first-key.pem";
  std::filesystem::copy_file(files_.key, first_key);
  write_certificate("second");
  files_.key = first_key;
  EXPECT_FALSE(TlsContext::load(files_).has_value());
  files_.key = directory_ / "missing.pem";
  EXPECT_FALSE(TlsContext::load(files_).has_value());
}

TEST_F(TestTls, WithoutTlsThereIsNothingToReload) {
  Service service;
  EXPECT_TRUE(service.server->reload_tls().has_value());
}

}  // namespace
}  // namespace redrive::http
