// SendMessage in the JSON protocol: decoding the request's body, and encoding the response's.

#include <benchmark/benchmark.h>

#include <cassert>
#include <string>

#include "aws/sqs/model/messages.h"
#include "base/padded_text.h"
#include "net/wire/decoder.h"
#include "net/wire/encode.h"

namespace {

constexpr std::size_t kWireBodyBytes = 1024;
constexpr std::size_t kPadding = 64;  // Read-ahead of the decoder.

struct Request {
  std::string bytes;
  std::string_view body;

  explicit Request(std::string_view unit) {
    std::string text;
    while (text.size() + unit.size() <= kWireBodyBytes) text += unit;
    bytes = R"({"QueueUrl": "http://127.0.0.1:9324/000000000000/bench", "MessageBody": ")" + text +
            R"("})";
    const std::size_t size = bytes.size();
    bytes.append(kPadding, '\0');
    body = std::string_view(bytes).substr(0, size);
  }
};

void decode_send(benchmark::State& state, std::string_view unit) {
  const Request request(unit);
  redrive::wire::Decoder decoder;
  for (auto _ : state) {
    redrive::sqs::SendMessageInput input;
    const auto decoded =
        redrive::wire::decode_json(decoder, redrive::PaddedView::guaranteed(request.body), input);
    assert(decoded);
    benchmark::DoNotOptimize(input);
  }
}
BENCHMARK_CAPTURE(decode_send, plain_1kib, "x");
BENCHMARK_CAPTURE(decode_send, escaped_json_1kib, R"({\"order\":1,\"total\":20})");

void encode_send_output(benchmark::State& state) {
  const redrive::sqs::SendMessageOutput output{.message_id = redrive::SeededIds(7).uuid()};
  std::string out;
  for (auto _ : state) {
    out.clear();
    redrive::wire::encode_json(out, output);
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(encode_send_output);

}  // namespace
