#include "app/dead_letter_archive.h"

#include <fmt/format.h>

#include <deque>

#include "base/text.h"
#include "core/store/message_codec.h"
#include "dead_letters/archive/document.h"
#include "manage/lineage.h"
#include "net/wire/encode.h"

namespace redrive::app {
namespace {

archive::Letter letter_of(const dead_letters::Peeked& peeked, const store::StoredMessage& stored) {
  archive::Letter letter{.message_id = stored.message_id.text(),
                         .body = std::string(stored.contents.body),
                         .attributes = {},
                         .system_attributes = {}};
  stored.contents.for_each_attribute([&](const store::AttributeView& attribute) {
    letter.attributes.push_back({.name = std::string(attribute.name),
                                 .data_type = std::string(attribute.type),
                                 .value = std::string(attribute.value)});
  });
  const auto note = [&](std::string name, std::string value) {
    if (!value.empty()) letter.system_attributes.emplace_back(std::move(name), std::move(value));
  };
  note("SentTimestamp", fmt::format("{}", stored.sent_wall.ms()));
  note("ApproximateReceiveCount", fmt::format("{}", peeked.receive_count));
  note("DeadLetterQueueSourceArn", peeked.dead_letter_source);
  note("MessageGroupId", std::string(stored.contents.group));
  note("MessageDeduplicationId", std::string(stored.contents.dedup));
  note("AWSTraceHeader", std::string(stored.contents.trace));
  if (!peeked.history) return letter;
  const queue::History& history = *peeked.history;
  if (history.message_id) letter.message_id = history.message_id->text();
  if (history.first_received_wall != Timestamp())
    note("ApproximateFirstReceiveTimestamp", fmt::format("{}", history.first_received_wall.ms()));
  return letter;
}

std::string lineage_text(const dead_letters::Peeked& peeked, const store::StoredMessage& stored) {
  std::deque<std::string> kept;
  const manage::Keep keep = [&](std::string text) -> std::string_view {
    return kept.emplace_back(std::move(text));
  };
  std::string out;
  wire::encode_json(out, manage::lineage_of(peeked, stored.message_id, keep));
  return out;
}

// Of arn:aws:sqs:region:account:name.
std::string account_of(std::string_view arn) {
  const auto parts = split(arn, ':');
  return parts.size() < 6 ? std::string() : std::string(parts[4]);
}

std::unexpected<Error> not_kept(const objects::Failure& failure) {
  return fail(ErrorCode::internal_failure, failure.message);
}

}  // namespace

Result<std::string> archive_dead_letter(objects::Store& store,
                                        const dead_letters::ArchiveItem& item) {
  const auto stored = store::decode_message(item.stored);
  if (!stored) return fail(ErrorCode::internal_failure, "a message does not match its checksum");
  const archive::Letter letter = letter_of(item.message, *stored);
  const std::size_t slash = std::min(item.target.find('/'), item.target.size());
  const std::string bucket = item.target.substr(0, slash);
  const std::string prefix = slash == item.target.size() ? "" : item.target.substr(slash + 1);
  const std::string account = account_of(item.queue_arn);
  if (!store.is_for(bucket, account)) {
    return fail(ErrorCode::access_denied,
                fmt::format("the bucket {} belongs to another account", bucket));
  }
  if (!store.bucket(bucket)) {
    if (const auto made = store.create_bucket(bucket, item.wall, account); !made)
      return not_kept(made.error());
  }
  const std::string key =
      archive::archive_key(prefix, archive::archive_time(letter, item.wall), letter.message_id);
  const std::string document =
      archive::encode_archived({.letter = letter,
                                .source = item.message.dead_letter_source,
                                .dlq = item.queue_arn,
                                .lineage = lineage_text(item.message, *stored)});
  const auto kept = store.put(bucket,
                              {.key = key,
                               .body = document,
                               .content_type = "application/json",
                               .headers = {{"x-amz-meta-lineage-id", stored->message_id.text()}},
                               .modified = item.wall});
  if (!kept) return not_kept(kept.error());
  return fmt::format("s3://{}/{}", bucket, key);
}

Result<manage::ArchivedContents> read_archived_letter(const objects::Store& store,
                                                      std::string_view place,
                                                      std::string_view account) {
  const auto elsewhere = [] {
    return fail(ErrorCode::resource_not_found, "the document is not in a bucket of this server");
  };
  constexpr std::string_view kScheme = "s3://";
  if (!place.starts_with(kScheme)) return elsewhere();
  place.remove_prefix(kScheme.size());
  const std::size_t slash = place.find('/');
  if (slash == place.npos) return elsewhere();
  const std::string bucket(place.substr(0, slash));
  if (!store.bucket(bucket) || !store.is_for(bucket, account)) return elsewhere();
  const auto file = store.get(bucket, place.substr(slash + 1));
  if (!file) return not_kept(file.error());
  const auto text = file->read(0, file->info().size);
  if (!text) return not_kept(text.error());
  const archive::ArchivedLetter found = TRY(archive::decode_archived(*text));
  manage::ArchivedContents contents{
      .body = found.letter.body,
      .attributes = {},
      .group_id = std::string(found.letter.system_attribute("MessageGroupId")),
      .dedup_id = std::string(found.letter.system_attribute("MessageDeduplicationId"))};
  for (const archive::LetterAttribute& attribute : found.letter.attributes) {
    contents.attributes.push_back({.name = attribute.name,
                                   .data_type = attribute.data_type,
                                   .value = attribute.is_binary() ? "" : attribute.value});
  }
  return contents;
}

}  // namespace redrive::app
