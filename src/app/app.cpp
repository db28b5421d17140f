#include "app/app.h"

#include <spdlog/spdlog.h>

#include <cassert>
#include <filesystem>

#include "app/audit_reader.h"
#include "app/dead_letter_archive.h"
#include "app/endpoint_url.h"
#include "app/handler_overview.h"
#include "app/keys.h"
#include "aws/iam/role_permissions.h"
#include "console/page.h"
#include "observe/monitor/queue_reading.h"

namespace redrive::app {
namespace {

using Pace = http::OffloadPool::Pace;

Pace slow(const http::Request&) {
  return Pace::slow;
}

void log_error(std::string line) {
  spdlog::error("{}", line);
}

void report_reload(std::string_view what, const Result<void>& done) {
  if (done) {
    spdlog::info("reloaded {}", what);
  } else {
    spdlog::error("failed to reload {}, keeping the previous one: {}", what, done.error().message);
  }
}

}  // namespace

App::App(const Config& config, EventLog& log, Opened opened)
    : config_(config),
      listen_(std::move(opened.listen)),
      outgoing_(std::move(opened.outgoing)),
      ids_(std::move(opened.ids)),
      storage_(std::move(opened.storage)),
      buckets_(std::move(opened.buckets)),
      audit_(std::move(opened.audit)),
      log_(log),
      server_(std::move(opened.server)),
      port_(server_->port()),
      clock_(config, storage_->store.last_stamp().wall),
      syncing_(*storage_->journal, recorded_),
      ticker_(config.virtual_clock ? Ticker::Pace::none : Ticker::Pace::real),
      notices_(log),
      engine_({.store = storage_->store,
               .journal = *storage_->journal,
               .clock = clock_.get(),
               .ids = *ids_,
               .jump = jump_options(config)},
              engine_hooks()),
      dead_letters_(engine_, dead_letter_options()),
      time_(make_time()),
      tracing_(make_tracing()),
      gate_({.account = config.account, .region = config.region}, real_clock_),
      refusals_(audit_),
      observers_(make_observers()),
      bucket_owner_([this](const std::string& bucket) { return buckets_->owner_of(bucket); }),
      monitoring_(monitoring_parts(), std::move(opened.history_files)),
      sqs_(engine_, gate_,
           {.strict_timing = config.strict_timing,
            .waiting_receives_max = config.waiting_receives_max},
           service_hooks()),
      handlers_(Handlers::make(handlers_parts())),
      management_(management_parts()),
      s3_({.store = buckets_->store(),
           .uploads = buckets_->uploads(),
           .gate = gate_,
           .domains = config.allowed_hosts,
           .observers = observers_}),
      iam_({.engine = engine_, .changed = [this] { handlers_->refresh_keys(); }}, gate_, observers_,
           offload_hook()),
      sealer_(config.memory ? std::filesystem::path()
                            : std::filesystem::path(config.data) / "parameters.key"),
      ssm_({.engine = engine_, .sealer = sealer_}, gate_, observers_, offload_hook()),
      router_(endpoints(), std::bind_front(&Offload::run, &offload_), guard()) {
  gate_.use(std::move(opened.keys));
}

App::~App() {
  if (maintenance_) stop();
}

// --- Parts ---

front::Offload App::offload_hook() {
  return [this](http::Exchange& exchange, Pace pace, http::OffloadPool::Serve serve) {
    return offload_.take(exchange, pace, std::move(serve));
  };
}

engine::Engine::Hooks App::engine_hooks() {
  return {.wake_earlier = [this] { ticker_.schedule(); },
          .sync_wanted = [this] { syncing_.request(); },
          .log = log_error,
          .notice = [this](const engine::Notice& notice) { notices_.write(notice); }};
}

dead_letters::Options App::dead_letter_options() {
  dead_letters::Options options{.policies = config_.policies,
                                .settled = config_.settled,
                                .jobs = {.pause = Duration(config_.virtual_clock ? 0 : 1)},
                                .archive = [this](const dead_letters::ArchiveItem& item) {
                                  return archive_dead_letter(buckets_->store(), item);
                                }};
  // With a virtual clock the thread that moves the clock does this work, so that it happens at its
  // own virtual time.
  if (!config_.virtual_clock) {
    options.jobs.offload = [this](std::function<void()> work) { jobs_.run(std::move(work)); };
  }
  return options;
}

std::unique_ptr<engine::TimeTravel> App::make_time() {
  VirtualClock* const clock = clock_.if_virtual();
  return clock == nullptr ? nullptr : std::make_unique<engine::TimeTravel>(engine_, *clock);
}

std::unique_ptr<Tracing> App::make_tracing() {
  if (config_.traces_endpoint.empty()) return nullptr;
  auto tracing = std::make_unique<Tracing>(config_.traces_endpoint, engine_, dead_letters_);
  notices_.attach(*tracing);
  return tracing;
}

front::Observers App::make_observers() {
  return {.audit = [this](std::string line) { audit_.write(std::move(line)); },
          .audits_refusal = [this](std::string_view caller,
                                   std::string_view peer) { return refusals_.admit(caller, peer); },
          .failed = [this](const front::FailedRequest& failed) { notices_.write(failed); },
          .recorded = &recorded_};
}

Monitoring::Parts App::monitoring_parts() {
  Monitoring::Parts parts{.config = config_,
                          .engine = engine_,
                          .dead_letters = dead_letters_,
                          .journal = *storage_->journal,
                          .gate = gate_,
                          .observers = observers_,
                          .recorded = recorded_,
                          .time = time_.get(),
                          .sync_wanted = [this] { syncing_.request(); },
                          .webhooks = outgoing_.webhooks,
                          .bucket_owner = bucket_owner_,
                          .offload = offload_hook(),
                          .each_second = [this] { refusals_.write_suppressed(); }};
  if (tracing_) {
    parts.spans = [this] {
      return monitor::SpanTotals{.sent = tracing_->sent(), .dropped = tracing_->dropped()};
    };
  }
  return parts;
}

sqs::Service::Hooks App::service_hooks() {
  sqs::Service::Hooks hooks{.log = log_error,
                            .ready = [this] { return !stopping_.load(); },
                            .disk = [this] { return monitor::name_of(monitoring_.disk()); },
                            .observers = observers_,
                            .offload =
                                [this](http::Exchange& exchange, Offload::Handler handler) {
                                  return offload_.run(exchange, Pace::slow, std::move(handler));
                                }};
  if (tracing_) hooks.received = std::bind_front(&Tracing::received, tracing_.get());
  return hooks;
}

Handlers::Parts App::handlers_parts() {
  Handlers::Parts parts{
      .config = config_,
      .engine = engine_,
      .gate = gate_,
      .buckets = buckets_->store(),
      .ids = *ids_,
      .endpoint_url = [this] { return local_endpoint_url(config_, listen_, port_); },
      .sync_wanted = [this] { syncing_.request(); },
      .observers = observers_,
      .directories = listen_.loopback && config_.keys.empty(),
      .outgoing = outgoing_,
      .role_permissions =
          [this](std::string_view account, std::string_view role) {
            return iam::role_permissions(engine_, account, role);
          },
      .role_id = [this](std::string_view account,
                        std::string_view role) { return iam::role_id(engine_, account, role); }};
  if (tracing_) parts.ran = std::bind_front(&Tracing::ran, tracing_.get());
  return parts;
}

manage::Parts App::management_parts() {
  manage::Parts parts{
      .engine = engine_,
      .dead_letters = dead_letters_,
      .gate = gate_,
      .time = time_.get(),
      .disposable = config_.memory || config_.virtual_clock,
      .version = REDRIVE_VERSION,
      .observers = observers_,
      .history = &monitoring_.history(),
      .observe = [this] { monitoring_.observe(); },
      .watcher = &monitoring_.watcher(),
      .log_after = [this](std::uint64_t number,
                          std::size_t max) { return log_.after(number, max); },
      .oldest_age = monitor::oldest_age,
      .handlers = [this] { return handler_overview(engine_, handlers_->dispatcher()); },
      .clear_buckets = [this] { return buckets_->clear(); },
      .read_archived =
          [this](std::string_view place, std::string_view account) {
            return read_archived_letter(buckets_->store(), place, account);
          },
      .catalogue_cleared = [this] { handlers_->reload(); },
      .bucket_owner = bucket_owner_,
      .offload = offload_hook(),
      .mask_rules = config_.mask_rules,
      .exposed_key_files = [this] { return exposed_key_files(config_); }};
  if (!audit_.path().empty()) {
    parts.audit = [reader = AuditReader(audit_.path())](const manage::AuditQuery& query) {
      return reader.page(query);
    };
  }
  return parts;
}

// --- Requests ---

EndpointTable App::endpoints() {
  EndpointTable table;
  const auto add = [&](Api api, auto& service) {
    table.add(api, {.handle = [&service](http::Exchange& exchange) { service.handle(exchange); }});
  };
  const auto add_iam = [&](Api api, iam::Service service) {
    table.add(api, {.handle = [this, service](http::Exchange& exchange) {
                iam_.handle(exchange, service);
              }});
  };
  add(Api::sqs, sqs_);
  add(Api::lambda, *handlers_);
  add(Api::s3, s3_);
  add(Api::management, management_);
  add(Api::cloudwatch, monitoring_.cloudwatch());
  add(Api::ssm, ssm_);
  add_iam(Api::iam, iam::Service::iam);
  add_iam(Api::sts, iam::Service::sts);
  table.add(Api::console, {.handle = console::handle});
  add_metrics(table);
  return table;
}

void App::add_metrics(EndpointTable& table) {
  table.add(Api::metrics,
            {.handle = [this](http::Exchange& exchange) { monitoring_.handle_page(exchange); },
             .pace = slow,
             .refuse_busy =
                 [](http::Exchange& exchange) {
                   reply_text(exchange, 503, "the server is busy; try again later");
                 }});
}

// A server that takes any credentials is protected from web pages in the browser of its user.
std::optional<http::BrowserGuard> App::guard() const {
  if (!config_.keys.empty() || !listen_.loopback) return std::nullopt;
  return http::BrowserGuard(
      {.listen_address = listen_.address, .allowed_hosts = config_.allowed_hosts});
}

// --- From start to stop ---

void App::attach_parts() {
  sqs_.attach(*server_);
  s3_.attach(*server_);
  offload_.attach(*server_);
  handlers_->attach(*server_);
  syncing_.attach(*server_, *handlers_);
}

Result<void> App::start() {
  assert(server_ && !maintenance_);
  const auto reached = TRY(storage_->journal->sync_once());  // The first fact of a new journal.
  server_->release(config_.memory ? UINT64_MAX : reached);
  attach_parts();
  RETURN_IF_ERROR(server_->run({.handle = std::bind_front(&Router::handle, &router_),
                                .answer_gathered = [this] { sqs_.send_gathered(); },
                                .round_ended = [this](bool idle) { syncing_.end_round(idle); }}));
  ticker_.attach(engine_, *server_);
  monitoring_.attach(*server_, *handlers_);
  maintenance_.emplace(engine_, exit_unsynced);
  handlers_->start();
  return {};
}

// If it fails, the previous keys stay.
Result<void> App::reload_keys() {
  gate_.use(TRY(read_fresh_keys(config_)));
  return {};
}

void App::reload() {
  if (config_.tls()) report_reload("the certificate", server_->reload_tls());
  if (!config_.file.empty()) report_reload("the keys", reload_keys());
  report_reload("the audit log", audit_.reopen());
}

// Parts that use the server end before it, and the sync thread ends last.
void App::stop() {
  stopping_ = true;
  handlers_->stop(config_.drain_time);
  engine_.stop_waiting();
  management_.stop();
  server_->drain(config_.drain_time);
  offload_.stop();
  handlers_->close();
  monitoring_.stop();
  s3_.stop();
  maintenance_.reset();
  ticker_.detach();
  syncing_.detach();
  server_.reset();
  jobs_.stop();
  syncing_.stop();
  refusals_.write_suppressed();
}

}  // namespace redrive::app
