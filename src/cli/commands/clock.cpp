#include <fmt/format.h>

#include "cli/client/queue_document.h"
#include "cli/commands/commands.h"

// redrive clock: shows the server's time, and moves a virtual clock.

namespace redrive::cli {
namespace {

struct ClockDocument {
  bool is_virtual = false;
  std::string_view now;
  std::int64_t epoch_milliseconds = 0;
  std::int64_t waiting_receives = 0;
  std::int64_t held_seconds = 0;
};
consteval auto shape_of(ClockDocument*) {
  using Document = ClockDocument;
  return wire::shape(wire::required("virtual", &Document::is_virtual),
                     wire::required("now", &Document::now),
                     wire::required("epochMilliseconds", &Document::epoch_milliseconds),
                     wire::required("waitingReceives", &Document::waiting_receives),
                     wire::optional("heldSeconds", &Document::held_seconds));
}

struct AdvanceDocument {
  double seconds = 0;
};
consteval auto shape_of(AdvanceDocument*) {
  return wire::shape(wire::required("seconds", &AdvanceDocument::seconds));
}

struct ClockOptions {
  std::string action = "show";
  std::optional<double> seconds;
};

void print(Session& session, const ClockDocument& clock) {
  if (session.json) {
    session.terminal().out << json_line(clock);
    return;
  }
  session.terminal().out << fmt::format(
      "{}{}\n", harmless(clock.now), clock.is_virtual ? " (virtual)" : "");
  if (clock.held_seconds == 0) return;
  session.terminal().out << fmt::format(
      "According to the system clock the server was down for {} seconds. No message expires "
      "because of this until it is confirmed: redrive clock accept\n",
      clock.held_seconds);
}

Answer<void> run_clock(const ClockOptions& options, Session& session) {
  const bool advance = options.action == "advance";
  if (advance != options.seconds.has_value()) {
    return usage_failure(advance ? "advance requires SECONDS"
                                 : fmt::format("{} does not take SECONDS", options.action));
  }
  std::string body;
  if (advance) wire::encode_json(body, AdvanceDocument{*options.seconds});
  const bool shows = options.action == "show";
  const auto clock = TRY(session.service.manage<ClockDocument>(
      shows ? "GET" : "POST", shows ? "clock" : "clock/" + options.action, std::move(body)));
  print(session, *clock);
  return {};
}

}  // namespace

void add_clock(Verb parent, Commands& commands) {
  auto options = std::make_shared<ClockOptions>();
  Verb verb = parent.verb("clock", "Show the server's time, or advance a virtual clock");
  verb.option(
          "ACTION", options->action, "show, advance SECONDS, or accept (confirm a long downtime)")
      .one_of({"show", "advance", "accept"})
      .shows_default();
  verb.option("SECONDS", options->seconds, "Seconds to advance; fractions are allowed").positive();
  commands.attach(verb, [options](Session& session) { return run_clock(*options, session); });
}

}  // namespace redrive::cli
