#include "bench/wake.h"

#include <thread>
#include <vector>

#include "bench/caller.h"
#include "bench/json_scan.h"

namespace redrive::bench {
namespace {

constexpr int kWaitSeconds = 20;

Result<std::string> only_handle(std::string_view answer) {
  const auto handle = JsonTexts(answer, "\"ReceiptHandle\"").next();
  if (!handle) return fail(ErrorCode::network, "the long poll ended without a message");
  return std::string(*handle);
}

}  // namespace

Result<Latencies> measure_wake(const Endpoint& endpoint, std::string_view queue_url,
                               const WakeShape& shape) {
  Caller consumer = TRY(Caller::open(endpoint));
  Caller producer = TRY(Caller::open(endpoint));
  const Stamped send = send_request(endpoint, queue_url, {.body_bytes = shape.body_bytes});
  const std::string receive =
      receive_request(endpoint, queue_url, {.messages_max = 1, .wait_seconds = kWaitSeconds});
  Latencies latencies;
  for (int i = 0; i < shape.samples; ++i) {
    RETURN_IF_ERROR(consumer.send(receive));
    std::this_thread::sleep_for(shape.pause);
    std::string request;
    const Nanos sent = now();
    send.append_to(request, sent);
    RETURN_IF_ERROR(producer.send(request));
    const std::string answer = TRY(consumer.await());
    latencies.add(now() - sent);
    TRY(producer.await());
    const std::vector<Arrival> messages = {{.handle = TRY(only_handle(answer)), .sent = sent}};
    std::string removal;
    append_delete_request(removal, endpoint, queue_url, messages);
    TRY(consumer.call(removal));
  }
  return latencies;
}

}  // namespace redrive::bench
