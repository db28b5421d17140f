#include "net/http/outgoing_policy.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstdlib>

#include "net/http/client.h"
#include "net/http/server.h"

namespace redrive::http {
namespace {

TEST(Addresses, OfThisMachineAndItsNetworksAreNotPublic) {
  for (const char* address : {"127.0.0.1",
                              "10.1.2.3",
                              "172.16.0.1",
                              "172.31.255.255",
                              "192.168.1.1",
                              "169.254.169.254",
                              "100.64.0.1",
                              "0.0.0.0",
                              "224.0.0.1",
                              "255.255.255.255",
                              "192.0.2.1",
                              "198.18.0.1",
                              "::1",
                              "::",
                              "fe80::1",
                              "fc00::1",
                              "fd12::1",
                              "ff02::1",
                              "::ffff:10.0.0.1",
                              "64:ff9b::7f00:1",
                              "2001:db8::1",
                              "2002:7f00:1::",
                              "not an address",
                              ""}) {
    EXPECT_FALSE(is_public_address(address)) << address;
  }
  for (const char* address : {"8.8.8.8",
                              "172.32.0.1",
                              "100.128.0.1",
                              "2606:4700::1111",
                              "::ffff:8.8.8.8",
                              "64:ff9b::808:808"}) {
    EXPECT_TRUE(is_public_address(address)) << address;
  }
}

OutgoingPolicy policy_of(const std::vector<std::string>& allowed) {
  auto policy = OutgoingPolicy::parse(allowed);
  EXPECT_TRUE(policy.has_value()) << policy.error().message;
  return policy ? *policy : OutgoingPolicy();
}

TEST(OutgoingPolicy, PermitsPublicAddressesAndWhatIsListed) {
  struct Case {
    std::vector<std::string> allowed;
    const char* host;
    const char* address;
    bool permitted;
  };
  const Case cases[] = {
      {{}, "example.com", "93.184.216.34", true},
      {{}, "localhost", "127.0.0.1", false},
      {{}, "metadata", "169.254.169.254", false},
      {{}, "metadata", "fe80::1", false},
      {{}, "metadata", "fd00:ec2::254", false},
      {{}, "mapped", "::ffff:169.254.169.254", false},
      {{}, "teredo", "2001:0:1::1", false},
      {{"loopback"}, "localhost", "127.9.9.9", true},
      {{"loopback"}, "localhost", "::1", true},
      {{"loopback"}, "localhost", "::ffff:127.0.0.1", true},
      {{"loopback"}, "x", "10.0.0.1", false},
      {{"loopback"}, "x", "169.254.169.254", false},
      {{"private"}, "x", "192.168.1.1", true},
      {{"private"}, "x", "fd12::1", true},
      {{"private"}, "x", "127.0.0.1", false},
      {{"private"}, "x", "169.254.169.254", false},
      {{"any"}, "x", "169.254.169.254", true},
      {{"any"}, "x", "fe80::1", true},
      {{"10.1.0.0/16"}, "x", "10.1.255.255", true},
      {{"10.1.0.0/16"}, "x", "10.2.0.0", false},
      {{"10.1.2.3"}, "x", "10.1.2.3", true},
      {{"10.1.2.3"}, "x", "10.1.2.4", false},
      {{"0.0.0.0/0"}, "x", "127.0.0.1", true},
      {{"0.0.0.0/0"}, "x", "::1", false},
      {{"fd00::/8"}, "x", "fdff::1", true},
      {{"fd00::/8"}, "x", "fe80::1", false},
      {{"hooks.internal"}, "hooks.internal", "10.0.0.1", true},
      {{"hooks.internal"}, "HOOKS.internal.", "10.0.0.1", true},
      {{"hooks.internal"}, "x.hooks.internal", "10.0.0.1", false},
      {{"*.internal"}, "hooks.internal", "10.0.0.1", true},
      {{"*.internal"}, "internal", "10.0.0.1", false},
      {{"*.internal"}, "evilinternal", "10.0.0.1", false},
      {{}, "x", "no address", false},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(policy_of(one.allowed).permits(one.host, one.address), one.permitted)
        << (one.allowed.empty() ? "" : one.allowed[0]) << " " << one.host << " " << one.address;
  }
}

TEST(OutgoingPolicy, ReadsSocketAddresses) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  inet_pton(AF_INET, "169.254.169.254", &v4.sin_addr);
  EXPECT_FALSE(OutgoingPolicy().permits("x", reinterpret_cast<const sockaddr&>(v4)));
  inet_pton(AF_INET, "8.8.8.8", &v4.sin_addr);
  EXPECT_TRUE(OutgoingPolicy().permits("x", reinterpret_cast<const sockaddr&>(v4)));
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  inet_pton(AF_INET6, "::1", &v6.sin6_addr);
  EXPECT_FALSE(OutgoingPolicy().permits("x", reinterpret_cast<const sockaddr&>(v6)));
  EXPECT_TRUE(policy_of({"loopback"}).permits("x", reinterpret_cast<const sockaddr&>(v6)));
  const sockaddr other{};
  EXPECT_FALSE(policy_of({"any"}).permits("x", other));
}

TEST(OutgoingPolicy, RefusesEntriesThatMeanNothing) {
  for (const char* entry : {"", "10.0.0.0/33", "::/129", "10.0.0.0/", "http://a/", "a b", "*"}) {
    EXPECT_FALSE(OutgoingPolicy::parse(std::vector<std::string>{entry})) << entry;
  }
}

class OutgoingClient : public testing::Test {
 protected:
  OutgoingClient() {
    auto started = Server::start({},
                                 {.handle =
                                      [this](Exchange& exchange) {
                                        ++asked_;
                                        const auto mark =
                                            begin_response(exchange.out(), {.status = 200});
                                        end_response(exchange.out(), mark);
                                        exchange.reply(0);
                                      },
                                  .round_ended = {}});
    EXPECT_TRUE(started.has_value());
    server_ = *std::move(started);
  }
  Result<ClientResponse> get(const std::string& host, const std::vector<std::string>& allowed) {
    return client_.send({.method = "GET",
                         .url = "http://" + host + ":" + std::to_string(server_->port()) + "/",
                         .outgoing = std::make_shared<OutgoingPolicy>(policy_of(allowed))});
  }

  std::atomic<int> asked_ = 0;
  std::unique_ptr<Server> server_;
  Client client_;
};

// Every notation of the same address is resolved before it is checked.
TEST_F(OutgoingClient, DoesNotConnectToWhatIsNotPermitted) {
  for (const char* host : {"127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.0.0.1", "0"}) {
    const auto answer = get(host, {});
    ASSERT_FALSE(answer.has_value()) << host;
    EXPECT_EQ(answer.error().code, ErrorCode::access_denied) << answer.error().message;
    EXPECT_NE(answer.error().message.find("[outgoing] allow"), std::string::npos);
  }
  EXPECT_EQ(asked_, 0);
}

TEST_F(OutgoingClient, ConnectsToWhatIsListed) {
  EXPECT_TRUE(get("127.0.0.1", {"loopback"}));
  EXPECT_TRUE(get("localhost", {"localhost"}));
  EXPECT_EQ(asked_, 2);
}

// A proxy would connect in our place, to any address.
TEST_F(OutgoingClient, GoesThroughNoProxy) {
  const std::string proxy = "http://127.0.0.1:" + std::to_string(server_->port());
  ::setenv("http_proxy", proxy.c_str(), 1);
  const auto answer = client_.send({.method = "GET",
                                    .url = "http://169.254.169.254/latest/meta-data",
                                    .outgoing = std::make_shared<OutgoingPolicy>()});
  ::unsetenv("http_proxy");
  EXPECT_FALSE(answer.has_value());
  EXPECT_EQ(asked_, 0);
}

}  // namespace
}  // namespace redrive::http
