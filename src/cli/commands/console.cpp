#include <fmt/format.h>

#include "base/text.h"
#include "cli/client/child.h"
#include "cli/commands/commands.h"
#include "manage/documents/session.h"

// redrive console: opens the web console, signed in where the server has keys.

namespace redrive::cli {
namespace {

struct ConsoleOptions {
  std::string page;
  bool print = false;
};

// What the argument shows: a queue, or a message by its id.
std::string path_of(const std::string& page) {
  if (page.empty()) return "/console/";
  const std::string name = percent_encode(page, false);
  const bool is_id = page.size() == 36 && page.find('-') == 8;
  return is_id ? "/console/lineage/" + name : "/console/queues/" + name;
}

Answer<std::string> console_url(const ConsoleOptions& options, Session& session) {
  const std::string path = path_of(options.page);
  const auto view = TRY(session.service.manage<documents::SessionView>("GET", "session"));
  if (!view->keys) return session.endpoint.url_of(path);
  const auto link = TRY(session.service.manage<documents::SignInLink>("POST", "session/link"));
  return fmt::format("{}?to={}#token={}",
                     session.endpoint.url_of("/console/enter"),
                     percent_encode(path, true),
                     harmless(link->token));
}

// Whether there is a desktop to open a browser on.
bool has_desktop(const Session& session) {
  const auto is_set = [&](const char* name) {
    return !session.world.environment.variable(name).value_or("").empty();
  };
  return session.world.terminal.out_is_terminal && (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"));
}

// The address goes through stdin: command lines are visible to every user of the machine.
bool opens_browser(const std::string& url) {
  return run_child({.command = R"(read -r url && exec xdg-open "$url")",
                    .input = url,
                    .environment = {},
                    .time_max = std::chrono::seconds(10)},
                   std::chrono::seconds(1),
                   [] {})
      .succeeded;
}

Answer<void> run_console(const ConsoleOptions& options, Session& session) {
  const std::string url = TRY(console_url(options, session));
  std::ostream& out = session.terminal().out;
  if (!options.print && has_desktop(session) && opens_browser(url)) {
    out << "opened the console in the browser\n";
    return {};
  }
  out << url << "\n";
  if (url.find("#token=") != url.npos) {
    session.terminal().err << "The link signs in once, within 60 seconds.\n";
  }
  return {};
}

}  // namespace

void add_console(Verb parent, Commands& commands) {
  auto options = std::make_shared<ConsoleOptions>();
  Verb verb = parent.verb("console", "Open the web console, signed in with your key");
  verb.option("PAGE", options->page, "A queue or the id of a message; default: the first page");
  verb.flag("--print", options->print, "Print the link instead of opening a browser");
  commands.attach(verb, [options](Session& session) { return run_console(*options, session); });
}

}  // namespace redrive::cli
