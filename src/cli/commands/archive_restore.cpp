#include <fmt/format.h>

#include "base/text.h"
#include "cli/client/archive_choice.h"
#include "cli/client/letter.h"
#include "cli/client/pace.h"
#include "cli/client/queue_name.h"
#include "cli/client/retry.h"
#include "cli/commands/commands.h"
#include "manage/documents/lineage.h"

// redrive archive restore: sends archived messages to a queue and removes them from the archive. If
// the document contains the message's lineage and the server is Redrive, the lineage is continued;
// otherwise the message is sent like any other.

namespace redrive::cli {
namespace {

constexpr std::string_view kArchivedId = "archivedMessageId";

struct RestoreOptions {
  ArchiveChoice choice;
  std::string to;
  std::optional<double> rate;
  bool all = false;
  bool keep = false;
  bool keep_count = false;
};

// The message to restore: unchanged, except that its retry count is reset.
LetterToSend restored(const FoundLetter& found, bool keep_count) {
  LetterToSend sent{.letter = found.contents.letter};
  if (!keep_count) {
    std::erase_if(sent.letter.attributes,
                  [](const auto& one) { return one.name == archive::kRetryCount; });
    std::erase_if(sent.letter.system_attributes,
                  [](const auto& one) { return one.first == "AWSTraceHeader"; });
  }
  sent.deduplication = archive::retry_deduplication_id("archive " + found.entry.key, 0);
  return sent;
}

// Keeps the former id in an attribute if nothing else records it.
void add_former_name(LetterToSend& sent, const FoundLetter& found) {
  auto& attributes = sent.letter.attributes;
  const bool known = sent.letter.attribute(kArchivedId) != nullptr;
  if (known || attributes.size() >= archive::kAttributesMax) return;
  attributes.push_back({std::string(kArchivedId), "String", found.key.message_id});
}

documents::UnarchiveMessage unarchived(const LetterToSend& sent, const FoundLetter& found,
                                       const documents::Lineage& lineage, bool fifo) {
  documents::UnarchiveMessage message{.body = sent.letter.body,
                                      .archived_as = Uuid::parse(found.key.message_id),
                                      .lineage = lineage};
  for (const auto& attribute : sent.letter.attributes) {
    message.attributes.emplace_back(attribute.name, attribute_value(attribute));
  }
  const std::string_view group = sent.letter.system_attribute("MessageGroupId");
  if (!group.empty()) message.group_id = group;
  if (fifo) message.deduplication_id = *sent.deduplication;
  const std::string_view trace = sent.letter.system_attribute("AWSTraceHeader");
  if (!trace.empty()) message.trace_header = trace;
  return message;
}

class Restorer {
 public:
  Restorer(Session& session, const RestoreOptions& options, OpenArchive open)
      : session_(session),
        options_(options),
        open_(std::move(open)),
        pace_(options.rate, session.world.clock) {}

  Answer<void> run() {
    RETURN_IF_ERROR(for_each_chosen(session_,
                                    options_.choice,
                                    *open_.target,
                                    open_.prefix,
                                    Reading::always,
                                    [&](const FoundLetter& found) { return restore(found); }));
    if (restored_ + before_ + failed_ == 0 && !options_.choice.names.empty()) {
      return nothing_archived();
    }
    session_.terminal().out << fmt::format("{} restored", restored_);
    if (before_ > 0)
      session_.terminal().out << fmt::format(", {} already restored before", before_);
    session_.terminal().out << "\n";
    if (failed_ == 0) return {};
    return std::unexpected(Failure{Failure::Kind::reported, "", ""});
  }

 private:
  Answer<void> restore(const FoundLetter& found) {
    const std::string named = options_.to.empty() ? found.contents.source : options_.to;
    if (named.empty()) {
      return usage_failure(fmt::format("{} has no source queue: pass --to", found.entry.key));
    }
    const std::string url = TRY(find_queue_url(session_.service, named));
    session_.world.sleep(pace_.before(1));
    const SendOutcome outcome = TRY(bring_back(url, found));
    if (!outcome.confirmed) {
      ++failed_;
      session_.terminal().err << fmt::format(
          "redrive: {} stays: {}\n", harmless(found.entry.key), harmless(outcome.reason));
      return {};
    }
    if (options_.keep) return {};
    const auto removed = open_.target->remove(found.entry.key);
    if (!removed) return std::unexpected(failure_of_archive(removed.error()));
    return {};
  }

  Answer<SendOutcome> bring_back(const std::string& url, const FoundLetter& found) {
    LetterToSend letter = restored(found, options_.keep_count);
    if (!found.contents.lineage.empty() && may_continue_) {
      const auto outcome = TRY(continue_lineage(url, letter, found));
      if (outcome) return *outcome;
    }
    add_former_name(letter, found);
    std::vector<SendOutcome> outcomes;
    RETURN_IF_ERROR(send(url, letter, outcomes));
    if (outcomes[0].confirmed) ++restored_;
    return outcomes[0];
  }

  // nullopt if the server does not support it, or not for us.
  Answer<std::optional<SendOutcome>> continue_lineage(const std::string& url,
                                                      const LetterToSend& letter,
                                                      const FoundLetter& found) {
    const auto lineage = Reply<documents::Lineage>::decode(found.contents.lineage);
    if (!lineage) return std::nullopt;
    const std::string_view name = queue_name_of(url);
    documents::UnarchiveRequest request{.again = options_.keep, .keep_count = options_.keep_count};
    request.messages.push_back(unarchived(letter, found, **lineage, is_fifo_name(name)));
    std::string body;
    wire::encode_json(body, request);
    const std::string path = fmt::format("queues/{}/unarchive", percent_encode(name, false));
    Backoff backoff(session_.world.ids, session_.world.sleep);
    while (true) {
      const auto reply = session_.service.manage<documents::UnarchiveResults>("POST", path, body);
      if (reply) return note((*reply)->results);
      if (worth_retrying(reply.error()) && backoff.again()) continue;
      if (reply.error().kind == Failure::Kind::network) return std::unexpected(reply.error());
      may_continue_ = false;
      session_.terminal().err << fmt::format(
          "redrive: messages are restored without their lineage: {}\n",
          harmless(reply.error().message));
      return std::nullopt;
    }
  }

  std::optional<SendOutcome> note(const std::vector<documents::UnarchiveResult>& results) {
    if (results.empty()) return std::nullopt;
    const documents::UnarchiveResult& result = results.front();
    if (!result.message_id) {
      return SendOutcome{.reason = fmt::format("{}: {}", result.code, result.message)};
    }
    ++(result.before ? before_ : restored_);
    return SendOutcome{.confirmed = true};
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
  bool may_continue_ = true;  // Until the server refuses.
  std::uint64_t restored_ = 0;
  std::uint64_t before_ = 0;  // Restored earlier, but left in the archive by a crash.
  std::uint64_t failed_ = 0;
};

Answer<void> run_archive_restore(Session& session, const RestoreOptions& options) {
  if (options.choice.is_all() && !options.all) {
    return usage_failure("select messages by name or condition, or pass --all");
  }
  return Restorer(session, options, TRY(open_archive(options.choice.place, session))).run();
}

}  // namespace

void add_archive_restore(Verb parent, Commands& commands) {
  auto options = std::make_shared<RestoreOptions>();
  Verb verb = parent.verb("restore", "Restore archived messages to a queue");
  add_archive_location(verb, options->choice);
  add_archive_names(verb, options->choice);
  add_archive_conditions(verb, options->choice);
  verb.flag("--all", options->all, "All messages");
  verb.option("--to", options->to, "Queue to send to (default: the source queue of each message)");
  verb.option("--rate", options->rate, "Maximum messages per second").positive();
  verb.flag("--keep", options->keep, "Keep the messages in the archive");
  verb.flag("--keep-count",
            options->keep_count,
            "Keep the retry count, so that the next failure archives again");
  commands.attach(verb,
                  [options](Session& session) { return run_archive_restore(session, *options); });
}

}  // namespace redrive::cli
