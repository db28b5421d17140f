#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "base/calendar.h"
#include "base/text.h"
#include "cli/apply/deployment.h"
#include "cli/client/mapping_lookup.h"
#include "cli/client/message_pages.h"
#include "cli/client/message_view.h"
#include "cli/client/queue_document.h"
#include "cli/client/queue_name.h"
#include "cli/commands/commands.h"
#include "cli/term/json_text.h"
#include "dead_letters/triage/fingerprint.h"
#include "functions/events/batch_result.h"
#include "functions/events/event_document.h"
#include "functions/events/item_causes.h"
#include "manage/documents/corrections.h"

// redrive dlq try: runs a handler once on a copy of a dead message and compares the result with the
// recorded failure. The queue is not touched: the message is neither received nor moved.

namespace redrive::cli {
namespace {

struct DlqTryOptions {
  std::vector<std::string> message;  // [QUEUE] MESSAGE_ID
  std::string function;
  std::string version;  // A published version, an alias, or the first digits of its code.
  bool bisect = false;
  DeployOptions code;
};

// Data of a dead message, kept after its page is freed.
struct DeadCopy {
  std::string queue;  // Its current queue.
  std::int64_t key = 0;
  std::string event;
  std::string message_id;
  std::string source;  // ARN of the queue it failed in.
  std::string error_type;
  std::string error_message;
  std::string stack_trace;
};

struct TriedError {
  std::string type;
  std::string message;
  std::string stack;
};

std::string epoch_milliseconds(std::string_view time) {
  const auto parsed = parse_utc(time);
  return parsed ? std::to_string(parsed->ms()) : "0";
}

std::string region_of(std::string_view arn) {
  const auto parts = split(arn, ':');
  return parts.size() > 3 ? std::string(parts[3]) : "";
}

// Texts of a record that the message does not contain as text.
struct RecordTexts {
  std::string message_id;
  std::string receive_count;
  std::string sent;
  std::string first_received;
  std::string md5_of_body;
  std::string receipt_handle;
};

// A receipt handle for the copy, so that handlers that delete their messages can be tried, too.
// There is none if the queue no longer exists; such a handler would fail anyway.
std::string handle_of_copy(Session& session, std::string_view source) {
  const auto spent = session.service.manage<documents::SpentHandle>(
      "GET", fmt::format("queues/{}/spent-handle", percent_encode(source, false)));
  return spent ? std::string((*spent)->receipt_handle) : "none";
}

RecordTexts texts_of(const documents::Message& message) {
  const Md5 digest = md5(message.body);
  return {.message_id = message.message_id.text(),
          .receive_count = std::to_string(message.receive_count),
          .sent = epoch_milliseconds(message.sent_at),
          .first_received = epoch_milliseconds(message.first_received_at.value_or(message.sent_at)),
          .md5_of_body = to_hex({reinterpret_cast<const char*>(digest.data()), digest.size()})};
}

events::Record record_of(const documents::Message& message, const RecordTexts& texts) {
  events::Record record{
      .message_id = texts.message_id, .receipt_handle = texts.receipt_handle, .body = message.body};
  record.attributes = {{"ApproximateReceiveCount", texts.receive_count},
                       {"SentTimestamp", texts.sent},
                       {"SenderId", message.sender_id.value_or("")},
                       {"ApproximateFirstReceiveTimestamp", texts.first_received}};
  if (message.group_id) record.attributes.emplace_back("MessageGroupId", *message.group_id);
  if (message.deduplication_id)
    record.attributes.emplace_back("MessageDeduplicationId", *message.deduplication_id);
  for (const auto& [name, value] : message.attributes) {
    const bool binary = value.binary_value.has_value();
    record.message_attributes.push_back(
        {.name = name,
         .type = value.data_type,
         .value = binary ? value.binary_value->bytes : value.string_value.value_or(""),
         .binary = binary});
  }
  record.md5_of_body = texts.md5_of_body;
  return record;
}

DeadCopy copy_of(Session& session, const documents::Message& message) {
  DeadCopy copy{
      .message_id = message.message_id.text(),
      .source = std::string(message.dead_letter_source.value_or(message.origin.value_or("")))};
  if (const documents::Attempt* telling = telling_attempt(message)) {
    copy.error_type = telling->error_type;
    copy.error_message = telling->error_message;
    copy.stack_trace = telling->stack_trace;
  }
  RecordTexts texts = texts_of(message);
  texts.receipt_handle = handle_of_copy(session, copy.source);
  const auto frame = events::event_frame({.arn = copy.source, .region = region_of(copy.source)});
  copy.event = frame.head;
  events::append_record(copy.event, record_of(message, texts), frame);
  events::end_event(copy.event, 1, frame);
  return copy;
}

Answer<std::optional<DeadCopy>> look_in(Session& session, const std::string& queue,
                                        const std::string& called) {
  std::optional<DeadCopy> copy;
  const auto id = whole_message_id(session, queue, called);
  if (!id && id.error().code == "NotFound") return copy;
  MessageQuestion question = message_called(queue, TRY(id));
  question.secrets = Secrets::shown;
  TRY(for_each_message(session, question, [&](const auto& message) {
    copy = copy_of(session, message);
    copy->queue = queue;
    copy->key = message.key;
    return false;
  }));
  return copy;
}

Answer<std::vector<std::string>> all_queue_names(Session& session) {
  std::vector<std::string> names;
  std::string token;
  do {
    sqs::ListQueuesInput input{.max_results = 1000};
    if (!token.empty()) input.next_token = token;
    const auto page = TRY(session.service.call<sqs::ListQueues>(input));
    for (const std::string_view url : page->queue_urls) names.emplace_back(queue_name_of(url));
    token = page->next_token.value_or("");
  } while (!token.empty());
  return names;
}

// Searches all queues if no queue is given.
Answer<DeadCopy> find_dead(Session& session, const std::vector<std::string>& called) {
  std::vector<std::string> queues(called.begin(), called.end() - 1);
  if (queues.empty()) queues = TRY(all_queue_names(session));
  for (const std::string& queue : queues) {
    auto found = look_in(session, queue, called.back());
    // While searching all queues, one may have been deleted.
    const bool gone = !found && called.size() == 1 && found.error().code == "NonExistentQueue";
    if (gone) continue;
    if (auto copy = TRY(std::move(found))) return *std::move(copy);
  }
  return std::unexpected(
      Failure{Failure::Kind::refused, "", fmt::format("no message {}", called.back())});
}

// The handlers of the queue that the message failed in.
struct UsualWork {
  std::vector<std::string> functions;
  bool reports_items = false;  // Responses may report failed messages.
};

Answer<UsualWork> usual_work(Session& session, const DeadCopy& copy, const std::string& function) {
  UsualWork work;
  RETURN_IF_ERROR(for_each_mapping(session, [&](const documents::MappingDocument& each) {
    const std::string name(function_name_of(each.function_arn));
    if (each.event_source_arn != copy.source || (!function.empty() && name != function)) return;
    work.functions.push_back(name);
    work.reports_items |= !each.function_response_types.empty();
  }));
  return work;
}

Answer<std::string> only_function(const UsualWork& work) {
  if (work.functions.size() == 1) return work.functions.front();
  return usage_failure("pass what to run: --function NAME or --dir DIR");
}

// Whether the handler's module is in this directory.
bool has_module(const std::string& directory, std::string_view handler) {
  const std::string module(handler.substr(0, handler.rfind('.')));
  return std::ranges::any_of(std::array{".py", ".js", ".mjs", ".cjs"}, [&](const char* ending) {
    std::error_code error;
    return std::filesystem::exists(std::filesystem::path(directory) / (module + ending), error);
  });
}

// Code that replaces a function's runs with that function's settings, except those given by the
// user.
Answer<DeployOptions> as_usual(Session& session, DeployOptions options,
                               const std::string& function) {
  const auto usual = TRY(session.service.lambda<documents::FunctionConfiguration>(
      "GET", function_path(function, "/configuration")));
  if (!options.timeout) options.timeout = usual->timeout;
  if (!options.memory) options.memory = usual->memory_size;
  const bool says_what = !options.handler.empty() || !options.runtime.empty();
  if (!says_what && options.command.empty() && has_module(options.source, usual->handler)) {
    options.handler = usual->handler;
    options.runtime = usual->runtime;
  }
  if (!usual->environment) return options;
  for (const auto& [name, value] : usual->environment->variables) {
    const std::string begin = fmt::format("{}=", name);
    const bool said = std::ranges::any_of(
        options.environment, [&](const std::string& pair) { return pair.starts_with(begin); });
    if (!said) options.environment.push_back(fmt::format("{}{}", begin, value));
  }
  return options;
}

// Deploys a temporary function, runs it once and deletes it.
Answer<RunResult> run_once(Session& session, DeployOptions options, const std::string& event) {
  options.name = "try-" + session.world.ids.uuid().text().substr(0, 13);
  RETURN_IF_ERROR(deploy(session, options));
  auto run = run_function(session, options.name, event);
  RETURN_IF_ERROR(session.service.ask_lambda("DELETE", function_path(options.name)));
  return run;
}

TriedError tried_error(wire::ReportedError error) {
  if (!error.stack.empty()) error.stack += '\n';
  return {.type = std::move(error.type),
          .message = std::move(error.message),
          .stack = std::move(error.stack)};
}

// The error in Lambda's error document, which may contain the error of the record.
TriedError error_in(const std::string& payload, std::string_view message_id) {
  auto attached = events::attached_causes(payload, std::span(&message_id, 1));
  if (!attached.empty()) return tried_error(std::move(attached.front().error));
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  if (parser.parse(payload).get(document) != simdjson::SUCCESS || !document.is_object())
    return {.message = payload};
  return tried_error(wire::read_error(document, wire::ErrorFields::document));
}

// The error of a message that the response reports as failed, from the response or from the log.
TriedError error_of_item(const RunResult& run, std::string_view message_id) {
  auto cause = events::item_causes(run.payload, run.log, std::span(&message_id, 1), {true}).front();
  if (cause.source != events::ItemCause::Source::none) {
    if (cause.error.type.empty()) cause.error.type = "BatchItemFailure";
    return tried_error(std::move(cause.error));
  }
  return {.type = "BatchItemFailure", .message = "the handler reported the message as failed"};
}

// The failure of this run, if any: an error, or the response, where it counts. If the queue has no
// handler, it suffices that the response names the message.
std::optional<TriedError> failure_in(const RunResult& run, const DeadCopy& copy,
                                     const UsualWork& work) {
  const std::string_view id = copy.message_id;
  if (run.failed) return error_in(run.payload, id);
  const auto judged = events::judge_batch(run.payload, std::span(&id, 1));
  if (judged.all_succeeded()) return std::nullopt;
  if (judged.fault.empty() && (work.reports_items || work.functions.empty())) {
    return error_of_item(run, id);
  }
  if (!work.reports_items) return std::nullopt;
  return TriedError{.type = "InvalidBatchResponse", .message = judged.fault};
}

bool belong_together(const DeadCopy& copy, const TriedError& error) {
  const auto id_of = [&](std::string_view type, std::string_view message, std::string_view stack) {
    return triage::fingerprint({.failure = triage::FailureReport{type, message, stack, {}},
                                .source_queue = copy.source,
                                .attempts = {},
                                .body = {}})
        .id;
  };
  return id_of(copy.error_type, copy.error_message, copy.stack_trace) ==
         id_of(error.type, error.message, error.stack);
}

std::string_view verdict_of(const DeadCopy& copy, const std::optional<TriedError>& error) {
  if (!error) return "succeeds now";
  if (copy.error_type.empty() && copy.error_message.empty()) return "fails; no error was recorded";
  return belong_together(copy, *error) ? "fails as recorded" : "fails otherwise than recorded";
}

struct TryDocument {
  std::string_view message_id;
  std::string_view verdict;
  bool succeeded = false;
  std::string_view error_type;
  std::string_view error_message;
  std::string_view recorded_type;
  std::string_view recorded_message;
  std::string_view result;
  std::string_view log;
};
consteval auto shape_of(TryDocument*) {
  using Out = TryDocument;
  return wire::shape(wire::required("messageId", &Out::message_id),
                     wire::required("verdict", &Out::verdict),
                     wire::required("succeeded", &Out::succeeded),
                     wire::optional("errorType", &Out::error_type),
                     wire::optional("errorMessage", &Out::error_message).content(),
                     wire::optional("recordedErrorType", &Out::recorded_type),
                     wire::optional("recordedErrorMessage", &Out::recorded_message).content(),
                     wire::optional("result", &Out::result).content(),
                     wire::optional("log", &Out::log).content());
}

void print_error_line(Terminal& terminal, std::string_view when, std::string_view type,
                      std::string_view message) {
  terminal.out << fmt::format(
      "{:<9} {}: {}\n", when, harmless(type.empty() ? "no error type" : type), harmless(message));
}

void print_try(Terminal& terminal, const DeadCopy& copy, const RunResult& run,
               const std::optional<TriedError>& error) {
  terminal.out << paint(terminal, error ? Color::red : Color::green, verdict_of(copy, error))
               << "\n";
  if (!copy.error_type.empty() || !copy.error_message.empty()) {
    print_error_line(terminal, "recorded", copy.error_type, copy.error_message);
  }
  if (error) {
    print_error_line(terminal, "now", error->type, error->message);
    terminal.out << harmless_lines(error->stack);
  } else {
    terminal.out << fmt::format(
        "{:<9} {}\n", "result", harmless_lines(pretty_json(run.payload).value_or(run.payload)));
  }
  if (!run.log.empty())
    terminal.out << paint(terminal, Color::bold, "Log") << "\n" << harmless_lines(run.log);
}

bool has_code(const DlqTryOptions& options) {
  return !options.code.source.empty() || !options.code.command.empty();
}

// A run, and the code that ran.
struct TriedRun {
  RunResult run;
  std::string code;
};

Answer<TriedRun> run_of_function(Session& session, const std::string& name,
                                 const std::string& version, const std::string& event) {
  const std::string qualifier = TRY(qualifier_of(session, name, version));
  const auto ran = TRY(describe_function(session, name, qualifier));
  std::string code = name;
  if (!qualifier.empty()) code += ":" + qualifier;
  if (!ran->kept_code.empty()) code += fmt::format(" @{}", ran->kept_code.back().version);
  return TriedRun{TRY(run_function(session, name, event, qualifier)), std::move(code)};
}

Answer<TriedRun> run_tried(const DlqTryOptions& options, Session& session, const DeadCopy& copy,
                           const UsualWork& work) {
  if (!has_code(options)) {
    const std::string name = options.function.empty() ? TRY(only_function(work)) : options.function;
    return run_of_function(session, name, options.version, copy.event);
  }
  std::string usual = options.function;
  if (usual.empty() && work.functions.size() == 1) usual = work.functions.front();
  const DeployOptions code =
      usual.empty() ? options.code : TRY(as_usual(session, options.code, usual));
  const std::string& source = options.code.source;
  return TriedRun{TRY(run_once(session, code, copy.event)),
                  source.empty() ? "a command" : "code of " + source};
}

// Warn before running: side effects outside the queue are real.
void warn_of_effects(Session& session) {
  session.terminal().err << "warning: this runs the handler. The queue does not change, but all "
                            "side effects of the handler (writes, mail, payments) are real.\n";
}

// Records the try in the message's history. If that fails, the result is still shown.
void note_try(Session& session, const DeadCopy& copy, std::string_view code,
              std::string_view outcome) {
  constexpr std::size_t kWordsMax = 256;
  const documents::TriedRequest request{.code = code.substr(0, kWordsMax), .outcome = outcome};
  auto body = request_body(request);
  if (!body) return;
  const auto noted = session.service.manage<documents::Touched>(
      "POST",
      fmt::format("queues/{}/messages/{}/tried", percent_encode(copy.queue, false), copy.key),
      *std::move(body));
  if (noted) return;
  session.terminal().err << fmt::format(
      "note: the try was not recorded in the message's history: {}\n",
      harmless(noted.error().message));
}

struct BisectStep {
  std::string version;
  std::string deployed_at;
  std::string verdict;
  bool succeeded = false;
};

// Runs the message with one of a function's earlier codes.
Answer<BisectStep> bisect_step(Session& session, const std::string& function, const DeadCopy& copy,
                               const UsualWork& work, const documents::KeptCode& code) {
  BisectStep step{.version = std::string(code.version),
                  .deployed_at = std::string(code.deployed_at)};
  const RunResult run = TRY(run_function(session, function, copy.event, "@" + step.version));
  const auto error = failure_in(run, copy, work);
  step.succeeded = !error;
  step.verdict = verdict_of(copy, error);
  note_try(session, copy, fmt::format("{} @{}", function, step.version), step.verdict);
  if (!session.json) {
    session.terminal().out << fmt::format(
        "{}  deployed {}  {}\n",
        harmless(step.version),
        harmless(step.deployed_at),
        paint(session.terminal(), error ? Color::red : Color::green, step.verdict));
  }
  return step;
}

struct BisectRun {
  std::string_view version;
  std::string_view deployed_at;
  std::string_view verdict;
  bool succeeded = false;
};
consteval auto shape_of(BisectRun*) {
  using Out = BisectRun;
  return wire::shape(wire::required("version", &Out::version),
                     wire::required("deployedAt", &Out::deployed_at),
                     wire::required("verdict", &Out::verdict),
                     wire::required("succeeded", &Out::succeeded));
}
struct BisectDocument {
  std::string_view message_id;
  std::string_view conclusion;
  std::string_view first_bad;
  std::string_view last_good;
  std::vector<BisectRun> runs;
};
consteval auto shape_of(BisectDocument*) {
  using Out = BisectDocument;
  return wire::shape(wire::required("messageId", &Out::message_id),
                     wire::required("conclusion", &Out::conclusion),
                     wire::optional("firstBad", &Out::first_bad),
                     wire::optional("lastGood", &Out::last_good),
                     wire::optional("runs", &Out::runs).each("run").always());
}

// The result of a bisection. Steps are keyed by their index among the codes; not all have run.
std::string conclusion_of(const std::map<std::size_t, BisectStep>& steps, std::size_t count) {
  const BisectStep& newest = steps.at(count - 1);
  if (newest.succeeded) return "succeeds with the newest code: there is no bad version";
  if (!steps.begin()->second.succeeded) {
    return fmt::format(
        "fails with all kept versions: {} is the oldest, the first bad version may be older",
        steps.begin()->second.version);
  }
  const auto bad =
      std::ranges::find_if(steps, [](const auto& step) { return !step.second.succeeded; });
  return fmt::format("first bad version {}, deployed {}; {} before it succeeds",
                     bad->second.version,
                     bad->second.deployed_at,
                     std::prev(bad)->second.version);
}

// The newest and the oldest code first, then the middle between good and bad.
Answer<void> run_bisect(const DlqTryOptions& options, Session& session, const DeadCopy& copy,
                        const UsualWork& work) {
  const std::string name = options.function.empty() ? TRY(only_function(work)) : options.function;
  const auto function = TRY(describe_function(session, name, ""));
  const auto& codes = function->kept_code;
  if (codes.size() < 2) {
    return std::unexpected(Failure{
        Failure::Kind::refused,
        "",
        fmt::format("{} has {} kept version of its code: nothing to bisect", name, codes.size())});
  }
  std::map<std::size_t, BisectStep> steps;
  const auto run = [&](std::size_t at) -> Answer<bool> {
    steps[at] = TRY(bisect_step(session, name, copy, work, codes[at]));
    return steps[at].succeeded;
  };
  std::size_t good = 0;
  std::size_t bad = codes.size() - 1;
  const bool worth_it = !TRY(run(bad)) && TRY(run(good));
  while (worth_it && bad - good > 1) {
    const std::size_t middle = good + (bad - good) / 2;
    (TRY(run(middle)) ? good : bad) = middle;
  }
  const std::string conclusion = conclusion_of(steps, codes.size());
  if (session.json) {
    BisectDocument out{.message_id = copy.message_id, .conclusion = conclusion};
    if (worth_it) out.first_bad = steps.at(bad).version;
    if (worth_it) out.last_good = steps.at(good).version;
    for (const auto& [at, step] : steps)
      out.runs.push_back({step.version, step.deployed_at, step.verdict, step.succeeded});
    session.terminal().out << json_line(out);
  } else {
    session.terminal().out << harmless(conclusion) << "\n";
  }
  if (worth_it) return {};
  return std::unexpected(Failure{Failure::Kind::reported, "", ""});
}

Answer<void> check_try_options(const DlqTryOptions& options) {
  if (options.message.size() > 2) return usage_failure("pass a message, or a queue and a message");
  const bool old_code = options.bisect || !options.version.empty();
  if (old_code && has_code(options)) {
    return usage_failure("--version and --bisect are for functions, not for --dir or --command");
  }
  if (options.bisect && !options.version.empty()) {
    return usage_failure("--bisect and --version exclude each other");
  }
  return {};
}

Answer<void> run_dlq_try(const DlqTryOptions& options, Session& session) {
  RETURN_IF_ERROR(check_try_options(options));
  const DeadCopy copy = TRY(find_dead(session, options.message));
  const UsualWork work = TRY(usual_work(session, copy, options.function));
  warn_of_effects(session);
  if (options.bisect) return run_bisect(options, session, copy, work);
  const auto [run, code] = TRY(run_tried(options, session, copy, work));
  const auto error = failure_in(run, copy, work);
  note_try(session, copy, code, verdict_of(copy, error));
  if (session.json) {
    session.terminal().out << json_line(
        TryDocument{.message_id = copy.message_id,
                    .verdict = verdict_of(copy, error),
                    .succeeded = !error,
                    .error_type = error ? std::string_view(error->type) : "",
                    .error_message = error ? std::string_view(error->message) : "",
                    .recorded_type = copy.error_type,
                    .recorded_message = copy.error_message,
                    .result = run.payload,
                    .log = run.log});
  } else {
    print_try(session.terminal(), copy, run, error);
  }
  if (!error) return {};
  return std::unexpected(Failure{Failure::Kind::reported, "", ""});
}

}  // namespace

void add_dlq_try(Verb parent, Commands& commands) {
  auto options = std::make_shared<DlqTryOptions>();
  Verb verb = parent.verb("try", "Run a handler on a copy of a message");
  verb.option("MESSAGE",
              options->message,
              "MessageId or unique prefix; put its queue before it for a faster search")
      .required()
      .many();
  verb.option(
      "--function", options->function, "Function to run (default: the one its queue feeds)");
  verb.option("--version",
              options->version,
              "Code to run: a published version, an alias, or the first digits of a SHA-256");
  verb.flag("--bisect", options->bisect, "Find the first bad one of the kept versions");
  verb.option("--dir", options->code.source, "Run local code instead, for this run only");
  add_deploy_options(verb, options->code);
  commands.attach(verb, [options](Session& session) { return run_dlq_try(*options, session); });
}

}  // namespace redrive::cli
