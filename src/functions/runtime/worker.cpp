#include "functions/runtime/worker.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <cassert>

#include "base/text.h"
#include "functions/runtime/peer.h"

namespace redrive::runtime {
namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::string_view kBase = "/2018-06-01/runtime/";
constexpr std::string_view kAccepted = "{\"status\":\"OK\"}\n";
constexpr milliseconds kTermTime{500};        // From SIGTERM to SIGKILL.
constexpr milliseconds kKillTime{2'000};      // For a killed process to exit.
constexpr milliseconds kMemoryInterval{100};  // Between checks of the whole process tree.
constexpr milliseconds kMemoryIntervalIdle{1'000};
constexpr milliseconds kSampleInterval{10};  // Between cheap checks of the program alone.
constexpr milliseconds kAskTime{10};  // Most runtimes ask for the next event sooner than this.
// Events are sent ahead up to what runs within this time, to processes whose runs are shorter than
// that.
constexpr std::size_t kAheadMax = 16;
constexpr microseconds kAheadTime{1'000};
constexpr int kEventPipeBytes = 256 << 10;
constexpr std::string_view kFullHeapWords = "JavaScript heap out of memory";
constexpr std::size_t kEarlyBytesMax = 256u << 10;

// Client-supplied JSON may contain line breaks, which are only whitespace.
std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\r' || c == '\n'; }, ' ');
  return text;
}

std::string utc_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto ms = duration_cast<milliseconds>(now).count();
  const std::time_t seconds = ms / 1000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
                     parts.tm_year + 1900,
                     parts.tm_mon + 1,
                     parts.tm_mday,
                     parts.tm_hour,
                     parts.tm_min,
                     parts.tm_sec,
                     ms % 1000);
}

}  // namespace

// An error response of the Runtime API.
struct Worker::Refusal {
  int status;
  std::string_view type;
  std::string message;

  static Refusal no_such_call() { return {404, "NotFound", "The call does not exist"}; }
  static Refusal not_now() {
    return {403, "InvalidStateTransition", "The call is not allowed in this state"};
  }
  static Refusal unknown_id() { return {400, "InvalidRequestID", "Invalid request ID"}; }
  static Refusal unreadable(int status) {
    return {status, "TruncatedHTTPRequest", "The request cannot be read"};
  }
  static Refusal too_large() {
    return {413,
            "RequestEntityTooLarge",
            fmt::format("Exceeded maximum allowed payload size ({} bytes).", kPayloadBytesMax)};
  }
  void answer(ApiConnection& connection) const {
    connection.answer(
        status,
        {},
        fmt::format("{{\"errorMessage\":\"{}\",\"errorType\":\"{}\"}}\n", message, type));
  }
};

Worker::Worker(const ProcessServices& services, Manager& manager,
               std::shared_ptr<const FunctionSpec> function, std::shared_ptr<FunctionRecord> record)
    : services_(services),
      manager_(manager),
      function_(std::move(function)),
      record_(std::move(record)) {}

Result<void> Worker::start() {
  const std::uint16_t port = TRY(listen());
  const PipeEnds theirs = link();
  process_ = TRY(Process::start(
      services_,
      *function_,
      {.port = port, .link_input = theirs.reading.number(), .link_output = theirs.writing.number()},
      std::nullopt,
      {.log = [this](std::string_view text) { take_output(text); },
       .output = {},
       .ended = [this](int status) { on_exit(status); }}));
  started_ = steady_clock::now();
  due_ = started_ + services_.host.options().init_time_max + function_->timeout;
  return {};
}

Result<std::uint16_t> Worker::listen() {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  const bool bound =
      socket.is_open() && ::bind(socket.number(), generic, sizeof address) == 0 &&
      ::listen(socket.number(), 16) == 0 && ::getsockname(socket.number(), generic, &bytes) == 0 &&
      listener_.open(services_.poller, std::move(socket), [this](auto) { accept_connections(); });
  if (!bound)
    return fail(ErrorCode::service_unavailable, "Cannot open a port for the Runtime API.");
  return ntohs(address.sin_port);
}

// If this fails, the port is still available.
PipeEnds Worker::link() {
  if (!knows_link(*function_)) return {};
  PipeEnds there = make_pipe();
  PipeEnds back = make_pipe();
  if (!there.reading.is_open() || !back.reading.is_open()) return {};
  make_nonblocking(there.writing);
  // Space for events sent ahead. If refused, less fits in the pipe and more has to wait.
  ::fcntl(there.writing.number(), F_SETPIPE_SZ, kEventPipeBytes);
  make_nonblocking(back.reading);
  if (!adopt(std::move(back.reading), std::move(there.writing))) return {};
  return {.reading = std::move(there.reading), .writing = std::move(back.writing)};
}

// --- The Runtime API ---

void Worker::accept_connections() {
  while (true) {
    Descriptor socket(
        ::accept4(listener_.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket.is_open()) return;
    admit(std::move(socket));
  }
}

// Otherwise other functions on this machine could fetch events by guessing the port.
void Worker::admit(Descriptor socket) {
  const auto user = process_->user();
  if (!user || is_peer_of_user(socket.number(), *user)) adopt(std::move(socket), Descriptor());
}

bool Worker::adopt(Descriptor input, Descriptor output) {
  auto connection =
      std::make_shared<ApiConnection>(services_.poller, static_cast<ApiConnection::Owner&>(*this));
  connections_.push_back(connection);
  if (connection->open(std::move(input), std::move(output))) return true;
  connection->close();
  return false;
}

void Worker::on_closed(ApiConnection& connection) {
  if (waiting_on_ == &connection) {
    waiting_on_ = nullptr;
    // The connection for the event is gone; the runtime has to ask again.
    if (state_ == State::waiting) state_ = State::answered;
  }
  if (sent_on_ == &connection) {
    sent_on_ = nullptr;
    give_back_ahead();
  }
  const auto found =
      std::ranges::find(connections_, &connection, &std::shared_ptr<ApiConnection>::get);
  assert(found != connections_.end());
  services_.poller.post([kept = std::move(*found)] {});
  connections_.erase(found);
}

void Worker::on_request(ApiConnection& connection, const http::Request& request) {
  std::string_view path = request.path;
  if (path == "/ping") return connection.answer(200, {}, "pong");
  if (path.starts_with(kBase)) {
    path.remove_prefix(kBase.size());
    constexpr std::string_view kInvocation = "invocation/";
    if (path == "invocation/next" && request.method == "GET") {
      reads_ = request.header("Redrive-Reads");
      return on_next(connection, request.header("Redrive-Ahead") == "yes");
    }
    if (path == "init/error" && request.method == "POST") return on_init_error(connection, request);
    if (path.starts_with(kInvocation) && request.method == "POST") {
      return on_result(connection, request, path.substr(kInvocation.size()));
    }
  }
  Refusal::no_such_call().answer(connection);
}

void Worker::on_next(ApiConnection& connection, bool asks_ahead) {
  if (state_ == State::ending) return;  // It will not be answered.
  if (state_ == State::answered && !ahead_.empty()) return go_on(connection);
  if (is_over_) return connection.pass_over();
  if (!connection.is_heard()) return kill_for(KillReason::none);
  const bool again = state_ == State::running && sent_on_ == nullptr;
  const bool allowed = state_ == State::starting || state_ == State::answered || again;
  if (!allowed) return Refusal::not_now().answer(connection);
  waiting_on_ = &connection;
  if (again) return send_event(job_->what);  // It lost the connection, and possibly the event.
  const auto now = steady_clock::now();
  if (!initialised_) init_duration_ = duration_cast<microseconds>(now - started_);
  initialised_ = true;
  knows_ahead_ = asks_ahead;
  state_ = State::waiting;
  waiting_since_ = now;
  due_ = SteadyTime::max();
  manager_.on_ready(*this);
}

void Worker::give(Job job) {
  assert(state_ == State::waiting && waiting_on_ != nullptr);
  begin(std::move(job));
  send_event(job_->what);
}

void Worker::begin(Job job) {
  state_ = State::running;
  started_ = steady_clock::now();
  due_ = started_ + job.function->timeout;
  deadline_wall_ = std::chrono::system_clock::now() + job.function->timeout;
  begin_log(job.what.request_id);
  job_ = std::move(job);
}

bool Worker::takes_ahead() const {
  return knows_ahead_ && state_ == State::running && sent_on_ != nullptr && !retired_ &&
         ahead_.size() < kAheadMax && usual_time_ < kAheadTime;
}

void Worker::give_ahead(Job job) {
  assert(takes_ahead());
  send_ahead(job.what);
  ahead_.push_back(std::move(job));
}

// It asked for an event that it already has and has started.
void Worker::go_on(ApiConnection& connection) {
  connection.pass_over();
  Job job = std::move(ahead_.front());
  ahead_.pop_front();
  begin(std::move(job));
  mark_due_ = early_.empty();
  if (!early_.empty()) {
    take_log(early_.front());
    early_.pop_front();
  }
  manager_.on_went_on(*this);
}

void Worker::give_back_ahead() {
  if (!ahead_.empty()) manager_.on_returned(*this, std::exchange(ahead_, {}));
}

// What is sent with an event, except its id and its deadline.
struct Worker::Enclosed {
  Payload payload;
  std::string context;
  std::string trace;

  void add_to(std::vector<http::Header>& headers) const {
    if (!trace.empty()) headers.push_back({"Lambda-Runtime-Trace-Id", trace});
    if (!context.empty()) headers.push_back({"Lambda-Runtime-Client-Context", context});
  }
};

Worker::Enclosed Worker::enclosed_with(const Invocation& what) const {
  const bool is_read = what.payload.format() == reads_;
  return {.payload = is_read ? what.payload : what.payload.as_json(),
          .context = one_line(what.client_context),
          .trace = one_line(what.trace)};
}

void Worker::send_event(const Invocation& what) {
  const auto deadline = duration_cast<milliseconds>(deadline_wall_.time_since_epoch()).count();
  const std::string deadline_text = fmt::to_string(deadline);
  const Enclosed enclosed = enclosed_with(what);
  std::vector<http::Header> headers = {
      {"Lambda-Runtime-Aws-Request-Id", what.request_id},
      {"Lambda-Runtime-Deadline-Ms", deadline_text},
      {"Lambda-Runtime-Invoked-Function-Arn",
       what.invoked_arn.empty() ? function_->arn : what.invoked_arn}};
  enclosed.add_to(headers);
  if (!reads_.empty()) headers.push_back({"Redrive-Format", enclosed.payload.format()});
  sent_on_ = std::exchange(waiting_on_, nullptr);
  sent_on_->answer(200, headers, enclosed.payload.text());
}

// Only headers that it cannot know: it was started with its own ARN, and it decides when its time
// begins.
void Worker::send_ahead(const Invocation& what) {
  const Enclosed enclosed = enclosed_with(what);
  std::vector<http::Header> headers;
  if (!what.invoked_arn.empty() && what.invoked_arn != function_->arn)
    headers.push_back({"Lambda-Runtime-Invoked-Function-Arn", what.invoked_arn});
  enclosed.add_to(headers);
  sent_on_->answer_ahead(
      fmt::format(
          "{} {} {}", what.request_id, function_->timeout.count(), enclosed.payload.format()),
      headers,
      enclosed.payload.text());
}

void Worker::on_init_error(ApiConnection& connection, const http::Request& request) {
  if (state_ != State::starting) return Refusal::not_now().answer(connection);
  init_error_ = failed_with_document(std::string(request.body),
                                     request.header("Lambda-Runtime-Function-Error-Type"));
  connection.answer(202, {}, kAccepted);
  state_ = State::ending;
  due_ = steady_clock::now() + kTermTime;  // It is expected to exit by itself.
}

// `tail` is {id}/response or {id}/error. Our own bootstraps ask for the next event with the same
// request and expect no other response, not even an error, which would come before the event.
void Worker::on_result(ApiConnection& connection, const http::Request& request,
                       std::string_view tail) {
  const bool asks_next = !request.header("Redrive-Next").empty();
  const auto refusal = take_result(request, tail);
  if (asks_next) return on_next(connection, true);
  refusal ? refusal->answer(connection) : connection.answer(202, {}, kAccepted);
}

std::optional<Worker::Refusal> Worker::take_result(const http::Request& request,
                                                   std::string_view tail) {
  const std::size_t slash = tail.find('/');
  const std::string_view id = tail.substr(0, slash);
  const std::string_view call = slash == tail.npos ? "" : tail.substr(slash + 1);
  if (call != "response" && call != "error") return Refusal::no_such_call();
  if (!initialised_) return Refusal::not_now();
  if (state_ != State::running || id != request_id()) return Refusal::unknown_id();
  const auto told = parse_int<std::uint32_t>(request.header("Redrive-Next"));
  finish(outcome_of(request, call == "error"),
         told ? std::optional(microseconds(*told)) : std::nullopt);
  if (request.body.size() > kPayloadBytesMax) return Refusal::too_large();
  return {};
}

Outcome Worker::outcome_of(const http::Request& request, bool is_error) const {
  if (request.body.size() > kPayloadBytesMax) return failed_with(response_too_large_error());
  if (!is_error) return {.payload = std::string(request.body)};
  return failed_with_document(std::string(request.body),
                              request.header("Lambda-Runtime-Function-Error-Type"));
}

void Worker::on_refused(ApiConnection& connection, int status) {
  Refusal::unreadable(status).answer(connection);
  if (status == 413 && state_ == State::running) finish(failed_with(response_too_large_error()));
}

// --- Outcomes ---

void Worker::finish(Outcome outcome, std::optional<microseconds> duration) {
  const auto now = steady_clock::now();
  outcome.duration = duration.value_or(duration_cast<microseconds>(now - started_));
  const bool first = usual_time_ == microseconds::max();
  usual_time_ = first ? outcome.duration : (usual_time_ * 7 + outcome.duration) / 8;
  if (process_->is_running()) {
    // Reads what it wrote before it answered.
    if (!std::exchange(is_log_read_, true)) process_->drain();
    if (now - measured_ > kSampleInterval) {
      process_->memory().sample();
      measured_ = now;
    }
  }
  end_log(request_id(), outcome);
  if (state_ == State::running) {
    state_ = State::answered;
    answered_at_ = now;
    due_ = now + function_->timeout;  // To ask for the next event.
  }
  Job job = std::move(*job_);
  job_.reset();
  if (retired_ && state_ == State::answered && ahead_.empty()) end_within(kTermTime);
  manager_.on_finished(*this, std::move(job), std::move(outcome));
}

Outcome Worker::outcome_of_exit(std::string_view request_id) const {
  if (kill_reason_ == KillReason::timeout) {
    return failed_with(timeout_error(request_id, function_->timeout));
  }
  // The kernel's OOM killer may have killed it, too.
  const std::size_t memory = process_->memory().bytes_max();
  const int signal = WIFSIGNALED(wait_status_) ? WTERMSIG(wait_status_) : 0;
  const bool killed = signal == SIGKILL && memory >= function_->memory_mb * kMiB / 10 * 9;
  if (kill_reason_ == KillReason::memory || killed)
    return failed_with(out_of_memory_error(request_id));
  // V8 aborts when its heap is full, before a memory check notices, and says so in the log.
  const bool is_node = function_->runtime.starts_with("nodejs");
  if (is_node && signal != 0 && log_.has(kFullHeapWords)) {
    return failed_with(out_of_memory_error(request_id, signal));
  }
  return failed_with(exit_error(request_id, wait_status_));
}

void Worker::on_exit(int wait_status) {
  wait_status_ = wait_status;
  // Read its last output first: it determines which event it ended with.
  is_over_ = true;
  if (state_ != State::ending && sent_on_ != nullptr) sent_on_->serve_rest();
  marks_.finish([this](std::string_view text) { take_log(text); });
  state_ = State::gone;
  due_ = SteadyTime::max();
  listener_.close();
  while (!connections_.empty()) connections_.back()->close();
  if (job_) {
    Outcome outcome = outcome_of_exit(request_id());
    outcome.fatal = true;
    if (kill_reason_ == KillReason::timeout) {
      const double seconds = static_cast<double>(function_->timeout.count()) / 1000;
      log_line(fmt::format(
          "{} {} Task timed out after {:.2f} seconds", utc_now(), request_id(), seconds));
    }
    finish(std::move(outcome));
  }
  if (!initialised_) manager_.on_init_failed(*this);
  manager_.on_gone(*this);
}

Outcome Worker::init_outcome(const Job& job) {
  const std::string& id = job.what.request_id;
  Outcome outcome = init_error_ ? *init_error_ : outcome_of_exit(id);
  outcome.fatal = true;
  outcome.duration = duration_cast<microseconds>(steady_clock::now() - started_);
  log_line(fmt::format("INIT_REPORT Init Duration: {} ms\tPhase: init\tStatus: {}\tError Type: {}",
                       ms_text(outcome.duration),
                       kill_reason_ == KillReason::timeout ? "timeout" : "error",
                       outcome.error_type));
  begin_log(id);
  end_log(id, outcome);
  return outcome;
}

bool Worker::is_coming(SteadyTime now) const {
  if (state_ == State::starting) return true;
  return state_ == State::answered && ahead_.empty() && now - answered_at_ < kAskTime;
}

// --- Shutdown ---

void Worker::retire() {
  retired_ = true;
  if (state_ == State::waiting || state_ == State::answered) end_within(kTermTime);
}

void Worker::end_within(milliseconds time) {
  state_ = State::ending;
  due_ = steady_clock::now() + time;
  process_->terminate();
}

std::deque<Job> Worker::abandon() {
  state_ = State::ending;
  if (process_) process_->kill();
  std::deque<Job> jobs = std::exchange(ahead_, {});
  if (job_) jobs.push_front(*std::exchange(job_, std::nullopt));
  return jobs;
}

void Worker::kill_for(KillReason reason) {
  kill_reason_ = reason;
  state_ = State::ending;
  due_ = steady_clock::now() + kKillTime;
  process_->kill();
}

void Worker::check(SteadyTime now) {
  if (state_ == State::gone) return;
  if (now >= due_) {
    if (state_ == State::ending) {
      process_->kill();
      due_ = now + kKillTime;
      return;
    }
    return kill_for(state_ == State::answered ? KillReason::none : KillReason::timeout);
  }
  const auto interval = state_ == State::waiting ? kMemoryIntervalIdle : kMemoryInterval;
  if (state_ == State::ending || now - measured_ < interval) return;
  measured_ = now;
  if (process_->memory().sample_tree() > function_->memory_mb * kMiB) kill_for(KillReason::memory);
}

// --- Logs ---

void Worker::take_output(std::string_view text) {
  const auto tell = [this](std::string_view piece) {
    if (early_.empty()) return take_log(piece);
    early_.back() +=
        piece.substr(0, kEarlyBytesMax - std::min(kEarlyBytesMax, early_.back().size()));
  };
  marks_.feed(text, tell, [this] {
    if (!std::exchange(mark_due_, false)) early_.emplace_back();
  });
}

void Worker::take_log(std::string_view text) {
  log_.append(text);
  lines_.feed(text, [this](std::string_view line) { record_line(request_id(), line); });
}

void Worker::record_line(std::string_view request_id, std::string_view line) {
  const std::string_view directory = task_directory();
  if (!mentions_task(line, directory)) return record_->add_line(request_id, line);
  record_->add_line(request_id, as_on_lambda(std::string(line), directory));
}

void Worker::log_line(std::string_view text) {
  log_.append_line(text);
  lines_.finish([this](std::string_view line) { record_line(request_id(), line); });
  record_->add_line(request_id(), text);
}

void Worker::begin_log(std::string_view request_id) {
  const std::string line = start_line(request_id, function_->version);
  log_.append_line(line);
  record_->add_line(request_id, line);
}

void Worker::end_log(std::string_view request_id, Outcome& outcome) {
  lines_.finish([&](std::string_view line) { record_line(request_id, line); });
  std::string report = report_line(
      request_id, outcome.duration, function_->memory_mb, process_->memory().bytes_max());
  if (init_duration_) report += fmt::format("Init Duration: {} ms\t", ms_text(*init_duration_));
  init_duration_.reset();
  add_end(log_, *record_, request_id, report);
  outcome.log = as_on_lambda(log_.take(), task_directory());
}

}  // namespace redrive::runtime
