#include <fmt/format.h>

#include "cli/client/permission.h"
#include "cli/client/queue_document.h"
#include "cli/commands/commands.h"

// redrive reset: empties a server started for tests.

namespace redrive::cli {
namespace {

struct ResetDocument {
  std::int64_t queues = 0;
  std::optional<std::int64_t> buckets;
};
consteval auto shape_of(ResetDocument*) {
  return wire::shape(wire::required("queues", &ResetDocument::queues),
                     wire::optional("buckets", &ResetDocument::buckets));
}

std::string readable_reset(const ResetDocument& done) {
  if (!done.buckets) return fmt::format("forgot {} queues\n", done.queues);
  return fmt::format("deleted {} queues and {} buckets\n", done.queues, *done.buckets);
}

Answer<void> run_reset(bool yes, Session& session) {
  RETURN_IF_ERROR(ask_permission(
      session,
      yes,
      fmt::format("Delete all queues of {} and all their messages?", session.endpoint.url)));
  const auto done = TRY(session.service.manage<ResetDocument>("POST", "reset"));
  session.terminal().out << (session.json ? json_line(*done) : readable_reset(*done));
  return {};
}

}  // namespace

void add_reset(Verb parent, Commands& commands) {
  auto yes = std::make_shared<bool>(false);
  Verb verb = parent.verb("reset", "Delete everything on a test server");
  verb.flag("-y,--yes", *yes, "Do not ask for confirmation");
  commands.attach(verb, [yes](Session& session) { return run_reset(*yes, session); });
}

}  // namespace redrive::cli
