#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aws/cloudwatch/service.h"
#include "aws/iam/service.h"
#include "aws/lambda/service.h"
#include "aws/s3/service.h"
#include "aws/sqs/service.h"
#include "aws/ssm/service.h"
#include "base/text.h"
#include "core/journal/journal.h"
#include "dead_letters/dead_letters.h"
#include "functions/definitions/codec.h"
#include "manage/service.h"
#include "net/auth/sigv4.h"
#include "observe/alarms/watcher.h"
#include "tests/aws/lambda/fake_invoker.h"
#include "tests/net/http/raw_client.h"

// Every API of the server in one process, with keys, over a journal in memory. Requests are signed
// and travel through a real connection.
namespace redrive::authorization {

namespace fs = std::filesystem;

inline constexpr std::string_view kHome = "000000000000";
inline constexpr std::string_view kElsewhere = "222222222222";
inline constexpr std::string_view kRegion = "us-east-1";
inline constexpr std::string_view kDenyAll =
    R"({"Statement":[{"Effect":"Deny","Principal":"*","Action":"sqs:*","Resource":"*"}]})";

using Words = std::map<std::string, std::string, std::less<>>;

// Replaces each {word}.
inline std::string filled(std::string_view text, const Words& words) {
  std::string out(text);
  for (const auto& [name, value] : words) {
    const std::string mark = "{" + name + "}";
    for (std::size_t at = out.find(mark); at != out.npos; at = out.find(mark, at + value.size())) {
      out.replace(at, mark.size(), value);
    }
  }
  return out;
}

inline std::string queue_arn(std::string_view name, std::string_view account = kHome) {
  return fmt::format("arn:aws:sqs:{}:{}:{}", kRegion, account, name);
}
inline std::string function_arn(std::string_view name, std::string_view account = kHome) {
  return fmt::format("arn:aws:lambda:{}:{}:function:{}", kRegion, account, name);
}

struct Answer {
  int status = 0;
  std::string body;

  // Whether the decision was no. Some APIs have other reasons to answer 403. A HEAD has no body to
  // say it in.
  bool denied() const {
    return has("is not authorized to perform: ") || (body.empty() && status == 403);
  }
  bool has(std::string_view part) const { return body.find(part) != body.npos; }
};

enum class Api { sqs, manage, lambda, s3, cloudwatch, iam, sts, ssm };

struct Asked {
  Api api;
  std::string method = "POST";
  std::string path = "/";  // With the query string.
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
};

class World {
 public:
  World() {
    std::string pattern = (fs::temp_directory_path() / "authorization-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    EXPECT_TRUE(store_.attach(*journal_).has_value());
    engine_ = std::make_unique<engine::Engine>(
        engine::Engine::Parts{store_, *journal_, clock_, ids_}, engine::Engine::Hooks{});
    dead_letters_.emplace(*engine_);
    time_.emplace(*engine_, clock_);
    open_objects();
    open_services();
    start();
    use_keys();
  }
  ~World() {
    client_.reset();
    lambda_->stop();
    s3_->stop();
    server_->drain(std::chrono::seconds(5));
    server_.reset();
    notifier_->stop();
    fs::remove_all(root_);
  }

  // The server has keys: of each role one for `a-*`, an admin of everything, one of another
  // account.
  void use_keys() {
    std::vector<auth::AccessKey> keys;
    for (const char* role : {"admin", "operator", "producer", "consumer", "reader"}) {
      keys.push_back(key(role, *auth::parse_role(role), kHome, {"a-*"}));
    }
    keys.push_back(key("root", auth::Role::admin, kHome, {}));
    keys.push_back(key("other", auth::Role::admin, kElsewhere, {}));
    gate_.use(*auth::KeyRing::make(std::move(keys)));
  }
  // Without keys the server accepts every claim.
  void use_no_keys() { gate_.use({}); }

  Answer ask(std::string_view who, const Asked& asked) {
    api_ = asked.api;
    std::vector<auth::HeaderField> headers = {{"Host", "test:1"}};
    for (const auto& [name, value] : asked.headers) headers.push_back({name, value});
    const std::size_t mark = asked.path.find('?');
    const std::string_view path = std::string_view(asked.path).substr(0, mark);
    const std::string_view query =
        mark == std::string::npos ? "" : std::string_view(asked.path).substr(mark + 1);
    const auto added = auth::sign({.method = asked.method,
                                   .path = path,
                                   .query = query,
                                   .headers = headers,
                                   .body = asked.body},
                                  {.access_key = std::string(who),
                                   .secret_key = "secret of " + std::string(who),
                                   .session_token = {}},
                                  {std::string(kRegion), std::string(service_name(asked.api))},
                                  wall_.wall());
    std::string bytes = fmt::format("{} {} HTTP/1.1\r\n", asked.method, asked.path);
    for (const auto& header : headers)
      bytes += fmt::format("{}: {}\r\n", header.name, header.value);
    for (const auto& [name, value] : added) bytes += fmt::format("{}: {}\r\n", name, value);
    bytes += fmt::format("Content-Length: {}\r\n\r\n{}", asked.body.size(), asked.body);
    EXPECT_TRUE(client_->send(bytes));
    const std::string response = client_->read_response(asked.method == "HEAD");
    return {http::status_of(response), http::body_of(response)};
  }

  Answer sqs(std::string_view who, std::string_view action, std::string body) {
    return ask(who,
               {.api = Api::sqs,
                .body = std::move(body),
                .headers = {{"Content-Type", "application/x-amz-json-1.0"},
                            {"X-Amz-Target", fmt::format("AmazonSQS.{}", action)}}});
  }
  Answer manage(std::string_view who, std::string method, std::string_view path,
                std::string body = {}) {
    return ask(who,
               {.api = Api::manage,
                .method = std::move(method),
                .path = fmt::format("/_redrive/v1/{}", path),
                .body = std::move(body)});
  }
  Answer cloudwatch(std::string_view who, std::string_view action, std::string body) {
    return ask(
        who,
        {.api = Api::cloudwatch,
         .body = std::move(body),
         .headers = {{"Content-Type", "application/x-amz-json-1.0"},
                     {"X-Amz-Target", fmt::format("GraniteServiceVersion20100801.{}", action)}}});
  }
  Answer iam(std::string_view who, Api api, std::string_view form) {
    return ask(who,
               {.api = api,
                .body = std::string(form),
                .headers = {{"Content-Type", "application/x-www-form-urlencoded"}}});
  }

  // --- What there is ---

  void make_queue(const std::string& name, queue::QueueSettings settings = {},
                  std::string_view account = kHome) {
    const queue::QueueIdentity identity{std::string(account), std::string(kRegion), name};
    wanted_queues_[identity] = std::move(settings);
    ensure();
  }
  void make_parameter(const std::string& name, std::string_view account = kHome) {
    put_entry(
        queue::EntryKind::parameter,
        fmt::format("{}/{}/{}", account, kRegion, name),
        R"({"type":"String","value":"v","version":1,"modifiedMs":1,"tier":"Standard","dataType":"text"})");
  }
  void make_function(const std::string& name, std::string_view account = kHome) {
    functions::Function function;
    function.id = {std::string(account), std::string(kRegion), name};
    function.runtime = "http";
    function.url = "http://127.0.0.1:1/";
    put_entry(queue::EntryKind::function, function.id.arn(), functions::encode(function));
  }
  void make_mapping(const std::string& id, const std::string& queue, const std::string& function) {
    const functions::Mapping mapping{.id = id,
                                     .account = std::string(kHome),
                                     .region = std::string(kRegion),
                                     .queue_arn = queue_arn(queue),
                                     .function_arn = function_arn(function)};
    put_entry(queue::EntryKind::mapping, id, functions::encode(mapping));
  }
  void make_bucket(const std::string& name, std::string_view owner = kHome) {
    wanted_buckets_[name] = owner;
    ensure();
  }
  void make_alarm(const std::string& name, const std::string& queue,
                  std::vector<std::string> actions = {}) {
    alarms::Alarm alarm{.account = std::string(kHome),
                        .region = std::string(kRegion),
                        .name = name,
                        .dimensions = {{"QueueName", queue}},
                        .space = "AWS/SQS",
                        .metric = "ApproximateNumberOfMessagesVisible",
                        .statistic = "Maximum"};
    alarm.alarm_actions = std::move(actions);
    wanted_alarms_[name] = alarm;
    ensure();
  }
  // A job that moves dead letters away from a queue; its id.
  void make_job(const std::string& queue, const Uuid& id) {
    wanted_jobs_[queue] = id;
    ensure();
  }
  // What IAM has been told so far is there again whenever it is missing.
  void remember_entries() {
    engine_->turn([&](engine::Turn& turn) {
      for (const auto& [key, value] : turn.state().entries()) wanted_entries_[key] = value;
    });
  }
  // Puts back what a request has changed or taken away.
  void ensure() {
    engine_->turn([&](engine::Turn& turn) {
      for (const auto& [identity, settings] : wanted_queues_)
        ensure_queue(turn, identity, settings);
      for (const auto& [key, value] : wanted_entries_) {
        const std::string* const found = turn.state().find_entry(key.first, key.second);
        if (found == nullptr || *found != value) {
          turn.commit(queue::EntryPut{key.first, key.second, value});
        }
      }
      for (const auto& [queue, id] : wanted_jobs_) ensure_job(turn, queue, id);
    });
    for (const auto& [name, owner] : wanted_buckets_) {
      if (!buckets_->bucket(name)) (void)buckets_->create_bucket(name, wall_.wall(), owner);
    }
    for (const auto& [name, alarm] : wanted_alarms_) {
      if (!watcher_->store().find({std::string(kHome), std::string(kRegion), name})) {
        (void)watcher_->store().put(alarm);
      }
    }
  }

  // A receipt handle of a message in that queue.
  std::string fresh_handle(const std::string& queue) {
    ensure();
    const std::string url = fmt::format("http://test:1/{}/{}", kHome, queue);
    without_policies([&] {
      (void)sqs(
          "root", "SendMessage", fmt::format(R"({{"QueueUrl":"{}","MessageBody":"x"}})", url));
    });
    Answer received;
    without_policies([&] {
      received = sqs("root",
                     "ReceiveMessage",
                     fmt::format(R"({{"QueueUrl":"{}","VisibilityTimeout":600}})", url));
    });
    return text_after(received.body, R"("ReceiptHandle":")");
  }
  // The id of a message in that queue.
  std::string fresh_message(const std::string& queue) {
    Answer sent;
    without_policies([&] {
      sent = sqs(
          "root",
          "SendMessage",
          fmt::format(R"({{"QueueUrl":"http://test:1/{}/{}","MessageBody":"x"}})", kHome, queue));
    });
    return text_after(sent.body, R"("MessageId":")");
  }
  // The key of a message in that queue.
  std::string fresh_key(const std::string& queue) {
    ensure();
    Answer page;
    without_policies([&] {
      (void)sqs(
          "root",
          "SendMessage",
          fmt::format(R"({{"QueueUrl":"http://test:1/{}/{}","MessageBody":"x"}})", kHome, queue));
      page = manage("root", "GET", fmt::format("queues/{}/messages", queue));
    });
    const std::size_t at = page.body.find(R"("key":)");
    if (at == page.body.npos) return "0";
    return page.body.substr(at + 6, page.body.find_first_of(",}", at) - at - 6);
  }

  engine::Engine& engine() { return *engine_; }
  objects::Store& buckets() { return *buckets_; }
  metrics::History& history() { return history_; }
  alarms::Watcher& watcher() { return *watcher_; }
  alarms::Notifier& notifier() { return *notifier_; }
  std::vector<std::string> invoked;  // ARNs of functions that alarms have invoked.

  std::size_t messages_in(const std::string& queue) {
    return engine_->turn([&](engine::Turn& turn) -> std::size_t {
      const queue::Queue* const found =
          turn.state().find({std::string(kHome), std::string(kRegion), queue});
      return found == nullptr ? 0 : turn.state().mailbox(*found).size();
    });
  }

 private:
  static std::string_view service_name(Api api) {
    switch (api) {
      case Api::lambda:
        return "lambda";
      case Api::s3:
        return "s3";
      case Api::cloudwatch:
        return "monitoring";
      case Api::iam:
        return "iam";
      case Api::sts:
        return "sts";
      case Api::ssm:
        return "ssm";
      case Api::sqs:
      case Api::manage:
        break;
    }
    return "sqs";
  }

  static auth::AccessKey key(std::string id, auth::Role role, std::string_view account,
                             std::vector<std::string> names) {
    return {.id = id,
            .secret = "secret of " + id,
            .account = std::string(account),
            .name = id,
            .role = role,
            .queues = std::move(names)};
  }

  void open_objects() {
    auto buckets = objects::Store::open(
        {.root = root_ / "objects", .sync = objects::Sync::no, .separate_accounts = true});
    EXPECT_TRUE(buckets.has_value());
    buckets_ = std::move(*buckets);
    code_.emplace(
        lambda::CodeStore::Options{.root = root_ / "functions", .sync = objects::Sync::no});
    functions_.emplace(lambda::Functions::Parts{
        .engine = *engine_, .gate = gate_, .code = *code_, .endpoint_url = [] {
          return std::string("http://127.0.0.1:9324");
        }});
    notifier_ = std::make_unique<alarms::Notifier>(alarms::Notifier::Parts{
        .engine = *engine_,
        .invoke = [this](const std::string& arn, const std::string&) -> Result<void> {
          invoked.push_back(arn);
          return {};
        },
        .sync_wanted = {},
        .log = {}});
    watcher_.emplace(
        alarms::Watcher::Parts{.engine = *engine_,
                               .dead_letters = *dead_letters_,
                               .history = history_,
                               .notifier = *notifier_,
                               .sync_wanted = {},
                               .rules = {},
                               .notify = {},
                               .account = std::string(kHome),
                               .has_function = [](const std::string&) { return true; }});
  }

  void open_services() {
    const front::BucketOwner owner = [this](const std::string& name) -> std::optional<std::string> {
      const auto info = buckets_->bucket(name);
      return info ? std::optional(info->owner) : std::nullopt;
    };
    sqs_.emplace(*engine_, gate_, sqs::ServiceOptions{}, sqs::Service::Hooks{});
    manage_.emplace(manage::Parts{.engine = *engine_,
                                  .dead_letters = *dead_letters_,
                                  .gate = gate_,
                                  .time = &*time_,
                                  .disposable = true,
                                  .history = &history_,
                                  .observe = [] {},
                                  .watcher = &*watcher_,
                                  .bucket_owner = owner});
    lambda_.emplace(
        lambda::Parts{.engine = *engine_,
                      .gate = gate_,
                      .functions = *functions_,
                      .invoker = invoker_,
                      .buckets = buckets_.get(),
                      .invoke_async = [](const auto&, const auto&) -> Result<void> { return {}; },
                      .changed = [] {}});
    s3_.emplace(
        s3::Service::Parts{.store = *buckets_, .uploads = uploads_, .gate = gate_, .domains = {}});
    cloudwatch_.emplace(cloudwatch::Parts{.engine = *engine_,
                                          .gate = gate_,
                                          .history = history_,
                                          .observe = [] {},
                                          .watcher = *watcher_,
                                          .look = [] {},
                                          .bucket_owner = owner});
    iam_.emplace(iam::Parts{.engine = *engine_}, gate_);
    ssm_.emplace(ssm::Parts{.engine = *engine_, .sealer = sealer_}, gate_);
  }

  void start() {
    auto started = http::Server::start({},
                                       {.handle = [this](http::Exchange& e) { route(e); },
                                        .answer_gathered = [this] { sqs_->send_gathered(); },
                                        .round_ended = {}});
    EXPECT_TRUE(started.has_value());
    server_ = std::move(*started);
    server_->release(UINT64_MAX);
    sqs_->attach(*server_);
    lambda_->attach(*server_);
    s3_->attach(*server_);
    client_ = std::make_unique<http::RawClient>(server_->port());
  }

  void route(http::Exchange& exchange) {
    switch (api_) {
      case Api::sqs:
        return sqs_->handle(exchange);
      case Api::manage:
        return manage_->handle(exchange);
      case Api::lambda:
        return lambda_->handle(exchange);
      case Api::s3:
        return s3_->handle(exchange);
      case Api::cloudwatch:
        return cloudwatch_->handle(exchange);
      case Api::iam:
        return iam_->handle(exchange, iam::Service::iam);
      case Api::sts:
        return iam_->handle(exchange, iam::Service::sts);
      case Api::ssm:
        return ssm_->handle(exchange);
    }
  }

  void put_entry(queue::EntryKind kind, const std::string& name, const std::string& value) {
    wanted_entries_[{kind, name}] = value;
    ensure();
  }
  static void ensure_queue(engine::Turn& turn, const queue::QueueIdentity& identity,
                           const queue::QueueSettings& settings) {
    const queue::Queue* const found = turn.state().find(identity);
    if (found != nullptr && found->settings.policy == settings.policy) return;
    if (found != nullptr) {
      turn.commit(queue::QueueSettingsChanged{found->key, settings});
      return;
    }
    std::vector<queue::Change> changes;
    const std::string arn = identity.arn();
    const queue::NameIndex name = turn.name(arn, changes);
    changes.push_back(
        queue::QueueCreated{next(turn.state().last_queue()), name, identity, settings, {}});
    turn.commit(changes);
  }
  static void ensure_job(engine::Turn& turn, const std::string& queue, const Uuid& id) {
    for (const auto& [key, task] : turn.state().tasks()) {
      if (task.id == id) return;
    }
    const std::string arn = queue_arn(queue);
    turn.commit(queue::MoveTaskStarted{.task = next(turn.state().last_task()),
                                       .id = id,
                                       .source = turn.state().find_by_arn(arn)->key,
                                       .source_arn = arn,
                                       .destination_arn = arn});
  }
  // For what only the test may do.
  template <class Work>
  void without_policies(Work work) {
    auto kept = wanted_queues_;
    for (auto& [identity, settings] : wanted_queues_) settings.policy.clear();
    ensure();
    work();
    wanted_queues_ = std::move(kept);
    ensure();
  }
  static std::string text_after(const std::string& text, std::string_view mark) {
    const std::size_t at = text.find(mark);
    if (at == text.npos) return {};
    const std::size_t begin = at + mark.size();
    return text.substr(begin, text.find('"', begin) - begin);
  }

  fs::path root_;
  VirtualClock clock_{Timestamp(1'767'225'600'000)};
  VirtualClock wall_{Timestamp(1'767'225'600'000)};  // For signatures; never moved.
  front::Gate gate_{{}, wall_};
  SeededIds ids_{1};
  store::Store store_;
  std::unique_ptr<journal::Journal> journal_ = journal::memory_journal({});
  std::unique_ptr<engine::Engine> engine_;
  std::optional<dead_letters::DeadLetters> dead_letters_;
  std::optional<engine::TimeTravel> time_;
  metrics::History history_;
  lambda::FakeInvoker invoker_;
  objects::Uploads uploads_{{.object_bytes_max = 1 << 20, .bytes_max = 4 << 20}};
  std::unique_ptr<objects::Store> buckets_;
  std::optional<lambda::CodeStore> code_;
  std::optional<lambda::Functions> functions_;
  std::unique_ptr<alarms::Notifier> notifier_;
  std::optional<alarms::Watcher> watcher_;
  std::optional<sqs::Service> sqs_;
  std::optional<manage::Service> manage_;
  std::optional<lambda::Service> lambda_;
  std::optional<s3::Service> s3_;
  std::optional<cloudwatch::Service> cloudwatch_;
  std::optional<iam::Endpoint> iam_;
  ssm::Sealer sealer_{{}};
  std::optional<ssm::Service> ssm_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<http::RawClient> client_;
  std::atomic<Api> api_ = Api::sqs;

  std::map<queue::QueueIdentity, queue::QueueSettings> wanted_queues_;
  std::map<std::pair<queue::EntryKind, std::string>, std::string> wanted_entries_;
  std::map<std::string, Uuid> wanted_jobs_;
  std::map<std::string, std::string> wanted_buckets_;
  std::map<std::string, alarms::Alarm> wanted_alarms_;
};

}  // namespace redrive::authorization
