#include "bench/caller.h"

#include <fmt/format.h>

#include "bench/json_scan.h"
#include "bench/requests.h"

namespace redrive::bench {
std::unexpected<Error> refusal(const Reply& reply) {
  return fail(ErrorCode::network,
              fmt::format("the server answered {}: {}", reply.status, reply.body.substr(0, 300)));
}

Result<Caller> Caller::open(const Endpoint& endpoint) {
  return Caller(TRY(Connection::open(endpoint)));
}

Result<void> Caller::send(std::string_view request) {
  connection_.out() += request;
  return connection_.flush_all();
}

Result<std::string> Caller::await() {
  std::string& in = connection_.in();
  while (true) {
    RETURN_IF_ERROR(connection_.read_some());
    const auto reply = TRY(parse_reply(in));
    if (!reply) continue;
    if (reply->status != 200) return refusal(*reply);
    std::string body(reply->body);
    in.erase(0, reply->size);
    return body;
  }
}

Result<std::string> Caller::call(std::string_view request) {
  RETURN_IF_ERROR(send(request));
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
