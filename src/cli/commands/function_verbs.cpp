#include <fmt/format.h>

#include <iterator>

#include "base/text.h"
#include "cli/apply/deployment.h"
#include "cli/client/permission.h"
#include "cli/client/queue_document.h"
#include "cli/client/text_argument.h"
#include "cli/commands/commands.h"
#include "cli/term/json_text.h"
#include "cli/term/table.h"

// redrive function ls, show, invoke, logs, rm.

namespace redrive::cli {
namespace {

constexpr Duration kBetweenLogs{1'000};

struct FunctionInvokeOptions {
  std::string name;
  std::string payload;
  bool event = false;
};

struct FunctionLogsOptions {
  std::string name;
  bool follow = false;
  bool unmasked = false;
};

struct FunctionRemoveOptions {
  std::vector<std::string> names;
  bool yes = false;
};

Answer<void> run_function_list(Session& session) {
  Table table({{"NAME"}, {"RUNTIME"}, {"HANDLER"}, {"TIMEOUT", Table::Align::right}, {"CHANGED"}});
  std::string marker;
  do {
    const auto page = TRY(session.service.lambda<documents::FunctionList>(
        "GET", fmt::format("2015-03-31/functions?Marker={}", percent_encode(marker, false))));
    for (const documents::FunctionConfiguration& each : page->functions) {
      if (session.json) session.terminal().out << json_line(each);
      table.add({harmless(each.function_name),
                 harmless(each.runtime),
                 harmless(each.handler),
                 fmt::format("{} s", each.timeout),
                 harmless(each.last_modified)});
    }
    marker = page->next_marker.value_or("");
  } while (!marker.empty());
  if (session.json) return {};
  if (table.empty()) {
    session.terminal().err << "no functions\n";
  } else {
    session.terminal().out << table.text(session.terminal());
  }
  return {};
}

std::vector<std::pair<std::string, std::string>> lines_of(
    const documents::FunctionDocument& document) {
  const documents::FunctionConfiguration& function = document.configuration;
  std::vector<std::pair<std::string, std::string>> lines;
  const auto add = [&](const char* name, std::string_view value) {
    if (!value.empty()) lines.emplace_back(name, harmless(value));
  };
  add("arn", function.function_arn);
  add("description", function.description);
  add("runtime", function.runtime);
  add("handler", function.handler);
  add("command", fmt::format("{}", fmt::join(function.command, " ")));
  add("url", function.url);
  add("directory", function.directory);
  add("timeout", fmt::format("{} s", function.timeout));
  add("memory", fmt::format("{} MiB", function.memory_size));
  if (function.code_size > 0) add("code", fmt::format("{} bytes", function.code_size));
  if (document.concurrency && document.concurrency->reserved) {
    add("concurrency", fmt::format("at most {}", *document.concurrency->reserved));
  }
  if (function.dead_letter_config) {
    add("dead letters", function.dead_letter_config->target_arn.value_or(""));
  }
  add("changed", function.last_modified);
  for (const documents::KeptCode& code : function.kept_code) {
    add("kept code", fmt::format("@{} deployed {}", code.version, code.deployed_at));
  }
  add("warning", function.state_reason.value_or(""));
  // Values may be secrets and are not shown.
  for (const auto& [name, value] :
       function.environment.value_or(documents::Environment{}).variables) {
    add("environment", name);
  }
  return lines;
}

Answer<void> run_function_show(const std::string& name, Session& session) {
  const auto response = TRY(session.service.ask_lambda("GET", function_path(name)));
  if (session.json) {
    session.terminal().out << harmless_json(response.body) << "\n";
    return {};
  }
  const auto function = TRY(Reply<documents::FunctionDocument>::decode(response.body));
  session.terminal().out << name_value_lines(session.terminal(), lines_of(*function));
  return {};
}

// `-` is standard input, `@file` a file, anything else the event itself.
Answer<std::string> payload_of(const std::string& text, Terminal& terminal) {
  if (text == "-") {
    return std::string(std::istreambuf_iterator<char>(terminal.in),
                       std::istreambuf_iterator<char>());
  }
  return text_or_file(text);
}

Answer<void> run_function_invoke(const FunctionInvokeOptions& options, Session& session) {
  std::string payload = TRY(payload_of(options.payload, session.terminal()));
  if (options.event) {
    const auto response =
        TRY(session.service.ask_lambda("POST",
                                       function_path(options.name, "/invocations"),
                                       std::move(payload),
                                       {{"X-Amz-Invocation-Type", "Event"}}));
    session.terminal().out << fmt::format("accepted as {}\n",
                                          harmless(response.header("x-amzn-RequestId")));
    return {};
  }
  const RunResult run = TRY(run_function(session, options.name, std::move(payload)));
  session.terminal().err << harmless_lines(run.log);
  // Files and pipes get the function's response byte for byte.
  const std::string shown =
      session.json ? run.payload : pretty_json(run.payload).value_or(run.payload);
  session.terminal().out << (session.terminal().out_is_terminal ? harmless_lines(shown) : shown)
                         << "\n";
  if (!run.failed) return {};
  return std::unexpected(Failure{Failure::Kind::reported, "", ""});
}

// Prints the lines after `after`, page by page, and returns the last sequence.
Answer<std::uint64_t> print_logs(const FunctionLogsOptions& options, std::uint64_t after,
                                 Session& session) {
  for (bool more = true; more;) {
    const auto page = TRY(session.service.manage<documents::LogPage>(
        "GET",
        fmt::format("functions/{}/logs?after={}{}",
                    percent_encode(options.name, false),
                    after,
                    options.unmasked ? "&unmasked=true" : "")));
    for (const documents::LogLine& line : page->lines) {
      if (session.json) {
        session.terminal().out << json_line(line);
      } else {
        session.terminal().out << fmt::format(
            "{} {}\n",
            paint(session.terminal(), Color::dim, harmless(line.at)),
            harmless(line.text));
      }
      after = static_cast<std::uint64_t>(line.number);
    }
    more = page->lines.size() == documents::kLogPageLines;
  }
  session.terminal().out.flush();
  return after;
}

Answer<void> run_function_logs(const FunctionLogsOptions& options, Session& session) {
  std::uint64_t after = TRY(print_logs(options, 0, session));
  Interrupt& interrupt = session.world.interrupt;
  if (options.follow) interrupt.watch();
  while (options.follow && !interrupt.requested()) {
    interrupt.idle_begins();
    session.world.sleep(kBetweenLogs);
    interrupt.idle_ends();
    after = TRY(print_logs(options, after, session));
  }
  return {};
}

Answer<void> run_function_remove(const FunctionRemoveOptions& options, Session& session) {
  RETURN_IF_ERROR(ask_permission(
      session,
      options.yes,
      fmt::format("Delete {}?", harmless(fmt::format("{}", fmt::join(options.names, ", "))))));
  for (const std::string& name : options.names) {
    RETURN_IF_ERROR(session.service.ask_lambda("DELETE", function_path(name)));
    session.terminal().out << fmt::format("deleted {}\n", harmless(name));
  }
  return {};
}

void add_function_invoke(Verb parent, Commands& commands) {
  auto options = std::make_shared<FunctionInvokeOptions>();
  Verb verb = parent.verb("invoke", "Run a function once; its log goes to standard error");
  verb.option("NAME", options->name, "Name of the function").required();
  verb.option("PAYLOAD", options->payload, "Event as JSON, @FILE, or - for standard input");
  verb.flag("--event", options->event, "Invoke asynchronously, without waiting for the result");
  commands.attach(verb,
                  [options](Session& session) { return run_function_invoke(*options, session); });
}

void add_function_logs(Verb parent, Commands& commands) {
  auto options = std::make_shared<FunctionLogsOptions>();
  Verb verb = parent.verb("logs", "Show a function's log");
  verb.option("NAME", options->name, "Name of the function").required();
  verb.flag("-f,--follow", options->follow, "Follow until Ctrl-C");
  verb.flag("--unmasked", options->unmasked, "Do not mask values that look like secrets");
  commands.attach(verb,
                  [options](Session& session) { return run_function_logs(*options, session); });
}

void add_function_remove(Verb parent, Commands& commands) {
  auto options = std::make_shared<FunctionRemoveOptions>();
  Verb verb = parent.verb("rm", "Delete functions; their mappings stay and wait");
  verb.option("NAMES", options->names, "Names of the functions").required().many();
  verb.flag("-y,--yes", options->yes, "Do not ask for confirmation");
  commands.attach(verb,
                  [options](Session& session) { return run_function_remove(*options, session); });
}

}  // namespace

void add_function_verbs(Verb parent, Commands& commands) {
  commands.attach(parent.verb("ls", "List functions"), run_function_list);
  auto shown = std::make_shared<std::string>();
  Verb show = parent.verb("show", "Show a function's configuration");
  show.option("NAME", *shown, "Name of the function").required();
  commands.attach(show, [shown](Session& session) { return run_function_show(*shown, session); });
  add_function_invoke(parent, commands);
  add_function_logs(parent, commands);
  add_function_remove(parent, commands);
}

}  // namespace redrive::cli
