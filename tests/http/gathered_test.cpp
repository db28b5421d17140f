#include <gtest/gtest.h>

#include <latch>

#include "http/server.h"
#include "tests/http/raw_client.h"
#include "tests/http/service.h"

namespace redrive::http {
namespace {

// Keeps the I/O thread busy until it is let go, so that what comes in between is ready together.
class Blocked {
 public:
  explicit Blocked(Service& service) {
    const auto begun = std::make_shared<std::latch>(1);
    service.server->post(0, [begun, go = go_] {
      begun->count_down();
      go->wait();
    });
    begun->wait();
  }
  ~Blocked() { go_->count_down(); }

 private:
  std::shared_ptr<std::latch> go_ = std::make_shared<std::latch>(1);  // Shared: both touch it last.
};

TEST(Gathered, AreAnsweredTogether) {
  Service service;
  RawClient first(service.port());
  RawClient second(service.port());
  RawClient third(service.port());
  for (RawClient* client : {&first, &second, &third}) {  // They are known to the loop.
    client->send(get("/"));
    client->read_response();
  }
  {
    const Blocked blocked(service);
    for (RawClient* client : {&first, &second, &third}) client->send(get("/gather"));
  }
  for (RawClient* client : {&first, &second, &third}) {
    EXPECT_EQ(body_of(client->read_response()), "one of 3");
  }
}

TEST(Gathered, RequestsBehindOneAnotherAreOfDifferentPasses) {
  Service service;
  RawClient client(service.port());
  client.send(get("/gather") + get("/gather") + get("/last"));
  EXPECT_EQ(body_of(client.read_response()), "one of 1");
  EXPECT_EQ(body_of(client.read_response()), "one of 1");
  EXPECT_EQ(body_of(client.read_response()), "GET /last ");
}

// The client is gone before the pass is over: what was asked is done, the answer is dropped.
TEST(Gathered, ClientsMayGoAway) {
  Service service;
  RawClient stays(service.port());
  stays.send(get("/"));
  stays.read_response();
  {
    std::optional<RawClient> leaves(std::in_place, service.port());
    leaves->send(get("/"));
    leaves->read_response();
    const Blocked blocked(service);
    leaves->send(get("/gather"));
    leaves.reset();
  }
  EXPECT_TRUE(service.found.take().has_value());
  stays.send(get("/gather"));
  EXPECT_EQ(body_of(stays.read_response()), "one of 1");
}

}  // namespace
}  // namespace redrive::http
