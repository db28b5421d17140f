#include "server/serve.h"

#include <fmt/format.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <latch>
#include <memory>
#include <mutex>
#include <thread>

#include "api/service.h"
#include "base/clock.h"
#include "engine/engine.h"
#include "http/browser_guard.h"
#include "http/server.h"
#include "journal/journal.h"
#include "journal/posix_files.h"
#include "server/maintenance.h"
#include "store/store.h"

namespace redrive::server {
namespace {

// Thousands of connections and hundreds of segments: take what the system allows.
void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) spdlog::warn("cannot raise the limit of open files");
}

// Signals are taken by `wait_for_signal` alone. To be called before any thread starts.
sigset_t block_signals(const Config& config) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  if (config.tls()) sigaddset(&set, SIGHUP);  // Else it ends us, as when a terminal closes.
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return set;
}

void reload_certificate(http::Server& server) {
  const auto reloaded = server.reload_tls();
  if (reloaded) {
    spdlog::info("the certificate has been read again");
  } else {
    spdlog::error("the old certificate stays: {}", reloaded.error().message);
  }
}

// Until one of them says to end.
int wait_for_signal(const sigset_t& set, http::Server& server) {
  while (true) {
    int signal_number = 0;
    if (sigwait(&set, &signal_number) != 0) continue;
    if (signal_number != SIGHUP) return signal_number;
    reload_certificate(server);
  }
}

// Tells a web page that it has no business here. False: it is none.
bool turn_away(const http::BrowserGuard& guard, http::Exchange& exchange) {
  const http::Request& request = exchange.request();
  const auto refusal = guard.refusal({.host = request.host,
                                      .origin = request.header("origin"),
                                      .fetch_site = request.header("sec-fetch-site")});
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
  open.journal = TRY(journal::open_journal(*open.files, {}, replay, recovered));
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

[[noreturn]] void stop_at_once(const Error& error) {
  spdlog::critical("the journal cannot be written, nothing more is acknowledged: {}",
                   error.message);
  spdlog::shutdown();
  _exit(1);
}

// Connects engine time with the timer of the HTTP server.
class Ticker {
 public:
  explicit Ticker(engine::Engine& engine) : engine_(engine) {}
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
    server_->wake_after(delay, [this] {
      engine_.tick();
      schedule();
    });
  }

 private:
  engine::Engine& engine_;
  std::mutex mutex_;
  http::Server* server_ = nullptr;  // Guarded by mutex_.
};

void greet(std::uint16_t port, const Config& config, const ListenAddress& listen) {
  const bool v6 = listen.address.find(':') != std::string::npos;
  const std::string url = fmt::format("{}://{}:{}",
                                      config.tls() ? "https" : "http",
                                      v6 ? "[" + listen.address + "]" : listen.address,
                                      port);
  fmt::print("redrive: listening on {}\n", url);
  fmt::print("redrive: {}\n",
             config.memory ? "messages live in memory and are gone with the process"
                           : "messages live in " + config.data);
  if (port != 9324)
    fmt::print("redrive: for the commands below: export AWS_ENDPOINT_URL={}\n", url);
  fmt::print(
      "redrive: try it from another terminal:\n"
      "    redrive queue create orders --dlq orders-dlq --max-receives 3\n"
      "    redrive send orders '{{\"order\":1}}'\n"
      "    redrive receive orders\n");
  std::fflush(stdout);
}

}  // namespace

Result<void> serve(const Config& config) {
  CHECK(check_config(config));
  const ListenAddress listen = TRY(parse_listen(config.listen));
  const sigset_t signals = block_signals(config);
  raise_file_limit();
  if (!listen.loopback)
    spdlog::warn("serving {} without checking credentials (--insecure)", config.listen);

  SystemClock clock;
  RandomIds ids;
  store::Store store;
  OpenJournal opened = TRY(open_journal(config, store));
  journal::Journal& journal = *opened.journal;
  CHECK(store.attach(journal));

  std::unique_ptr<http::Server> server;
  std::unique_ptr<journal::SyncThread> sync;
  std::unique_ptr<Ticker> ticker;
  std::atomic<bool> stopping = false;
  engine::Engine engine({.store = store, .journal = journal, .clock = clock, .ids = ids},
                        {.wake_earlier = [&] { ticker->schedule(); },
                         .sync_wanted = [&] { sync->request(); },
                         .log = [](std::string line) { spdlog::error("{}", line); }});
  ticker = std::make_unique<Ticker>(engine);
  const auto reached = journal.sync_once();  // The first fact of a new journal.
  if (!reached) return std::unexpected(reached.error());

  api::Service service(
      engine,
      {.account = config.account, .region = config.region, .strict_timing = config.strict_timing},
      {.log = [](std::string line) { spdlog::error("{}", line); },
       .ready = [&] { return !stopping.load(); }});

  // The first connection may come before the parts below exist; it waits for them.
  std::latch complete(1);
  const std::optional<http::BrowserGuard> guard =
      http::BrowserGuard({.listen_address = listen.address, .allowed_hosts = config.allowed_hosts});
  const auto handle = [&](http::Exchange& exchange) {
    complete.wait();
    if (guard && turn_away(*guard, exchange)) return;
    service.handle(exchange);
  };
  const unsigned threads =
      config.threads > 0 ? config.threads : std::max(1u, std::thread::hardware_concurrency() / 2);
  server = TRY(http::Server::start({.address = listen.address,
                                    .port = listen.port,
                                    .threads = threads,
                                    .limits = config.limits,
                                    .tls = config.tls()},
                                   {.handle = handle, .round_ended = [&] { sync->request(); }}));
  server->release(config.memory ? UINT64_MAX : *reached);
  service.attach(*server);
  sync = std::make_unique<journal::SyncThread>(
      journal,
      journal::SyncThread::Hooks{
          .on_synced = [&](journal::Sequence synced) { server->release(synced); },
          .on_failure = stop_at_once});
  ticker->attach(*server);
  auto maintenance = std::make_unique<Maintenance>(engine, stop_at_once);
  complete.count_down();
  greet(server->port(), config, listen);

  const int signal_number = wait_for_signal(signals, *server);
  spdlog::info("{}: draining", strsignal(signal_number));
  stopping = true;
  engine.stop_waiting();
  server->drain(config.drain_time);
  maintenance.reset();
  ticker->detach();
  server.reset();
  sync.reset();  // Writes what is left.
  spdlog::info("stopped");
  return {};
}

}  // namespace redrive::server
