#include <fmt/format.h>

#include "base/text.h"
#include "cli/client/message_pages.h"
#include "cli/client/message_view.h"
#include "cli/client/queue_document.h"
#include "cli/commands/commands.h"
#include "cli/term/progress.h"
#include "cli/term/table.h"
#include "manage/documents/find.h"

// redrive find: finds a message in any queue or archive.

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
  bool as_text = false;  // How the server read the query.
  session.world.interrupt.watch();
  do {
    const auto page = TRY(session.service.manage<documents::FindPage>(
        "GET",
        fmt::format("{}&limit={}&after={}",
                    path,
                    std::min<std::int64_t>(options.limit - hits, 100),
                    percent_encode(after, false))));
    RETURN_IF_ERROR(check_secrets(secrets, page->masked));
    if (!progress) {
      const auto total = static_cast<std::uint64_t>(page->total.value_or(0));
      progress.emplace(session.terminal(), session.world.clock, total, "searched");
    }
    as_text = page->mode == "text";
    scanned += static_cast<std::uint64_t>(page->scanned);
    if (!page->hits.empty()) progress->clear();
    for (const documents::FindHit& hit : page->hits) print_hit(session, hit, secrets);
    hits += static_cast<std::int64_t>(page->hits.size());
    progress->update(scanned);
    after = page->next.value_or("");
  } while (!after.empty() && hits < options.limit && !session.world.interrupt.requested());
  progress->clear();
  if (hits == 0 && !session.json) {
    session.terminal().err << fmt::format(
        "nothing found in {} messages{}\n",
        scanned,
        as_text && !options.text ? "; searched for the text (--filter says why it is no filter)"
                                 : "");
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
  Verb verb = parent.verb("find", "Find messages in all queues, bins and archives");
  verb.option("QUERY", options->question, "A filter, or a text in bodies, attributes or ids")
      .required();
  const Option text = verb.flag("--text", options->text, "Treat the query as a text");
  verb.flag("--filter", options->filter, "Treat the query as a filter").excludes(text);
  verb.option("--limit", options->limit, "Maximum number of messages (default 100)")
      .range(1, 1'000'000);
  verb.flag("--unmasked", options->unmasked, "Do not mask values that look like secrets");
  commands.attach(verb, [options](Session& session) { return run_find(*options, session); });
}

}  // namespace redrive::cli
