#include <fmt/format.h>

#include "cli/client/queue_document.h"
#include "cli/client/retry.h"
#include "cli/commands/commands.h"
#include "manage/documents/logs.h"

// redrive logs: recent lines of the server's log, and new ones.

namespace redrive::cli {
namespace {

constexpr Duration kLogPace{500};

struct LogsOptions {
  bool follow = false;
  bool unmasked = false;
  std::int64_t lines = 100;
};

class LogReader {
 public:
  LogReader(Session& session, bool unmasked) : session_(session), unmasked_(unmasked) {}

  // Prints lines since the last call; on the first call only the last `max`.
  Answer<void> read(std::int64_t max) {
    std::vector<Reply<documents::ServerLogPage>> pages;
    while (true) {
      auto page = TRY(session_.service.manage<documents::ServerLogPage>(
          "GET",
          fmt::format("logs?after={}&limit=1000{}", last_, unmasked_ ? "&unmasked=true" : "")));
      if (page->lines.empty()) break;
      last_ = page->lines.back().number;
      pages.push_back(std::move(page));
    }
    for (const auto& page : pages) {
      for (const documents::ServerLogLine& line : page->lines) {
        if (line.number > last_ - max) show(line);
      }
    }
    session_.terminal().out.flush();
    return {};
  }

 private:
  void show(const documents::ServerLogLine& line) {
    if (session_.json) {
      session_.terminal().out << json_line(line);
      return;
    }
    const bool bad = line.level == "warning" || line.level == "error" || line.level == "critical";
    session_.terminal().out << fmt::format(
        "{} {} {}\n",
        paint(session_.terminal(), Color::dim, harmless(line.at)),
        paint(session_.terminal(), bad ? Color::yellow : Color::green, harmless(line.level)),
        harmless(line.text));
  }

  Session& session_;
  const bool unmasked_;
  std::int64_t last_ = 0;
};

Answer<void> run_logs(const LogsOptions& options, Session& session) {
  LogReader reader(session, options.unmasked);
  RETURN_IF_ERROR(reader.read(options.lines));
  if (!options.follow) return {};
  Interrupt& interrupt = session.world.interrupt;
  interrupt.watch();
  Backoff backoff(session.world.ids, session.world.sleep);
  while (!interrupt.requested()) {
    interrupt.idle_begins();
    session.world.sleep(kLogPace);
    interrupt.idle_ends();
    const auto done = reader.read(INT64_MAX);
    if (done) backoff.reset();
    if (!done && (!worth_retrying(done.error()) || !backoff.again())) return done;
  }
  return {};
}

}  // namespace

void add_logs(Verb parent, Commands& commands) {
  auto options = std::make_shared<LogsOptions>();
  Verb verb = parent.verb("logs", "Show the server's log");
  verb.flag("-f,--follow", options->follow, "Follow until Ctrl-C");
  verb.option("-n,--lines", options->lines, "Number of lines to start with (default 100)")
      .range(0, 1'000'000);
  verb.flag("--unmasked", options->unmasked, "Do not mask values that look like secrets");
  commands.attach(verb, [options](Session& session) { return run_logs(*options, session); });
}

}  // namespace redrive::cli
