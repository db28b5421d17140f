#include <fmt/format.h>

#include "base/calendar.h"
#include "base/text.h"
#include "cli/client/archive_choice.h"
#include "cli/client/queue_document.h"
#include "cli/commands/commands.h"
#include "cli/term/json_text.h"
#include "dead_letters/triage/secrets.h"

// redrive archive ls, search, show, rm

namespace redrive::cli {
namespace {

struct ArchiveLine {
  std::string_view key;
  std::string_view message_id;
  std::string_view archived_at;
  std::int64_t size = 0;
  std::string_view source;
  std::string_view body;
};
consteval auto shape_of(ArchiveLine*) {
  using Line = ArchiveLine;
  return wire::shape(wire::required("Key", &Line::key),
                     wire::required("MessageId", &Line::message_id),
                     wire::required("ArchivedAt", &Line::archived_at),
                     wire::required("Size", &Line::size),
                     wire::optional("Source", &Line::source),
                     wire::optional("Body", &Line::body));
}

struct ArchiveReadOptions {
  ArchiveChoice choice;
  bool unmasked = false;
};

void add_unmasked(Verb verb, ArchiveReadOptions& options) {
  verb.flag("--unmasked", options.unmasked, "Do not mask values that look like secrets");
}

// An archive may be a plain directory, so masking happens in this command.
std::string shown_text(std::string_view text, bool unmasked) {
  if (unmasked) return std::string(text);
  return triage::mask_secrets(text, {.bytes_max = text.npos});
}

// As one JSON document, even if masking made the text invalid JSON.
std::string shown_json(const std::string& shown) {
  if (pretty_json(shown)) return shown;
  std::string text;
  wire::append_json_text(text, shown);
  return text;
}

void print_found(Session& session, const FoundLetter& found, bool unmasked) {
  Terminal& terminal = session.terminal();
  const std::string at = format_utc(std::min(found.key.time, kCalendarEnd));
  const archive::ArchivedLetter& contents = found.contents;
  const std::string shown = shown_text(contents.letter.body, unmasked);
  if (session.json) {
    terminal.out << json_line(ArchiveLine{.key = found.entry.key,
                                          .message_id = found.key.message_id,
                                          .archived_at = at,
                                          .size = static_cast<std::int64_t>(found.entry.size),
                                          .source = contents.source,
                                          .body = shown});
    return;
  }
  terminal.out << fmt::format("{}  {:>8}  {}\n", at, found.entry.size, harmless(found.entry.key));
  if (found.document.empty()) return;
  const std::string_view body = utf8_prefix(shown, 100);
  terminal.out << "    " << paint(terminal, Color::dim, harmless(body.substr(0, body.find('\n'))))
               << "\n";
}

Answer<void> run_archive_list(Session& session, const ArchiveReadOptions& options,
                              Reading reading) {
  const OpenArchive open = TRY(open_archive(options.choice.place, session));
  return for_each_chosen(session,
                         options.choice,
                         *open.target,
                         open.prefix,
                         reading,
                         [&](const FoundLetter& found) -> Answer<void> {
                           print_found(session, found, options.unmasked);
                           return {};
                         });
}

Answer<void> run_archive_show(Session& session, const ArchiveReadOptions& options) {
  const OpenArchive open = TRY(open_archive(options.choice.place, session));
  bool any = false;
  RETURN_IF_ERROR(for_each_chosen(
      session,
      options.choice,
      *open.target,
      open.prefix,
      Reading::always,
      [&](const FoundLetter& found) -> Answer<void> {
        any = true;
        const std::string shown = shown_text(found.document, options.unmasked);
        Terminal& terminal = session.terminal();
        if (session.json) {
          const std::string json = options.unmasked ? shown : shown_json(shown);
          terminal.out << (terminal.out_is_terminal ? harmless_json(json) : json);
          if (!json.ends_with('\n')) terminal.out << "\n";
          return {};
        }
        const auto pretty = pretty_json(shown);
        terminal.out << paint(terminal, Color::bold, harmless(found.entry.key)) << "\n"
                     << harmless_lines(pretty.value_or(shown)) << "\n";
        return {};
      }));
  if (!any) return nothing_archived();
  return {};
}

struct RemoveOptions {
  ArchiveChoice choice;
  bool yes = false;
};

Answer<void> run_archive_remove(Session& session, const RemoveOptions& options) {
  if (options.choice.is_all()) return usage_failure("select messages by name or condition");
  const OpenArchive open = TRY(open_archive(options.choice.place, session));
  std::vector<std::string> keys;
  RETURN_IF_ERROR(for_each_chosen(session,
                                  options.choice,
                                  *open.target,
                                  open.prefix,
                                  Reading::only_if_needed,
                                  [&](const FoundLetter& found) -> Answer<void> {
                                    keys.push_back(found.entry.key);
                                    return {};
                                  }));
  if (keys.empty()) return nothing_archived();
  if (!options.yes) {
    const std::string question =
        fmt::format("Permanently remove {} archived messages?", keys.size());
    if (!session.terminal().in_is_terminal) return usage_failure(question + " Say --yes.");
    if (!confirm(session.terminal(), question)) return {};
  }
  for (const std::string& key : keys) {
    const auto removed = open.target->remove(key);
    if (!removed) return std::unexpected(failure_of_archive(removed.error()));
  }
  session.terminal().out << fmt::format("{} removed\n", keys.size());
  return {};
}

}  // namespace

void add_archive_list(Verb parent, Commands& commands) {
  auto options = std::make_shared<ArchiveReadOptions>();
  Verb verb = parent.verb("ls", "List archived messages");
  add_archive_location(verb, options->choice);
  add_archive_conditions(verb, options->choice);
  add_unmasked(verb, *options);
  commands.attach(verb, [options](Session& session) {
    return run_archive_list(session, *options, Reading::only_if_needed);
  });
}

void add_archive_search(Verb parent, Commands& commands) {
  auto options = std::make_shared<ArchiveReadOptions>();
  Verb verb = parent.verb("search", "Search archived messages");
  add_archive_location(verb, options->choice);
  add_archive_conditions(verb, options->choice);
  add_unmasked(verb, *options);
  commands.attach(verb, [options](Session& session) {
    return run_archive_list(session, *options, Reading::always);
  });
}

void add_archive_show(Verb parent, Commands& commands) {
  auto options = std::make_shared<ArchiveReadOptions>();
  Verb verb = parent.verb("show", "Print archived messages");
  add_archive_location(verb, options->choice);
  add_archive_names(verb, options->choice);
  add_archive_conditions(verb, options->choice);
  add_unmasked(verb, *options);
  commands.attach(verb,
                  [options](Session& session) { return run_archive_show(session, *options); });
}

void add_archive_remove(Verb parent, Commands& commands) {
  auto options = std::make_shared<RemoveOptions>();
  Verb verb = parent.verb("rm", "Remove archived messages");
  add_archive_location(verb, options->choice);
  add_archive_names(verb, options->choice);
  add_archive_conditions(verb, options->choice);
  verb.flag("--yes", options->yes, "Do not ask for confirmation");
  commands.attach(verb,
                  [options](Session& session) { return run_archive_remove(session, *options); });
}

}  // namespace redrive::cli
