#include "server/serve.h"

#include <fmt/format.h>
#include <malloc.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "api/refusal_limit.h"
#include "api/service.h"
#include "auth/access_key.h"
#include "base/calendar.h"
#include "base/clock.h"
#include "base/workers.h"
#include "engine/engine.h"
#include "engine/time_travel.h"
#include "http/browser_guard.h"
#include "http/server.h"
#include "iam/role_permissions.h"
#include "iam/service.h"
#include "journal/journal.h"
#include "journal/posix_files.h"
#include "manage/service.h"
#include "monitor/queue_reading.h"
#include "objects/store.h"
#include "objects/uploads.h"
#include "s3/service.h"
#include "server/audit_log.h"
#include "server/dead_letter_archive.h"
#include "server/event_log.h"
#include "server/handler_overview.h"
#include "server/handlers.h"
#include "server/key_config.h"
#include "server/maintenance.h"
#include "server/monitoring.h"
#include "server/offload.h"
#include "server/routing.h"
#include "server/tracing.h"
#include "store/store.h"
#include "wire/encode.h"

namespace redrive::server {
namespace {

// Thousands of connections and hundreds of segments: take what the system allows.
void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) spdlog::warn("cannot raise the limit of open files");
}

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

// Where functions run as the server's own user, they must not read its memory (keys, messages) or
// take it over by ptrace. There are no core dumps either. As long as this lives; the leak check of
// sanitizer builds, which is last, needs ptrace.
class Undumpable {
 public:
  Undumpable() {
    if (prctl(PR_SET_DUMPABLE, 0) != 0) spdlog::warn("cannot keep other processes out of memory");
  }
  ~Undumpable() {
    if (kSanitized) prctl(PR_SET_DUMPABLE, 1);
  }
  Undumpable(const Undumpable&) = delete;
  Undumpable& operator=(const Undumpable&) = delete;
};

// People read text, machines JSON.
LogFormat log_format(const Config& config) {
  const bool person = config.log_format == "auto" && isatty(STDERR_FILENO) == 1;
  return person || config.log_format == "text" ? LogFormat::text : LogFormat::json;
}

// Signals are taken by `wait_for_signal` alone. To be called before any thread starts.
// SIGHUP means to read files again; where there are none it ends us, as when a terminal closes.
sigset_t block_signals(const Config& config) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  if (config.tls() || !config.file.empty()) sigaddset(&set, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return set;
}

// Until one of them says to end.
int wait_for_signal(const sigset_t& set, const std::function<void()>& reload) {
  while (true) {
    int signal_number = 0;
    if (sigwait(&set, &signal_number) != 0) continue;
    if (signal_number != SIGHUP) return signal_number;
    reload();
  }
}

// Tells a web page that it has no business here. False: it is none.
bool turn_away(const http::BrowserGuard& guard, http::Exchange& exchange) {
  const http::Request& request = exchange.request();
  const auto refusal = guard.refusal({.host = request.host,
                                      .origin = request.header("origin"),
                                      .fetch_site = request.header("sec-fetch-site"),
                                      .referer = request.header("referer")});
  if (!refusal) return false;
  const std::size_t mark = http::begin_response(exchange.out(),
                                                {.status = 403,
                                                 .content_type = "text/plain; charset=utf-8",
                                                 .keep_alive = request.keep_alive});
  exchange.out().append(*refusal).append("\n");
  http::end_response(exchange.out(), mark);
  exchange.reply(0);
  return true;
}

// The id is the one that the client was told, so that both can be found by it.
engine::Notice notice_of(const api::FailedRequest& failed) {
  using Weight = engine::Notice::Weight;
  return {.weight = failed.status >= 500 ? Weight::fault : Weight::swarm,
          .event = failed.status >= 500 ? "request failed" : "signature refused",
          .fields = {{"request-id", std::string(failed.request_id)},
                     {"service", std::string(failed.service)},
                     {"action", std::string(failed.action)},
                     {"code", std::string(failed.code)},
                     {"message", std::string(failed.message)},
                     {"peer", std::string(failed.peer)}}};
}

// For Prometheus, which only looks at the status.
void refuse_busy(http::Exchange& exchange) {
  const std::size_t mark = http::begin_response(exchange.out(),
                                                {.status = 503,
                                                 .content_type = "text/plain; charset=utf-8",
                                                 .keep_alive = exchange.request().keep_alive});
  exchange.out().append("the server is busy with other requests; try again\n");
  http::end_response(exchange.out(), mark);
  exchange.reply(0);
}

// The journal in its directory, or one that forgets. The files must outlive the journal.
struct OpenJournal {
  std::unique_ptr<journal::PosixFiles> files;
  std::unique_ptr<journal::Journal> journal;
};

Result<OpenJournal> open_journal(const Config& config, store::Store& store) {
  OpenJournal open;
  if (config.memory) {
    open.journal = journal::memory_journal({});
    return open;
  }
  open.files = TRY(journal::PosixFiles::open(config.data, journal::OpenMode::create));
  journal::Recovered recovered;
  const auto replay = [&](journal::Sequence, journal::Location at, std::string_view payload) {
    return store.replay(at, payload);
  };
  open.journal =
      TRY(journal::open_journal(*open.files, {}, replay, recovered, store::explain_damage));
  malloc_trim(0);  // Reading back took memory that is not needed again.
  if (!recovered.truncated.empty()) spdlog::warn("{}", recovered.truncated);
  spdlog::info("recovered {} messages in {} queues from {} records ({} bytes) in {}",
               store.state().messages().size(),
               store.state().queues().size(),
               recovered.records,
               recovered.bytes,
               config.data);
  if (const auto orphans = store.state().orphans(); orphans > 0) {
    spdlog::warn(
        "{} facts speak of messages or queues that are gone: the journal has been repaired",
        orphans);
  }
  return open;
}

// The clock by which the engine lives: the system's, or one that stands still. The latter begins
// where it was told to or now, but not before what the journal has seen.
class EngineClock {
 public:
  EngineClock(const Config& config, Timestamp journal_wall) {
    if (!config.virtual_clock) return;
    const auto told = parse_utc(config.virtual_clock_start);
    virtual_.emplace(std::max(told.value_or(system_.wall()), journal_wall));
  }
  const Clock& get() const { return virtual_ ? static_cast<const Clock&>(*virtual_) : system_; }
  VirtualClock* if_virtual() { return virtual_ ? &*virtual_ : nullptr; }

 private:
  SystemClock system_;
  std::optional<VirtualClock> virtual_;
};

// Time that only moves when told to is right by definition.
engine::JumpOptions jump_options(const Config& config) {
  engine::JumpOptions options{.wait = config.clock_jump_wait};
  if (config.clock_jump == "accept" || config.virtual_clock) {
    options.policy = engine::JumpPolicy::accept;
  } else if (config.clock_jump == "ignore") {
    options.policy = engine::JumpPolicy::ignore;
  }
  return options;
}

[[noreturn]] void stop_at_once(const Error& error) {
  spdlog::critical("the journal cannot be written, nothing more is acknowledged: {}",
                   error.message);
  spdlog::shutdown();
  _exit(1);
}

// Keys that do not say otherwise belong to the server's own account and have the common limit.
Result<auth::KeyRing> key_ring(const Config& config) {
  std::vector<auth::AccessKey> keys = config.keys;
  for (auth::AccessKey& key : keys) {
    if (key.account.empty()) key.account = config.account;
    if (key.requests_per_second == 0) key.requests_per_second = config.requests_per_second_max;
  }
  return auth::KeyRing::make(std::move(keys));
}

// Only said, not refused: the server must come up again after a restart at night.
void warn_about_exposed_secrets(const Config& config) {
  for (const std::string& path : exposed_files(config.secret_files)) {
    spdlog::warn(
        "{} holds secrets of access keys and can be read or changed by every user of this machine: "
        "run `chmod 600 {}` (or 640 with a group of its own) and replace the keys",
        path,
        path);
  }
}

Result<void> reload_keys(const Config& config, api::Gate& gate) {
  Config fresh{.file = config.file, .account = config.account};
  CHECK(load_config(fresh));
  // Taking away the last key would open the server to everybody.
  if (fresh.keys.empty() != config.keys.empty()) {
    return fail(ErrorCode::usage, "having keys or having none takes a restart to change");
  }
  gate.use(TRY(key_ring(fresh)));
  warn_about_exposed_secrets(fresh);
  return {};
}

// What could not be read again stays as it was.
void report_reload(std::string_view what, const Result<void>& done) {
  if (done) {
    spdlog::info("read again: {}", what);
  } else {
    spdlog::error("{}: the old stays, since: {}", what, done.error().message);
  }
}

// A server that keeps nothing keeps no audit log either, unless told where.
std::string audit_path(const Config& config) {
  if (!config.audit_log.empty() || config.memory) return config.audit_log;
  return config.data + "/audit.ndjson";
}

// Refused requests that were not written down one by one, as a line for each caller.
void note_refusals(AuditLog& audit, api::RefusalLimit& refusals) {
  const SystemClock clock;
  for (const auto& suppressed : refusals.take_suppressed(std::chrono::steady_clock::now())) {
    std::string line = R"({"time":)";
    wire::append_json_text(line, format_utc(clock.wall()));
    line += R"(,"who":)";
    wire::append_json_text(line, suppressed.who);
    line += R"(,"from":)";
    wire::append_json_text(line, suppressed.from);
    line += fmt::format(R"(,"outcome":"RateLimited","suppressed":{}}})", suppressed.count);
    audit.write(std::move(line));
  }
}

// The archive buckets of a server that keeps nothing go with it.
class BucketRoot {
 public:
  BucketRoot(const Config& config, IdSource& ids) : passing_(config.memory) {
    path_ = passing_ ? std::filesystem::temp_directory_path() / ("redrive-" + ids.uuid().text())
                     : std::filesystem::path(config.data) / "objects";
  }
  ~BucketRoot() {
    std::error_code ignored;
    if (passing_) std::filesystem::remove_all(path_, ignored);
  }
  BucketRoot(const BucketRoot&) = delete;
  BucketRoot& operator=(const BucketRoot&) = delete;

  Result<std::unique_ptr<objects::Store>> open(const Config& config) const {
    auto store = objects::Store::open({.root = path_,
                                       .sync = passing_ ? objects::Sync::no : objects::Sync::yes,
                                       .object_bytes_max = config.object_bytes_max,
                                       .account = config.account,
                                       .separate_accounts = !config.keys.empty()});
    if (!store) return fail(ErrorCode::storage_io, store.error().message);
    return *std::move(store);
  }

 private:
  bool passing_;
  std::filesystem::path path_;
};

std::optional<std::string> owner_of(const objects::Store& store, const std::string& bucket) {
  const auto info = store.bucket(bucket);
  return info ? std::optional(info->owner) : std::nullopt;
}

Result<std::size_t> clear_buckets(objects::Store& store, objects::Uploads& uploads) {
  uploads.clear();
  const auto count = store.clear();
  if (!count) return fail(ErrorCode::storage_io, count.error().message);
  return *count;
}

// Room for the chunks that an object of the largest size travels in.
http::Limits with_uploads(http::Limits limits, std::uint64_t object_bytes_max) {
  limits.upload_bytes_max = object_bytes_max + object_bytes_max / 64 + (64u << 10);
  return limits;
}

// Connects engine time with the timer of the HTTP server.
class Ticker {
 public:
  enum class Pace { real, none };  // None: what is due later comes with engine::TimeTravel.
  Ticker(engine::Engine& engine, Pace pace) : engine_(engine), pace_(pace) {}
  void attach(http::Server& server) {
    server_ = &server;
    schedule();
  }
  void detach() {
    std::lock_guard lock(mutex_);
    server_ = nullptr;
  }
  void schedule() {
    // Reading the time and setting the timer must not be torn apart, or an earlier wake could be
    // overwritten by a later one.
    std::lock_guard lock(mutex_);
    if (server_ == nullptr) return;
    const Timestamp at = engine_.armed();
    if (at == kNever) return;
    const Duration delay = std::max(Duration::zero(), at - engine_.now());
    if (delay > Duration::zero() && pace_ == Pace::none) return;
    server_->wake_after(delay, [this] {
      engine_.tick();
      schedule();
    });
  }

 private:
  engine::Engine& engine_;
  const Pace pace_;
  std::mutex mutex_;
  http::Server* server_ = nullptr;  // Guarded by mutex_.
};

std::string url_of(const ListenAddress& listen, const Config& config, std::uint16_t port) {
  const bool v6 = listen.address.find(':') != std::string::npos;
  return fmt::format("{}://{}:{}",
                     config.tls() ? "https" : "http",
                     v6 ? "[" + listen.address + "]" : listen.address,
                     port);
}

// Where a process on this machine finds a server that listens on all addresses.
ListenAddress reachable(ListenAddress listen) {
  if (listen.address == "0.0.0.0") listen.address = "127.0.0.1";
  if (listen.address == "::") listen.address = "::1";
  return listen;
}

void greet(std::uint16_t port, const Config& config, const ListenAddress& listen) {
  const std::string url = url_of(listen, config, port);
  fmt::print("redrive: listening on {}\n", url);
  fmt::print("redrive: {}\n",
             config.memory ? "messages live in memory and are gone with the process"
                           : "messages live in " + config.data);
  if (config.virtual_clock)
    fmt::print("redrive: time stands still; to move it: redrive clock advance SECONDS\n");
  if (port != 9324)
    fmt::print("redrive: for the commands below: export AWS_ENDPOINT_URL={}\n", url);
  fmt::print(
      "redrive: try it from another terminal:\n"
      "    redrive queue create orders --dlq orders-dlq --max-receives 3\n"
      "    redrive send orders '{{\"order\":1}}'\n"
      "    redrive receive orders\n");
  std::fflush(stdout);
}

// glibc keeps small freed chunks in fast bins and merges all of them at once, under the lock of
// their arena, when a large block comes or goes. After many small objects were freed (a changed
// policy of a long queue, a purged queue) this held up every thread that allocates, for 60 ms with
// 300,000 objects. Without fast bins each chunk is merged as it is freed.
void bound_allocator_pauses() {
  mallopt(M_MXFAST, 0);
}

}  // namespace

Result<void> serve(const Config& config) {
  bound_allocator_pauses();
  CHECK(check_config(config));
  EventLog log(log_format(config), config.log_level);
  if (!config.file.empty()) spdlog::info("settings are read from {}", config.file);
  warn_about_exposed_secrets(config);
  const ListenAddress listen = TRY(parse_listen(config.listen));
  const Undumpable undumpable;
  const OutgoingPolicies outgoing = TRY(outgoing_policies(config, listen));
  const sigset_t signals = block_signals(config);
  raise_file_limit();
  if (!listen.loopback && config.keys.empty())
    spdlog::warn("serving {} without checking credentials (--insecure)", config.listen);

  RandomIds ids;
  store::Store store;
  OpenJournal opened = TRY(open_journal(config, store));
  journal::Journal& journal = *opened.journal;
  CHECK(store.attach(journal));
  EngineClock clock(config, store.last_stamp().wall);

  const BucketRoot bucket_root(config, ids);
  const auto buckets = TRY(bucket_root.open(config));
  objects::Uploads uploads(
      {.object_bytes_max = config.object_bytes_max, .bytes_max = 4 * config.object_bytes_max});
  std::unique_ptr<http::Server> server;
  std::mutex serving;  // Syncs go on while the server ends, and after it.
  std::unique_ptr<journal::SyncThread> sync;
  std::unique_ptr<Ticker> ticker;
  std::atomic<bool> stopping = false;
  Tracing* traces_wanted = nullptr;  // It needs the engine, and the engine it.
  // Reads what redrive jobs filter and change. Where time stands still, the thread that moves it
  // does that.
  Workers jobs(1);
  std::function<void(std::function<void()>)> run_job;
  if (!config.virtual_clock) {
    run_job = [&](std::function<void()> work) { jobs.run(std::move(work)); };
  }
  engine::Engine engine(
      {.store = store,
       .journal = journal,
       .clock = clock.get(),
       .ids = ids,
       .policies = config.policies,
       .task_pause = Duration(config.virtual_clock ? 0 : 1),
       .jump = jump_options(config),
       .settled = config.settled},
      {.wake_earlier = [&] { ticker->schedule(); },
       .sync_wanted = [&] { sync->request(); },
       .log = [](std::string line) { spdlog::error("{}", line); },
       .notice =
           [&](const engine::Notice& notice) {
             log.write(notice);
             if (traces_wanted != nullptr) traces_wanted->noticed(notice);
           },
       .archive =
           [&](const engine::ArchiveItem& item) { return archive_dead_letter(*buckets, item); },
       .offload = run_job});
  std::optional<Tracing> tracing;
  if (!config.traces_endpoint.empty()) {
    traces_wanted = &tracing.emplace(config.traces_endpoint, engine);
  }
  ticker = std::make_unique<Ticker>(engine,
                                    config.virtual_clock ? Ticker::Pace::none : Ticker::Pace::real);
  std::optional<engine::TimeTravel> time;
  if (VirtualClock* moved = clock.if_virtual()) time.emplace(engine, *moved);
  const auto reached = journal.sync_once();  // The first fact of a new journal.
  if (!reached) return std::unexpected(reached.error());

  const SystemClock real_clock;
  api::Gate gate({.account = config.account, .region = config.region}, real_clock);
  gate.use(TRY(key_ring(config)));
  AuditLog audit = TRY(AuditLog::open({.path = audit_path(config),
                                       .file_bytes_max = config.audit_file_bytes_max,
                                       .files_max = config.audit_files_max}));
  api::RefusalLimit refusals;
  metrics::ServerMetrics recorded;
  const api::Observers observers{
      .audit = [&](std::string line) { audit.write(std::move(line)); },
      .audits_refusal =
          [&](std::string_view who, std::string_view from) {
            return refusals.admit(who, from, std::chrono::steady_clock::now());
          },
      .failed = [&](const api::FailedRequest& failed) { log.write(notice_of(failed)); },
      .recorded = &recorded};
  std::function<monitor::SpanTotals()> span_totals;
  if (tracing) {
    span_totals = [&] {
      return monitor::SpanTotals{.sent = tracing->sent(), .dropped = tracing->dropped()};
    };
  }
  const api::BucketOwner bucket_owner = [&](const std::string& bucket) {
    return owner_of(*buckets, bucket);
  };
  const auto monitoring =
      TRY(Monitoring::open({.config = config,
                            .engine = engine,
                            .journal = journal,
                            .gate = gate,
                            .observers = observers,
                            .recorded = recorded,
                            .time = time ? &*time : nullptr,
                            .sync_wanted = [&] { sync->request(); },
                            .spans = span_totals,
                            .webhooks = outgoing.webhooks,
                            .bucket_owner = bucket_owner,
                            .each_second = [&] { note_refusals(audit, refusals); }}));
  Offload offload;
  api::Service service(
      engine,
      gate,
      {.strict_timing = config.strict_timing, .waiting_receives_max = config.waiting_receives_max},
      {.log = [](std::string line) { spdlog::error("{}", line); },
       .ready = [&] { return !stopping.load(); },
       .disk = [&] { return monitor::name_of(monitoring->disk()); },
       .observers = observers,
       .received = tracing ? std::bind_front(&Tracing::received, &*tracing)
                           : decltype(api::Service::Hooks::received)(),
       .offload =
           [&](http::Exchange& exchange, Offload::Handler handler) {
             return offload.run(exchange, http::Desk::Pace::slow, std::move(handler));
           }});

  std::unique_ptr<Handlers> handlers;  // Made below, before the first request.
  manage::Service management(
      {.engine = engine,
       .gate = gate,
       .time = time ? &*time : nullptr,
       .disposable = config.memory || config.virtual_clock,
       .observers = observers,
       .history = &monitoring->history(),
       .observe = [&] { monitoring->observe(); },
       .watcher = &monitoring->watcher(),
       .log_after = [&](std::uint64_t number, std::size_t max) { return log.after(number, max); },
       .oldest_age = monitor::oldest_age,
       .handlers = [&] { return handler_overview(engine, handlers->dispatcher()); },
       .clear_buckets = [&] { return clear_buckets(*buckets, uploads); },
       .read_archived =
           [&](std::string_view place, std::string_view account) {
             return read_archived_letter(*buckets, place, account);
           },
       .catalogue_cleared = [&] { handlers->reload(); },
       .bucket_owner = bucket_owner,
       .mask_rules = config.mask_rules});

  handlers = Handlers::make(
      {.config = config,
       .engine = engine,
       .gate = gate,
       .buckets = *buckets,
       .ids = ids,
       .endpoint_url = [&] { return url_of(reachable(listen), config, server->port()); },
       .sync_wanted = [&] { sync->request(); },
       .observers = observers,
       .ran = tracing ? std::bind_front(&Tracing::ran, &*tracing)
                      : std::function<void(const dispatch::RunReport&)>(),
       .directories = listen.loopback && config.keys.empty(),
       .outgoing = outgoing,
       .role_permissions =
           [&](std::string_view account, std::string_view role) {
             return iam::role_permissions(engine, account, role);
           },
       .role_id = [&](std::string_view account,
                      std::string_view role) { return iam::role_id(engine, account, role); }});

  s3::Service archive({.store = *buckets,
                       .uploads = uploads,
                       .gate = gate,
                       .domains = config.allowed_hosts,
                       .observers = observers});

  iam::Endpoint roles({.engine = engine, .gate = gate, .observers = observers, .changed = [&] {
                         handlers->refresh_keys();
                       }});

  using Pace = http::Desk::Pace;
  const auto run_iam = [&](http::Exchange& exchange) {
    const auto named =
        api_of(exchange.request()) == Api::iam ? iam::Service::iam : iam::Service::sts;
    if (!offload.run(exchange, Pace::quick, [&roles, named](http::Exchange& later) {
          roles.handle(later, named);
        })) {
      roles.refuse_busy(exchange, named);
    }
  };

  // The first connection may come before the parts below exist; it waits for them.
  std::latch complete(1);
  std::optional<http::BrowserGuard> guard;
  if (config.keys.empty() && listen.loopback) {
    guard.emplace(http::BrowserGuard::Options{.listen_address = listen.address,
                                              .allowed_hosts = config.allowed_hosts});
  }
  const auto handle = [&](http::Exchange& exchange) {
    complete.wait();
    if (guard && turn_away(*guard, exchange)) return;
    switch (api_of(exchange.request())) {
      case Api::sqs:
        return service.handle(exchange);
      case Api::lambda:
        return handlers->handle(exchange);
      case Api::s3:
        return archive.handle(exchange);
      case Api::management:
        if (!offload.run(exchange,
                         manage::Service::is_slow(exchange.request()) ? Pace::slow : Pace::quick,
                         [&](http::Exchange& later) { management.handle(later); })) {
          management.refuse_busy(exchange);
        }
        return;
      case Api::metrics:
        if (!offload.run(exchange, Pace::slow, [&](http::Exchange& later) {
              monitoring->handle_page(later);
            })) {
          refuse_busy(exchange);
        }
        return;
      case Api::cloudwatch:
        if (!offload.run(exchange, Pace::slow, [&](http::Exchange& later) {
              monitoring->cloudwatch().handle(later);
            })) {
          monitoring->cloudwatch().refuse_busy(exchange);
        }
        return;
      case Api::iam:
      case Api::sts:
        return run_iam(exchange);
    }
  };
  const unsigned threads =
      config.threads > 0 ? config.threads : std::max(1u, std::thread::hardware_concurrency() / 2);
  server = TRY(http::Server::start(
      {.address = listen.address,
       .port = listen.port,
       .threads = threads,
       .limits = with_uploads(config.limits, config.object_bytes_max),
       .tls = config.tls()},
      {.handle = handle,
       .answer_gathered = [&] { service.send_gathered(); },
       .round_ended = [&](bool idle) { idle ? sync->sync_here() : sync->request(); }}));
  server->release(config.memory ? UINT64_MAX : *reached);
  service.attach(*server);
  archive.attach(*server);
  offload.attach(*server);
  handlers->attach(*server);
  sync = std::make_unique<journal::SyncThread>(
      journal,
      journal::SyncThread::Hooks{
          .on_synced =
              [&](journal::Sequence synced) {
                std::lock_guard lock(serving);
                if (server) server->release(synced);
                if (server) handlers->note_synced(synced);
              },
          .on_failure = stop_at_once,
          .on_measured = [&](std::uint64_t records,
                             auto taken) { monitoring->record_sync(records, taken); }});
  ticker->attach(*server);
  monitoring->attach(*server, *handlers);
  auto maintenance = std::make_unique<Maintenance>(engine, stop_at_once);
  complete.count_down();
  handlers->start();
  greet(server->port(), config, listen);

  const int signal_number = wait_for_signal(signals, [&] {
    if (config.tls()) report_reload("the certificate", server->reload_tls());
    if (!config.file.empty()) report_reload("the keys", reload_keys(config, gate));
    report_reload("the audit log", audit.reopen());
  });
  spdlog::info("{}: draining", strsignal(signal_number));
  stopping = true;
  handlers->stop(config.drain_time);
  engine.stop_waiting();
  server->drain(config.drain_time);
  offload.stop();
  handlers->close();
  monitoring->stop();
  archive.stop();
  maintenance.reset();
  ticker->detach();
  {
    std::unique_lock lock(serving);
    const auto ending = std::move(server);
    lock.unlock();
  }
  jobs.stop();
  sync.reset();  // Writes what is left.
  note_refusals(audit, refusals);
  spdlog::info("stopped");
  return {};
}

}  // namespace redrive::server
