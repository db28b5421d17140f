// How many invocations of a trivial Python handler with an event of ten records the runtime room
// does in a second, beside the same handler in a bare loop, and what each costs the server.

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>

#include "runtime/invoker.h"

namespace redrive::runtime {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* kHandler = R"(
def handler(event, context):
    total = 0
    for record in event["Records"]:
        total += len(record["body"])
    return {"batchItemFailures": []}
)";
// What a worker does, without a server: parse, handle, encode.
constexpr const char* kBareLoop = R"(
import json, sys, time
import index
event = open("event.json").read()
seconds = float(sys.argv[1])
begin = time.perf_counter()
count = 0
while time.perf_counter() - begin < seconds:
    for _ in range(100):
        json.dumps(index.handler(json.loads(event), None)).encode()
    count += 100
print(count / (time.perf_counter() - begin))
)";

std::string event_of_ten() {
  std::string records;
  for (int i = 0; i < 10; ++i) {
    records += fmt::format(
        R"({}{{"messageId":"11d6ee51-0000-4302-9e22-7cd8afdaad{:02}","receiptHandle":"{}","body":"{{\"order\":{},\"customer\":\"c-{}\",\"items\":[1,2,3]}}","attributes":{{"ApproximateReceiveCount":"1","SentTimestamp":"1573251510774","SenderId":"AIDAEXAMPLE","ApproximateFirstReceiveTimestamp":"1573251510774"}},"messageAttributes":{{}},"md5OfBody":"e4e68fb7bd0e697a0ae8f1bb342846b3","eventSource":"aws:sqs","eventSourceARN":"arn:aws:sqs:us-east-1:000000000000:orders","awsRegion":"us-east-1"}})",
        i == 0 ? "" : ",",
        i,
        std::string(120, 'A'),
        i,
        i);
  }
  return fmt::format("{{\"Records\":[{}]}}", records);
}

double bare_loops(const fs::path& code, unsigned loops, double seconds) {
  std::vector<std::FILE*> all;
  const std::string command =
      fmt::format("cd {} && /usr/bin/python3 loop.py {}", code.string(), seconds);
  for (unsigned i = 0; i < loops; ++i) all.push_back(::popen(command.c_str(), "r"));
  double sum = 0;
  for (std::FILE* const loop : all) {
    double rate = 0;
    if (loop != nullptr && std::fscanf(loop, "%lf", &rate) == 1) sum += rate;
    if (loop != nullptr) ::pclose(loop);
  }
  return sum;
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Keeps a number of invocations under way until the time is over.
class Load {
 public:
  Load(Invoker& invoker, std::shared_ptr<const FunctionSpec> function, std::string event)
      : invoker_(invoker), function_(std::move(function)), event_(std::move(event)) {}

  std::uint64_t run(unsigned concurrency, double seconds) {
    end_ = Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    count_ = 0;
    left_ = concurrency;
    std::promise<void> over;
    over_ = &over;
    for (unsigned i = 0; i < concurrency; ++i) next();
    over.get_future().wait();
    return count_;
  }

 private:
  void next() {
    invoker_.invoke(function_,
                    {.request_id = fmt::format("request-{}", ++id_), .payload = event_},
                    [this](const Outcome& outcome) { on_outcome(outcome); });
  }
  void on_outcome(const Outcome& outcome) {
    if (outcome.kind != Outcome::Kind::done) {
      fmt::print(stderr, "{}\n{}\n", outcome.error_message, outcome.log);
      std::exit(1);
    }
    ++count_;
    if (Clock::now() < end_) return next();
    if (--left_ == 0) over_->set_value();
  }

  Invoker& invoker_;
  const std::shared_ptr<const FunctionSpec> function_;
  const std::string event_;
  Clock::time_point end_;
  std::atomic<std::uint64_t> id_ = 0;
  std::atomic<std::uint64_t> count_ = 0;
  std::atomic<unsigned> left_ = 0;
  std::promise<void>* over_ = nullptr;
};

void measure(double seconds, InvokerOptions::Sandbox sandbox) {
  std::string name = "/tmp/redrive-functions-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) return;
  const fs::path root = name;
  ::chmod(name.c_str(), 0755);
  fs::create_directory(root / "code");
  const std::string event = event_of_ten();
  std::ofstream(root / "code/index.py") << kHandler;
  std::ofstream(root / "code/loop.py") << kBareLoop;
  std::ofstream(root / "code/event.json") << event;

  const auto function = std::make_shared<FunctionSpec>(
      FunctionSpec{.arn = "arn:aws:lambda:us-east-1:000000000000:function:bench",
                   .name = "bench",
                   .runtime = "python3.11",
                   .handler = "index.handler",
                   .code = root / "code"});
  fmt::print("what,concurrency,invocations/s,server CPU us/invocation\n");
  {
    auto made = make_invoker({.scratch = root / "scratch", .sandbox = sandbox});
    if (!made) return fmt::print(stderr, "{}\n", made.error().message);
    Load load(**made, function, event);
    load.run(2, 0.3);  // Warm.
    for (const unsigned concurrency : {1u, 2u}) {
      const double cpu = cpu_seconds();
      const auto begin = Clock::now();
      const std::uint64_t count = load.run(concurrency, seconds);
      const std::chrono::duration<double> took = Clock::now() - begin;
      const auto invocations = static_cast<double>(count);
      fmt::print("runtime,{},{:.0f},{:.1f}\n",
                 concurrency,
                 invocations / took.count(),
                 (cpu_seconds() - cpu) / invocations * 1e6);
    }
  }
  for (const unsigned loops : {1u, 2u}) {
    fmt::print("bare loop,{},{:.0f},\n", loops, bare_loops(root / "code", loops, seconds));
  }
  fs::remove_all(root);
}

}  // namespace
}  // namespace redrive::runtime

int main(int count, char** words) {
  const double seconds = count > 1 ? std::atof(words[1]) : 3;
  const bool plain = count > 2 && std::string(words[2]) == "plain";
  redrive::runtime::measure(seconds,
                            plain ? redrive::runtime::InvokerOptions::Sandbox::off
                                  : redrive::runtime::InvokerOptions::Sandbox::automatic);
  return 0;
}
