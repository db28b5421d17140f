// Sends records of a batch's messages to destinations.

#include <algorithm>

#include "functions/dispatch/batch_run.h"
#include "functions/dispatch/delivery.h"

namespace redrive::dispatch {
namespace {

events::InvocationOutcome described(const runtime::Outcome& outcome) {
  return {.status = 200,
          .executed_version = "$LATEST",
          .function_error = outcome.kind == runtime::Outcome::Kind::function_error,
          .payload = outcome.payload};
}

}  // namespace

std::string BatchRun::document_of(std::span<const Item> items, const Story& story) {
  std::vector<std::string> ids;
  std::vector<std::string> records;
  for (const Item& item : items) {
    ids.push_back(item.message_id.text());
    records.push_back(events::json_of_record(record_of(item), plan_.frame));
  }
  const std::vector<std::string_view> id_views(ids.begin(), ids.end());
  const std::vector<std::string_view> record_views(records.begin(), records.end());
  const auto [first, last] =
      std::ranges::minmax(items, {}, [](const Item& item) { return item.sent_wall; });
  return events::write_batch_record({.wall = parts_.world->wall(),
                                     .request_id = request_id_,
                                     .function_arn = plan_.mapping.function_arn,
                                     .condition = story.condition,
                                     .invoke_count = story.invoke_count,
                                     .outcome = story.outcome != nullptr
                                                    ? std::optional(described(*story.outcome))
                                                    : std::nullopt,
                                     .reported_by_item = story.by_item,
                                     .queue_arn = plan_.mapping.queue_arn,
                                     .message_ids = id_views,
                                     .first_arrival = first.sent_wall,
                                     .last_arrival = last.sent_wall,
                                     .records = record_views});
}

// One document for all items or, if that would exceed the message size limit, one for each.
std::vector<std::string> BatchRun::documents_of(const std::vector<Item>& items,
                                                const Story& story) {
  std::string whole = document_of(items, story);
  if (whole.size() <= queue::kMessageBytesMax || items.size() == 1) return {std::move(whole)};
  std::vector<std::string> each;
  for (const Item& item : items) each.push_back(document_of(std::span(&item, 1), story));
  return each;
}

void BatchRun::send_away(const Destination& to, std::vector<Item> items, const Story& story,
                         std::function<void(const std::vector<Item>&)> undelivered) {
  World& world = *parts_.world;
  Delivery delivery{.to = to,
                    .from = plan_.queue,
                    .handles = {},
                    .documents = documents_of(items, story),
                    .object_key = events::batch_record_key(
                        plan_.mapping.id, plan_.queue.name, world.wall(), world.ids.uuid().text()),
                    .sender = plan_.spec->name};
  for (const Item& item : items) delivery.handles.emplace_back(item.handle);
  ++deliveries_;
  const bool success = story.condition == "Success";
  deliver(parts_.world,
          std::move(delivery),
          [self = shared_from_this(), items = std::move(items), success, undelivered](
              const Result<void>& delivered) {
            --self->deliveries_;
            forget(items);
            MappingStats& stats = *self->parts_.stats;
            if (delivered) {
              (success ? stats.deleted : stats.sent_on_failure) += items.size();
            } else {
              self->parts_.world->log(
                  "mapping " + self->plan_.mapping.id +
                  ": a destination did not accept a record: " + delivered.error().message);
              undelivered(items);
            }
            self->finish_if_over();
          });
}

}  // namespace redrive::dispatch
