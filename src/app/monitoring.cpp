#include "app/monitoring.h"

#include <openssl/crypto.h>
#include <spdlog/spdlog.h>

#include <filesystem>

#include "front/catalogue_access.h"
#include "observe/metrics/exposition.h"
#include "observe/monitor/page.h"

namespace redrive::app {
namespace {

constexpr front::Operation kReadMetrics{.name = "redrive:readMetrics", .right = auth::Right::look};

bool same_secret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

void write_text(std::string& out, const http::ResponseHead& head, std::string_view body) {
  const std::size_t mark = http::begin_response(out, head);
  out += body;
  http::end_response(out, mark);
}

}  // namespace

Monitoring::Monitoring(Parts parts, std::optional<metrics::HistoryFiles> files)
    : parts_(std::move(parts)),
      history_(parts_.config.history_queues_max),
      files_(std::move(files)) {
  load_history();
  collector_.emplace(monitor::Collector::Parts{.engine = parts_.engine,
                                               .recorded = parts_.recorded,
                                               .history = history_,
                                               .sources = sources(),
                                               .virtual_time = parts_.time != nullptr});
  if (parts_.time != nullptr) parts_.time->watch([this] { look(); });
  open_alarms();
  cloudwatch_.emplace(cloudwatch::Parts{.engine = parts_.engine,
                                        .gate = parts_.gate,
                                        .history = history_,
                                        .observe = [this] { observe(); },
                                        .watcher = *watcher_,
                                        .look = [this] { look(); },
                                        .observers = parts_.observers,
                                        .bucket_owner = parts_.bucket_owner,
                                        .offload = parts_.offload});
}

void Monitoring::open_alarms() {
  const Config& config = parts_.config;
  notifier_ = std::make_unique<alarms::Notifier>(alarms::Notifier::Parts{
      .engine = parts_.engine,
      .invoke = [this](const std::string& arn, const std::string& payload) -> Result<void> {
        if (handlers_ != nullptr) return handlers_->invoke_async(arn, payload);
        return fail(ErrorCode::service_unavailable, "functions do not run yet");
      },
      .outgoing = parts_.webhooks,
      .ca_file = config.alarm_ca_file,
      .sync_wanted = parts_.sync_wanted,
      .log = [](std::string line) { spdlog::warn("{}", line); },
      .synced = [this] { return parts_.journal.synced(); }});
  watcher_.emplace(alarms::Watcher::Parts{.engine = parts_.engine,
                                          .dead_letters = parts_.dead_letters,
                                          .history = history_,
                                          .notifier = *notifier_,
                                          .sync_wanted = parts_.sync_wanted,
                                          .rules = config.dead_letter_alarms,
                                          .notify = config.alarm_targets,
                                          .account = config.account,
                                          .region = config.region,
                                          .mask_rules = config.mask_rules,
                                          .console_url = config.console_url,
                                          .outgoing = parts_.webhooks,
                                          .has_function =
                                              [this](const std::string& arn) {
                                                return handlers_ != nullptr &&
                                                       handlers_->has_function(arn);
                                              },
                                          .accept_unreachable = config.alarm_unreachable_targets});
}

void Monitoring::observe() {
  const MutexLock lock(observing_);
  if (handlers_ != nullptr) handlers_->count_into(parts_.recorded.functions);
  collector_->observe();
}

void Monitoring::load_history() {
  if (!files_) return;
  const std::size_t faults = files_->load(history_, parts_.engine.now());
  if (faults > 0) spdlog::warn("{} incomplete files of the metrics history were skipped", faults);
}

monitor::Sources Monitoring::sources() const {
  return {.journal = [this] { return parts_.journal.totals(); },
          .segments = [this] { return parts_.journal.usage(); },
          .http = [this] { return server_ ? server_->totals() : http::Server::Totals(); },
          .connections = [this] { return server_ ? server_->connections() : 0; },
          .waiting_receives = [this] { return parts_.engine.waiting(); },
          .spans = parts_.spans,
          .notices = [this] { return notice_totals(); },
          .disk = [this]() -> std::optional<monitor::DiskReading> {
            if (parts_.config.memory) return std::nullopt;
            return monitor::read_disk(parts_.config.data);
          }};
}

monitor::NoticeTotals Monitoring::notice_totals() const {
  const alarms::Notifier::Totals totals = notifier_->totals();
  return {.delivered = totals.delivered,
          .failed_attempts = totals.failed_attempts,
          .given_up = totals.given_up,
          .queued = totals.queued,
          .failing = totals.failing};
}

void Monitoring::attach(http::Server& server, Handlers& handlers) {
  server_ = &server;
  handlers_ = &handlers;
  background_.run([this] { watcher_->resume(); });
  // With a virtual clock, TimeTravel triggers observations.
  if (parts_.time == nullptr) keep_looking(Workers::Clock::now());
}

// Every second; missed observations are not made up for.
void Monitoring::keep_looking(Workers::Clock::time_point due) {
  background_.run_at(due, [this, due] {
    look();
    keep_looking(std::max(due + std::chrono::seconds(1), Workers::Clock::now()));
  });
}

void Monitoring::stop() {
  background_.stop();
  notifier_->stop();
  server_ = nullptr;
  handlers_ = nullptr;
}

// Logged when the state changes, not at every observation.
void Monitoring::look_at_disk() {
  if (parts_.config.memory) return;
  const auto reading = monitor::read_disk(parts_.config.data);
  if (!reading) return;
  const monitor::DiskNeeds needs{.segment_bytes = journal::Options().segment_bytes,
                                 .has_room = parts_.journal.has_room()};
  const monitor::DiskState before = disk();
  const monitor::DiskState state = monitor::judge_disk(*reading, needs, before);
  disk_ = state;
  if (state != before) tell_disk(*reading, before, state);
}

void Monitoring::tell_disk(const monitor::DiskReading& reading, monitor::DiskState before,
                           monitor::DiskState state) {
  using monitor::DiskState;
  const std::string space = fmt::format("{} of {} MiB are free on the file system of {}",
                                        reading.free_bytes >> 20,
                                        reading.total_bytes >> 20,
                                        parts_.config.data);
  std::string reason = "Disk space: " + space + ".";
  if (state == DiskState::low) {
    spdlog::warn("disk space is low: {}; sends are refused when it is used up", space);
    reason = "Disk space is low: " + space + ". Sends are refused when it is used up.";
  } else if (state == DiskState::full) {
    spdlog::error(
        "the disk is full: {}; sends are refused or will be soon, receives and deletes still work",
        space);
    reason = "The disk is full: " + space +
             ". Sends are refused or will be soon. Receives and deletes still work.";
  } else {
    spdlog::info("disk space is available again: {}", space);
  }
  const auto alarm_state = [](DiskState disk) {
    return disk == DiskState::ok ? alarms::AlarmState::ok : alarms::AlarmState::alarm;
  };
  watcher_->tell({.name = "disk space",
                  .description = "The server monitors the disk of its data directory.",
                  .reason = std::move(reason),
                  .before = alarm_state(before),
                  .state = alarm_state(state)});
}

void Monitoring::look() {
  const MutexLock lock(looking_);
  observe();
  look_at_disk();
  watcher_->look();
  if (parts_.each_second) parts_.each_second();
  if (!files_) return;
  const auto saved = files_->save(history_, parts_.engine.now());
  if (!saved)
    spdlog::warn("cannot write the metrics of the last minute: {}", saved.error().message);
}

// None: the request is refused.
std::optional<Monitoring::Reader> Monitoring::reader_of(const http::Request& request) const {
  const std::string_view authorization = request.header("authorization");
  const std::string& token = parts_.config.metrics_token;
  const bool has_token = !token.empty() && same_secret(authorization, "Bearer " + token);
  if (has_token || parts_.gate.open()) return Reader{.caller = {}, .sees_all = true};
  auto caller = parts_.gate.admit(request, front::Gate::Api::management);
  if (!caller || !front::authorize_role(*caller, kReadMetrics)) return std::nullopt;
  return Reader{.caller = *std::move(caller)};
}

bool Monitoring::may_see(const Reader& reader, const metrics::Subject& subject) const {
  return reader.sees_all ||
         front::authorize_metrics(parts_.engine, parts_.gate, reader.caller, kReadMetrics, subject);
}

void Monitoring::handle_page(http::Exchange& exchange) const {
  const http::Request& request = exchange.request();
  http::ResponseHead head{.status = 200,
                          .content_type = metrics::Exposition::kContentType,
                          .keep_alive = request.keep_alive};
  std::string text;
  if (const auto reader = reader_of(request)) {
    text = monitor::metrics_page(
        {.engine = parts_.engine,
         .dead_letters = parts_.dead_letters,
         .recorded = parts_.recorded,
         .history = history_,
         .sources = sources(),
         .queues_max = parts_.config.metrics_queues_max,
         .sees = [&](const metrics::Subject& subject) { return may_see(*reader, subject); }});
  } else {
    head.status = 403;
    head.content_type = "text/plain";
    text = "metrics require the token of [metrics] in redrive.toml, or a signed request\n";
  }
  write_text(exchange.out(), head, text);
  exchange.reply(0);
}

}  // namespace redrive::app
