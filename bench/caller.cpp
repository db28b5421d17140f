#include "bench/caller.h"

#include <fmt/format.h>
#include <poll.h>

#include "bench/json_scan.h"
#include "bench/requests.h"

namespace redrive::bench {
namespace {

constexpr int kPatienceMilliseconds = 30'000;

Result<void> wait_for(const Connection& connection, short events) {
  pollfd entry{.fd = connection.fd(), .events = events, .revents = 0};
  if (poll(&entry, 1, kPatienceMilliseconds) > 0) return {};
  return fail(ErrorCode::network, "the server does not answer");
}

}  // namespace

std::unexpected<Error> refusal(const Reply& reply) {
  return fail(ErrorCode::network,
              fmt::format("the server answered {}: {}", reply.status, reply.body.substr(0, 300)));
}

Result<Caller> Caller::open(const Endpoint& endpoint) {
  return Caller(TRY(Connection::open(endpoint)));
}

Result<void> Caller::send(std::string_view request) {
  connection_.compose() = request;
  while (!TRY(connection_.flush())) CHECK(wait_for(connection_, POLLOUT));
  return {};
}

Result<std::string> Caller::await() {
  while (true) {
    CHECK(wait_for(connection_, POLLIN));
    const auto reply = TRY(connection_.receive());
    if (!reply) continue;
    if (reply->status != 200) return refusal(*reply);
    return std::string(reply->body);
  }
}

Result<std::string> Caller::call(std::string_view request) {
  CHECK(send(request));
  return await();
}

Result<std::string> create_queue(const Endpoint& endpoint, std::string_view name) {
  Caller caller = TRY(Caller::open(endpoint));
  const std::string answer = TRY(caller.call(create_queue_request(endpoint, name)));
  const auto url = JsonTexts(answer, "\"QueueUrl\"").next();
  if (!url) return fail(ErrorCode::network, "CreateQueue gave no QueueUrl: " + answer);
  return std::string(*url);
}

}  // namespace redrive::bench
