#include "bench/cast.h"

#include <fmt/format.h>

#include "bench/amqp_client.h"
#include "bench/beanstalk_client.h"
#include "bench/caller.h"
#include "bench/nats_client.h"
#include "bench/redis_client.h"

namespace redrive::bench {
namespace {

constexpr int kIdleWaitSeconds = 20;
constexpr auto kIdleSettling = std::chrono::seconds(1);

Result<std::vector<std::string>> make_queues(const Options& options) {
  if (!options.queue_url.empty()) return std::vector{options.queue_url};
  std::vector<std::string> urls;
  const std::string_view suffix = options.groups > 0 ? ".fifo" : "";
  for (int i = 0; i < options.queues; ++i) {
    const std::string number = options.queues > 1 ? fmt::format("-{}", i) : "";
    urls.push_back(TRY(create_queue(options.endpoint, options.queue + number + suffix.data())));
  }
  return urls;
}

std::vector<Stamped> make_sends(const Options& options, const std::vector<std::string>& urls) {
  SendShape shape{.batch = options.batch, .body_bytes = options.body_bytes, .group = ""};
  std::vector<Stamped> sends;
  for (int i = 0; i < options.groups; ++i) {
    shape.group = fmt::format("group-{}", i);
    sends.push_back(send_request(options.endpoint, urls.front(), shape));
  }
  if (options.groups > 0) return sends;
  for (const std::string& url : urls) sends.push_back(send_request(options.endpoint, url, shape));
  return sends;
}

}  // namespace

Result<std::unique_ptr<Cast>> Cast::make(const Options& options) {
  std::unique_ptr<Cast> cast(new Cast(options));
  if (options.protocol == Protocol::sqs) RETURN_IF_ERROR(cast->prepare_sqs());
  return cast;
}

Result<void> Cast::prepare_sqs() {
  const auto urls = TRY(make_queues(options_));
  const int wait = options_.mode == Mode::e2e ? options_.wait_seconds : 0;
  sqs_.endpoint = options_.endpoint;
  sqs_.queue_url = urls.front();
  sqs_.receive_request =
      receive_request(options_.endpoint,
                      sqs_.queue_url,
                      {.messages_max = options_.receive_batch, .wait_seconds = wait});
  sqs_.sends = make_sends(options_, urls);
  return {};
}

std::vector<std::unique_ptr<Actor>> Cast::actors() {
  std::vector<std::unique_ptr<Actor>> out;
  for (int i = 0; i < options_.connections; ++i) out.push_back(actor(i));
  return out;
}

std::unique_ptr<Actor> Cast::actor(int number) {
  const bool e2e = options_.mode == Mode::e2e;
  const bool consumes = options_.mode == Mode::drain || (e2e && number % 2 == 1);
  Task task{.role = consumes ? Role::consumer : Role::producer,
            .queue = options_.queue,
            .number = number,
            .batch = options_.batch,
            .receive_batch = options_.receive_batch,
            .body_bytes = options_.body_bytes,
            .wait_seconds = e2e ? options_.wait_seconds : 0};
  if (consumes) {
    const auto until = e2e ? Consumer::Until::stopped : Consumer::Until::empty;
    return std::make_unique<Consumer>(client(task), until, tally_);
  }
  const Producer::Limits limits{
      .batch = options_.batch, .count = options_.count, .window = e2e ? options_.window : 0};
  return std::make_unique<Producer>(client(task), limits, tally_);
}

std::unique_ptr<Client> Cast::client(const Task& task) {
  switch (options_.protocol) {
    case Protocol::redis:
      return std::make_unique<RedisClient>(task);
    case Protocol::beanstalk:
      return std::make_unique<BeanstalkClient>(task);
    case Protocol::nats:
      return std::make_unique<NatsClient>(task);
    case Protocol::amqp:
      return std::make_unique<AmqpClient>(task);
    case Protocol::sqs:
      break;
  }
  return std::make_unique<SqsClient>(sqs_);
}

Result<std::unique_ptr<Load>> Cast::wait_in_long_polls() {
  if (options_.idle_polls == 0) return nullptr;
  idle_.endpoint = options_.endpoint;
  idle_.queue_url = TRY(create_queue(options_.endpoint, options_.queue + "-idle"));
  idle_.receive_request = receive_request(
      options_.endpoint, idle_.queue_url, {.messages_max = 10, .wait_seconds = kIdleWaitSeconds});
  std::vector<std::unique_ptr<Actor>> waiters;
  for (int i = 0; i < options_.idle_polls; ++i) {
    waiters.push_back(std::make_unique<Consumer>(
        std::make_unique<SqsClient>(idle_), Consumer::Until::stopped, idle_tally_));
  }
  auto load = TRY(Load::open(options_.endpoint, std::move(waiters)));
  RETURN_IF_ERROR(load->run(kIdleSettling));
  return load;
}

}  // namespace redrive::bench
