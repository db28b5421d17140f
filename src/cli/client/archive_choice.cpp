#include "cli/client/archive_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/calendar.h"
#include "cli/client/queue_name.h"
#include "cli/client/service.h"
#include "manage/documents/message_page.h"

namespace redrive::cli {
namespace {

// Range of archive times.
struct TimeSpan {
  Timestamp since;
  Timestamp until = kNever;
};

Answer<Timestamp> parse_moment(const std::string& text) {
  const bool day_only = text.size() == 10;
  const auto time = parse_utc(day_only ? text + "T00:00:00Z" : text);
  if (time) return *time;
  return usage_failure(
      fmt::format("'{}' is not a time such as 2026-11-16 or 2026-11-16T12:00:00Z", text));
}

Answer<TimeSpan> span_of(const ArchiveChoice& choice) {
  TimeSpan span;
  if (!choice.date.empty()) {
    span.since = TRY(parse_moment(choice.date.substr(0, 10)));
    span.until = span.since + std::chrono::hours(24);
  }
  if (!choice.since.empty()) span.since = std::max(span.since, TRY(parse_moment(choice.since)));
  if (!choice.until.empty()) span.until = std::min(span.until, TRY(parse_moment(choice.until)));
  return span;
}

bool is_named(const ArchiveChoice& choice, const std::string& key, const std::string& message_id) {
  if (choice.names.empty()) return true;
  return std::ranges::any_of(
      choice.names, [&](const std::string& name) { return name == key || name == message_id; });
}

bool needs_document(const ArchiveChoice& choice) {
  return !choice.text.empty() || !choice.queue.empty() || !choice.group.empty();
}

bool has_text(const archive::Letter& letter, const std::string& text) {
  if (text.empty() || letter.body.find(text) != std::string::npos) return true;
  return std::ranges::any_of(letter.attributes, [&](const auto& attribute) {
    return attribute.value.find(text) != std::string::npos;
  });
}

bool is_of_failure_group(const archive::ArchivedLetter& archived, const std::string& group) {
  if (archived.lineage.empty()) return false;
  const auto lineage = Reply<documents::Lineage>::decode(archived.lineage);
  return lineage && (*lineage)->failure_group == group;
}

bool fits_document(const ArchiveChoice& choice, const archive::ArchivedLetter& archived) {
  const bool queue = choice.queue.empty() ||
                     queue_name_of(archived.source) == queue_name_of(choice.queue) ||
                     queue_name_of(archived.dlq) == queue_name_of(choice.queue);
  const bool group = choice.group.empty() ||
                     archived.letter.system_attribute("MessageGroupId") == choice.group ||
                     is_of_failure_group(archived, choice.group);
  return queue && group && has_text(archived.letter, choice.text);
}

// Reads the document. Returns false if it is not selected or does not exist.
Answer<bool> read_document(Session& session, const ArchiveChoice& choice,
                           archive::ArchiveTarget& target, FoundLetter& found) {
  auto document = target.get(found.entry.key);
  if (!document) {
    if (document.error().code == ErrorCode::resource_not_found) return false;
    return std::unexpected(failure_of_archive(document.error()));
  }
  auto contents = archive::decode_archived(*document);
  if (!contents) {
    session.terminal().err << fmt::format(
        "redrive: {}: {}\n", harmless(found.entry.key), harmless(contents.error().message));
    return false;
  }
  found.document = *std::move(document);
  found.contents = *std::move(contents);
  if (found.contents.letter.message_id.empty()) {
    found.contents.letter.message_id = found.key.message_id;
  }
  return fits_document(choice, found.contents);
}

}  // namespace

std::unexpected<Failure> nothing_archived() {
  return std::unexpected(Failure{Failure::Kind::refused, "", "no such message in the archive"});
}

bool ArchiveChoice::is_all() const {
  return names.empty() && date.empty() && since.empty() && until.empty() && text.empty() &&
         queue.empty() && group.empty();
}

void add_archive_location(Verb verb, ArchiveChoice& choice) {
  verb.option("ARCHIVE", choice.place.location, "s3://bucket/prefix or file:///directory")
      .required();
  add_archive_place_options(verb, choice.place);
}

void add_archive_names(Verb verb, ArchiveChoice& choice) {
  verb.option("MESSAGE", choice.names, "Keys or message ids").many();
}

void add_archive_conditions(Verb verb, ArchiveChoice& choice) {
  verb.option("--date", choice.date, "Archived on this day (UTC)").value_name("2026-11-16");
  verb.option("--since", choice.since, "Archived at or after this time").value_name("TIME");
  verb.option("--until", choice.until, "Archived before this time").value_name("TIME");
  verb.option("--text", choice.text, "Text in the body or in an attribute value");
  verb.option("--queue", choice.queue, "Name of the source queue or dead-letter queue");
  verb.option("--group", choice.group, "Message group or failure group id");
}

Answer<void> for_each_chosen(Session& session, const ArchiveChoice& choice,
                             archive::ArchiveTarget& target, const std::string& prefix,
                             Reading reading,
                             const std::function<Answer<void>(const FoundLetter&)>& visit) {
  const TimeSpan span = TRY(span_of(choice));
  std::string below = prefix.empty() ? "" : prefix + "/";
  if (!choice.date.empty()) below += archive::archive_day(span.since) + "/";
  std::string next;
  do {
    auto page = target.list(below, next);
    if (!page) return std::unexpected(failure_of_archive(page.error()));
    for (archive::ArchiveEntry& entry : page->entries) {
      auto key = archive::parse_archive_key(entry.key);
      if (!key || key->time < span.since || key->time >= span.until) continue;
      if (!is_named(choice, entry.key, key->message_id)) continue;
      FoundLetter found{.entry = std::move(entry), .key = *std::move(key)};
      const bool wanted = reading == Reading::always || needs_document(choice);
      if (wanted && !TRY(read_document(session, choice, target, found))) continue;
      RETURN_IF_ERROR(visit(found));
    }
    next = page->next;
  } while (!next.empty());
  return {};
}

}  // namespace redrive::cli
