#include <fmt/format.h>

#include "base/calendar.h"
#include "cli/archive_choice.h"
#include "cli/command.h"
#include "cli/json_text.h"
#include "cli/letter.h"
#include "cli/pace.h"
#include "cli/queue_document.h"
#include "cli/queue_name.h"
#include "cli/retry.h"

// redrive archive ls, search, show, restore, rm

namespace redrive::cli {
namespace {

constexpr std::string_view kArchivedId = "archivedMessageId";

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

void print_found(Session& session, const FoundLetter& found) {
  Terminal& terminal = session.terminal();
  const std::string at = format_utc(std::min(found.key.time, kCalendarEnd));
  const archive::ArchivedLetter& contents = found.contents;
  if (session.json) {
    terminal.out << json_line(ArchiveLine{.key = found.entry.key,
                                          .message_id = found.key.message_id,
                                          .archived_at = at,
                                          .size = static_cast<std::int64_t>(found.entry.size),
                                          .source = contents.source,
                                          .body = contents.letter.body});
    return;
  }
  terminal.out << fmt::format("{}  {:>8}  {}\n", at, found.entry.size, harmless(found.entry.key));
  if (found.document.empty()) return;
  const std::string_view body = std::string_view(contents.letter.body).substr(0, 100);
  terminal.out << "    " << paint(terminal, Color::dim, harmless(body.substr(0, body.find('\n'))))
               << "\n";
}

Answer<void> run_archive_list(Session& session, const ArchiveChoice& choice, Reading reading) {
  const OpenArchive open = TRY(open_archive(choice.place, session));
  return for_each_chosen(session,
                         choice,
                         *open.target,
                         open.prefix,
                         reading,
                         [&](const FoundLetter& found) -> Answer<void> {
                           print_found(session, found);
                           return {};
                         });
}

std::unexpected<Failure> nothing_found() {
  return std::unexpected(
      Failure{Failure::Kind::refused, "", "the archive has no message like that"});
}

Answer<void> run_archive_show(Session& session, const ArchiveChoice& choice) {
  const OpenArchive open = TRY(open_archive(choice.place, session));
  bool any = false;
  CHECK(for_each_chosen(session,
                        choice,
                        *open.target,
                        open.prefix,
                        Reading::always,
                        [&](const FoundLetter& found) -> Answer<void> {
                          any = true;
                          Terminal& terminal = session.terminal();
                          if (session.json) {
                            terminal.out << found.document;
                            if (!found.document.ends_with('\n')) terminal.out << "\n";
                            return {};
                          }
                          const auto pretty = pretty_json(found.document);
                          terminal.out << paint(terminal, Color::bold, harmless(found.entry.key))
                                       << "\n"
                                       << harmless(pretty.value_or(found.document)) << "\n";
                          return {};
                        }));
  if (!any) return nothing_found();
  return {};
}

struct RestoreOptions {
  ArchiveChoice choice;
  std::string to;
  std::optional<double> rate;
  bool all = false;
  bool keep = false;
  bool keep_count = false;
};

// What goes back: as it was, with attempts of its own again and the name it had.
LetterToSend restored(const FoundLetter& found, bool keep_count) {
  LetterToSend sent{.letter = found.contents.letter};
  auto& attributes = sent.letter.attributes;
  if (!keep_count) {
    std::erase_if(attributes, [](const auto& one) { return one.name == archive::kRetryCount; });
    std::erase_if(sent.letter.system_attributes,
                  [](const auto& one) { return one.first == "AWSTraceHeader"; });
  }
  const bool known = sent.letter.attribute(kArchivedId) != nullptr;
  if (!known && attributes.size() < archive::kAttributesMax) {
    attributes.push_back({std::string(kArchivedId), "String", found.key.message_id});
  }
  sent.deduplication = archive::retry_deduplication_id("archive " + found.entry.key, 0);
  return sent;
}

class Restorer {
 public:
  Restorer(Session& session, const RestoreOptions& options, OpenArchive open)
      : session_(session),
        options_(options),
        open_(std::move(open)),
        pace_(options.rate, session.world.clock) {}

  Answer<void> run() {
    CHECK(for_each_chosen(session_,
                          options_.choice,
                          *open_.target,
                          open_.prefix,
                          Reading::always,
                          [&](const FoundLetter& found) { return restore(found); }));
    if (restored_ + failed_ == 0 && !options_.choice.names.empty()) return nothing_found();
    session_.terminal().out << fmt::format("{} restored\n", restored_);
    if (failed_ == 0) return {};
    return std::unexpected(Failure{Failure::Kind::reported, "", ""});
  }

 private:
  Answer<void> restore(const FoundLetter& found) {
    const std::string named = options_.to.empty() ? found.contents.source : options_.to;
    if (named.empty()) {
      return usage_failure(fmt::format(
          "{} does not say which queue it came from: name one with --to", found.entry.key));
    }
    const std::string url = TRY(find_queue_url(session_.service, named));
    session_.world.sleep(pace_.before(1));
    const LetterToSend letter = restored(found, options_.keep_count);
    std::vector<SendOutcome> outcomes;
    CHECK(send(url, letter, outcomes));
    if (!outcomes[0].confirmed) {
      ++failed_;
      session_.terminal().err << fmt::format(
          "redrive: {} stays: {}\n", harmless(found.entry.key), harmless(outcomes[0].reason));
      return {};
    }
    ++restored_;
    if (options_.keep) return {};
    const auto removed = open_.target->remove(found.entry.key);
    if (!removed) return std::unexpected(failure_of_archive(removed.error()));
    return {};
  }

  Answer<void> send(const std::string& url, const LetterToSend& letter,
                    std::vector<SendOutcome>& outcomes) {
    Backoff backoff(session_.world.ids, session_.world.sleep);
    while (true) {
      const auto sent = send_letters(session_.service, url, {&letter}, outcomes);
      if (!sent && (!worth_retrying(sent.error()) || !backoff.again())) return sent;
      if (!sent) continue;
      if (outcomes[0].confirmed || !outcomes[0].may_retry || !backoff.again()) return {};
    }
  }

  Session& session_;
  const RestoreOptions& options_;
  OpenArchive open_;
  Pace pace_;
  std::uint64_t restored_ = 0;
  std::uint64_t failed_ = 0;
};

Answer<void> run_archive_restore(Session& session, const RestoreOptions& options) {
  if (options.choice.is_all() && !options.all) {
    return usage_failure("say which messages: names, conditions, or --all");
  }
  return Restorer(session, options, TRY(open_archive(options.choice.place, session))).run();
}

struct RemoveOptions {
  ArchiveChoice choice;
  bool yes = false;
};

Answer<void> run_archive_remove(Session& session, const RemoveOptions& options) {
  if (options.choice.is_all()) return usage_failure("say which messages: names or conditions");
  const OpenArchive open = TRY(open_archive(options.choice.place, session));
  std::vector<std::string> keys;
  CHECK(for_each_chosen(session,
                        options.choice,
                        *open.target,
                        open.prefix,
                        Reading::only_if_needed,
                        [&](const FoundLetter& found) -> Answer<void> {
                          keys.push_back(found.entry.key);
                          return {};
                        }));
  if (keys.empty()) return nothing_found();
  if (!options.yes) {
    const std::string question = fmt::format("Remove {} archived messages for good?", keys.size());
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
  auto choice = std::make_shared<ArchiveChoice>();
  Verb verb = parent.verb("ls", "List archived messages");
  add_archive_location(verb, *choice);
  add_archive_conditions(verb, *choice);
  commands.attach(verb, [choice](Session& session) {
    return run_archive_list(session, *choice, Reading::only_if_needed);
  });
}

void add_archive_search(Verb parent, Commands& commands) {
  auto choice = std::make_shared<ArchiveChoice>();
  Verb verb = parent.verb("search", "Look into archived messages");
  add_archive_location(verb, *choice);
  add_archive_conditions(verb, *choice);
  commands.attach(verb, [choice](Session& session) {
    return run_archive_list(session, *choice, Reading::always);
  });
}

void add_archive_show(Verb parent, Commands& commands) {
  auto choice = std::make_shared<ArchiveChoice>();
  Verb verb = parent.verb("show", "Print archived messages whole");
  add_archive_location(verb, *choice);
  add_archive_names(verb, *choice);
  add_archive_conditions(verb, *choice);
  commands.attach(verb, [choice](Session& session) { return run_archive_show(session, *choice); });
}

void add_archive_restore(Verb parent, Commands& commands) {
  auto options = std::make_shared<RestoreOptions>();
  Verb verb = parent.verb("restore", "Send archived messages to a queue, and out of the archive");
  add_archive_location(verb, options->choice);
  add_archive_names(verb, options->choice);
  add_archive_conditions(verb, options->choice);
  verb.flag("--all", options->all, "Everything that is there");
  verb.option("--to", options->to, "Queue to send to (default: the one each came from)");
  verb.option("--rate", options->rate, "Messages a second at most").positive();
  verb.flag("--keep", options->keep, "Leave them in the archive");
  verb.flag(
      "--keep-count", options->keep_count, "Keep retryCount: the next failure archives again");
  commands.attach(verb,
                  [options](Session& session) { return run_archive_restore(session, *options); });
}

void add_archive_remove(Verb parent, Commands& commands) {
  auto options = std::make_shared<RemoveOptions>();
  Verb verb = parent.verb("rm", "Remove archived messages");
  add_archive_location(verb, options->choice);
  add_archive_names(verb, options->choice);
  add_archive_conditions(verb, options->choice);
  verb.flag("--yes", options->yes, "Do not ask");
  commands.attach(verb,
                  [options](Session& session) { return run_archive_remove(session, *options); });
}

}  // namespace redrive::cli
