#include <fmt/format.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/message_pages.h"
#include "cli/message_view.h"
#include "cli/progress.h"
#include "cli/queue_document.h"
#include "cli/table.h"
#include "documents/find.h"

// redrive find: a message, wherever it is.

namespace redrive::cli {
namespace {

struct FindOptions {
  std::string question;
  bool text = false;
  bool filter = false;
  bool unmasked = false;
  std::int64_t limit = 100;
};

std::string_view last_part(std::string_view arn) {
  return arn.substr(arn.rfind(':') + 1);
}

std::string whereabouts(const documents::FindHit& hit) {
  const std::string queue = harmless(last_part(hit.queue));
  if (hit.state == "processed") {
    return fmt::format("processed in {} at {}, after a redrive{}",
                       queue,
                       harmless(hit.processed_at),
                       hit.job.empty() ? "" : " by job " + harmless(hit.job));
  }
  if (hit.state == "in-queue") return "in " + queue;
  if (hit.state == "in-bin") return "in the bin of " + queue;
  return fmt::format("{} from {}: {}", harmless(hit.state), queue, harmless(hit.archive));
}

void print_hit(Session& session, const documents::FindHit& hit, Secrets secrets) {
  Terminal& terminal = session.terminal();
  if (session.json) {
    terminal.out << json_line(hit);
    return;
  }
  terminal.out << paint(terminal, Color::bold, hit.message_id.text()) << "  " << whereabouts(hit)
               << '\n';
  if (hit.message) print_message(session, *hit.message, secrets);
}

Answer<void> run_find(const FindOptions& options, Session& session) {
  const Secrets secrets = options.unmasked ? Secrets::shown : Secrets::masked;
  const std::string path = fmt::format("find?q={}&mode={}{}",
                                       percent_encode(options.question, false),
                                       options.text     ? "text"
                                       : options.filter ? "filter"
                                                        : "auto",
                                       secrets_parameter(secrets));
  std::optional<Progress> progress;
  std::string after;
  std::uint64_t scanned = 0;
  std::int64_t hits = 0;
  session.world.interrupt.watch();
  do {
    const auto page = TRY(session.service.manage<documents::FindPage>(
        "GET",
        fmt::format("{}&limit={}&after={}",
                    path,
                    std::min<std::int64_t>(options.limit - hits, 100),
                    percent_encode(after, false))));
    CHECK(check_secrets(secrets, page->masked));
    if (!progress) {
      const auto total = static_cast<std::uint64_t>(page->total.value_or(0));
      progress.emplace(session.terminal(), session.world.clock, total, "searched");
    }
    scanned += static_cast<std::uint64_t>(page->scanned);
    if (!page->hits.empty()) progress->clear();
    for (const documents::FindHit& hit : page->hits) print_hit(session, hit, secrets);
    hits += static_cast<std::int64_t>(page->hits.size());
    progress->update(scanned);
    after = page->next.value_or("");
  } while (!after.empty() && hits < options.limit && !session.world.interrupt.requested());
  progress->clear();
  if (hits == 0 && !session.json) {
    session.terminal().err << fmt::format("nothing found among {} messages\n", scanned);
  }
  if (!after.empty()) {
    session.terminal().err << fmt::format("stopped after {} messages; there may be more\n",
                                          scanned);
  }
  return {};
}

}  // namespace

void add_find(Verb parent, Commands& commands) {
  auto options = std::make_shared<FindOptions>();
  Verb verb = parent.verb(
      "find", "Find messages in all queues, bins and archives, and among those processed lately");
  verb.option("QUESTION", options->question, "A filter, or a text in the body, attributes or ids")
      .required();
  const Option text = verb.flag("--text", options->text, "Take it as a text in any case");
  verb.flag("--filter", options->filter, "Take it as a filter in any case").excludes(text);
  verb.option("--limit", options->limit, "How many at most (default 100)").range(1, 1'000'000);
  verb.flag("--unmasked", options->unmasked, "Show values that look like secrets");
  commands.attach(verb, [options](Session& session) { return run_find(*options, session); });
}

}  // namespace redrive::cli
