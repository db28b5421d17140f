// Throughput of functions/runtime for a trivial Python handler with an event of ten records,
// compared with the same handler in a bare loop, and the cost of each invocation for the server.

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

#include "functions/runtime/invoker.h"

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
print(count / (time.perf_counter() - begin), time.process_time() / count * 1e6)
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

struct Rate {
  double per_second = 0;
  double cpu_us = 0;         // Per invocation, of the measuring process,
  double python_cpu_us = 0;  // and of its workers.
};

Rate bare_loops(const fs::path& code, unsigned loops, double seconds) {
  std::vector<std::FILE*> all;
  const std::string command =
      fmt::format("cd {} && /usr/bin/python3 loop.py {}", code.string(), seconds);
  for (unsigned i = 0; i < loops; ++i) all.push_back(::popen(command.c_str(), "r"));
  Rate sum;
  for (std::FILE* const loop : all) {
    Rate rate;
    if (loop == nullptr) continue;
    if (std::fscanf(loop, "%lf %lf", &rate.per_second, &rate.cpu_us) == 2) {
      sum.per_second += rate.per_second;
      sum.cpu_us += rate.cpu_us / loops;
    }
    ::pclose(loop);
  }
  return sum;
}

double cpu_seconds(int who) {
  rusage usage{};
  ::getrusage(static_cast<__rusage_who_t>(who), &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Keeps a number of invocations in progress until the time is over.
class Load {
 public:
  Load(Invoker& invoker, std::shared_ptr<const FunctionSpec> function, std::string event)
      : invoker_(invoker), function_(std::move(function)), event_(std::move(event)) {}

  std::uint64_t run(unsigned concurrency, double seconds) {
    end_ = Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    count_ = 0;
    lane_->running_max = concurrency;
    left_ = concurrency + kWaiting;
    std::promise<void> over;
    over_ = &over;
    for (unsigned i = 0; i < concurrency + kWaiting; ++i) next();
    over.get_future().wait();
    return count_;
  }

 private:
  void next() {
    invoker_.invoke(function_,
                    {.request_id = fmt::format("request-{}", ++id_),
                     .payload = event_,
                     .client_context = {},
                     .trace = {},
                     .invoked_arn = {},
                     .lane = lane_},
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

  static constexpr unsigned kWaiting = 16;  // Like a mapping with a backlog.

  Invoker& invoker_;
  const std::shared_ptr<Lane> lane_ = std::make_shared<Lane>();
  const std::shared_ptr<const FunctionSpec> function_;
  const std::string event_;
  Clock::time_point end_;
  std::atomic<std::uint64_t> id_ = 0;
  std::atomic<std::uint64_t> count_ = 0;
  std::atomic<unsigned> left_ = 0;
  std::promise<void>* over_ = nullptr;
};

Rate measure_runtime(const fs::path& root, const std::shared_ptr<const FunctionSpec>& function,
                     const std::string& event, unsigned concurrency, double seconds,
                     InvokerOptions::Sandbox sandbox) {
  Rate rate;
  double count = 0;
  const double python_cpu = cpu_seconds(RUSAGE_CHILDREN);
  {
    auto made = make_invoker({.scratch = root / "scratch", .sandbox = sandbox});
    if (!made) {
      fmt::print(stderr, "{}\n", made.error().message);
      std::exit(1);
    }
    Load load(**made, function, event);
    const auto warm = load.run(concurrency, 0.3);
    const double cpu = cpu_seconds(RUSAGE_SELF);
    const auto begin = Clock::now();
    count = static_cast<double>(load.run(concurrency, seconds));
    const std::chrono::duration<double> took = Clock::now() - begin;
    rate.per_second = count / took.count();
    rate.cpu_us = (cpu_seconds(RUSAGE_SELF) - cpu) / count * 1e6;
    count += static_cast<double>(warm);
  }
  // Known only after they have exited; includes their start.
  rate.python_cpu_us = (cpu_seconds(RUSAGE_CHILDREN) - python_cpu) / count * 1e6;
  return rate;
}

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
  fmt::print("what,concurrency,events/s,server CPU us/event,Python CPU us/event\n");
  for (const unsigned concurrency : {1u, 2u}) {
    const Rate workers = measure_runtime(root, function, event, concurrency, seconds, sandbox);
    fmt::print("runtime,{},{:.0f},{:.1f},{:.1f}\n",
               concurrency,
               workers.per_second,
               workers.cpu_us,
               workers.python_cpu_us);
    const Rate loops = bare_loops(root / "code", concurrency, seconds);
    fmt::print("bare loop,{},{:.0f},,{:.1f}\n", concurrency, loops.per_second, loops.cpu_us);
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
