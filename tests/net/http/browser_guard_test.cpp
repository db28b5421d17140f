#include "net/http/browser_guard.h"

#include <gtest/gtest.h>

namespace redrive::http {
namespace {

const BrowserGuard kGuard({.listen_address = "127.0.0.1",
                           .allowed_hosts = {"queue.example", "*.localstack.cloud"}});

struct Case {
  const char* name;
  BrowserGuard::Claims claims;
  bool allowed;
};

const Case kCases[] = {
    // SDKs and tools: only a host.
    {"loopback", {.host = "127.0.0.1:9324"}, true},
    {"loopback without port", {.host = "127.0.0.1"}, true},
    {"all of the loopback network", {.host = "127.255.3.4:1"}, true},
    {"IPv6 loopback", {.host = "[::1]:9324"}, true},
    {"IPv6 loopback, written out", {.host = "[0:0:0:0:0:0:0:1]"}, true},
    {"localhost", {.host = "localhost:9324"}, true},
    {"localhost in capitals", {.host = "LocalHost:9324"}, true},
    {"localhost with the root", {.host = "localhost.:9324"}, true},
    {"below localhost", {.host = "sqs.us-east-1.localhost:9324"}, true},
    {"configured name", {.host = "queue.example:9324"}, true},
    {"below a configured suffix", {.host = "sqs.us-east-1.localhost.localstack.cloud:4566"}, true},
    {"HTTP/1.0 without a host", {.host = ""}, true},
    // Names that others may point at this server.
    {"foreign name", {.host = "evil.example"}, false},
    {"foreign name on our port", {.host = "evil.example:9324"}, false},
    {"below a configured name", {.host = "x.queue.example"}, false},
    {"the bare suffix", {.host = "localstack.cloud"}, false},
    {"ends like the suffix", {.host = "evil-localstack.cloud"}, false},
    {"begins like loopback", {.host = "127.0.0.1.evil.example"}, false},
    {"begins like localhost", {.host = "localhost.evil.example"}, false},
    {"ends like localhost", {.host = "evillocalhost"}, false},
    {"half an address", {.host = "127.1"}, false},
    {"another address", {.host = "192.168.1.7:9324"}, false},
    {"unclosed bracket", {.host = "[::1"}, false},
    // Pages.
    {"page of the same origin",
     {.host = "localhost:9324", .origin = "http://localhost:9324", .fetch_site = "same-origin"},
     true},
    {"the same origin at a scheme's port",
     {.host = "queue.example", .origin = "https://queue.example:443"},
     true},
    {"page of another port", {.host = "localhost:9324", .origin = "http://localhost:3000"}, false},
    {"page of another site", {.host = "127.0.0.1:9324", .origin = "https://evil.example"}, false},
    {"page that was rebound",
     {.host = "evil.example:9324", .origin = "http://evil.example:9324"},
     false},
    {"page of a configured name, asking another",
     {.host = "127.0.0.1:9324", .origin = "http://queue.example:9324"},
     false},
    {"sandboxed page or file", {.host = "127.0.0.1:9324", .origin = "null"}, false},
    {"extension", {.host = "127.0.0.1:9324", .origin = "chrome-extension://127.0.0.1:9324"}, false},
    {"origin that is none", {.host = "127.0.0.1:9324", .origin = "127.0.0.1:9324"}, false},
    {"image or link from another site",
     {.host = "127.0.0.1:9324", .fetch_site = "cross-site"},
     false},
    {"image or link from another port",
     {.host = "localhost:9324", .fetch_site = "same-site"},
     false},
    // Browsers without Sec-Fetch-Site, or that do not send it over plain http.
    {"image or link with a foreign Referer",
     {.host = "127.0.0.1:9324", .referer = "https://evil.example/page?a=1"},
     false},
    {"Referer of another port",
     {.host = "localhost:9324", .referer = "http://localhost:3000/"},
     false},
    {"Referer that contains our name",
     {.host = "localhost:9324", .referer = "http://evil.example/http://localhost:9324/"},
     false},
    {"Referer with our name as its user",
     {.host = "localhost:9324", .referer = "http://localhost:9324@evil.example/"},
     false},
    {"Referer with our name before a backslash",
     {.host = "localhost:9324", .referer = "http://evil.example\\@localhost:9324/"},
     false},
    {"Referer that is no URL", {.host = "localhost:9324", .referer = "about:blank"}, false},
    {"Referer of another scheme",
     {.host = "localhost:9324", .referer = "android-app://localhost:9324/"},
     false},
    {"own Referer", {.host = "localhost:9324", .referer = "http://localhost:9324/a/b?c#d"}, true},
    {"own Referer without a path", {.host = "[::1]:9324", .referer = "http://[::1]:9324"}, true},
    {"typed by the user", {.host = "127.0.0.1:9324", .fetch_site = "none"}, true},
    {"sent twice, once truly", {.host = "127.0.0.1:9324", .fetch_site = "none, cross-site"}, false},
};

TEST(BrowserGuard, TellsToolsFromPages) {
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.name);
    const auto refusal = kGuard.refusal(one.claims);
    EXPECT_EQ(!refusal.has_value(), one.allowed) << refusal.value_or("");
  }
}

TEST(BrowserGuard, AnswersToTheAddressItListensOn) {
  const BrowserGuard one({.listen_address = "192.168.1.7", .allowed_hosts = {}});
  EXPECT_FALSE(one.refusal({.host = "192.168.1.7:9324"}));
  EXPECT_TRUE(one.refusal({.host = "192.168.1.8:9324"}));
  const BrowserGuard v6({.listen_address = "fd00::7", .allowed_hosts = {}});
  EXPECT_FALSE(v6.refusal({.host = "[fd00:0::7]:9324"}));
  for (const char* wildcard : {"0.0.0.0", "::"}) {
    const BrowserGuard all({.listen_address = wildcard, .allowed_hosts = {}});
    EXPECT_FALSE(all.refusal({.host = "10.0.0.5:9324"}));
    EXPECT_FALSE(all.refusal({.host = "[fd00::7]:9324"}));
    EXPECT_TRUE(all.refusal({.host = "evil.example:9324"}));
  }
}

TEST(BrowserGuard, SaysWhatToConfigure) {
  const std::string refusal = kGuard.refusal({.host = "build-server:9324"}).value();
  EXPECT_NE(refusal.find("allowed-hosts"), std::string::npos);
  EXPECT_NE(refusal.find("`build-server`"), std::string::npos);
}

TEST(BrowserGuard, PatternsAreNames) {
  for (const char* good : {"a", "a.b", "*.b.c", "A-1_x.y"})
    EXPECT_TRUE(is_host_pattern(good)) << good;
  for (const char* bad : {"", "*", "*.", "a.*", "a:80", "http://a", "a b", "**.a"}) {
    EXPECT_FALSE(is_host_pattern(bad)) << bad;
  }
}

}  // namespace
}  // namespace redrive::http
