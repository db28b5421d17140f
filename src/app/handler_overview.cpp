#include "app/handler_overview.h"

#include <string_view>

#include "base/text.h"
#include "core/engine/in_turns.h"
#include "functions/definitions/codec.h"

namespace redrive::app {
namespace {

std::int64_t counted(const auto& counter) {
  return static_cast<std::int64_t>(counter.load(std::memory_order_relaxed));
}

// arn:aws:lambda:REGION:ACCOUNT:function:NAME, with or without a qualifier behind it.
struct FunctionArn {
  std::string region;
  std::string account;
  std::string name;
};
FunctionArn take_apart(std::string_view arn) {
  constexpr std::size_t kParts = 7;
  std::vector<std::string_view> parts;
  for (const std::string_view part : split(arn, ':')) parts.push_back(part);
  if (parts.size() < kParts) return {.region = {}, .account = {}, .name = std::string(arn)};
  return {std::string(parts[3]), std::string(parts[4]), std::string(parts[6])};
}

std::optional<std::string_view> slowed_by(dispatch::Concurrency::Slowed slowed) {
  using Slowed = dispatch::Concurrency::Slowed;
  switch (slowed) {
    case Slowed::no:
      return std::nullopt;
    case Slowed::by_errors:
      return "errors";
    case Slowed::by_throttling:
      return "throttling";
    case Slowed::by_process_limit:
      return "function-processes";
  }
  return std::nullopt;
}

documents::HandlerOverview counts_of(const dispatch::MappingStats& stats) {
  return {.function = {},
          .polling = true,
          .running = counted(stats.running),
          .limit = counted(stats.limit),
          .limit_max = counted(stats.limit_max),
          .slowed_by = slowed_by(stats.slowed),
          .runs = counted(stats.batches),
          .messages = counted(stats.invoked),
          .failed = counted(stats.failed),
          .throttles = counted(stats.throttles)};
}

// One event is one run; a retried event has also failed.
documents::HandlerOverview counts_of(const dispatch::AsyncStats& stats) {
  const std::int64_t failed = counted(stats.retried) + counted(stats.dropped);
  const std::int64_t runs = counted(stats.succeeded) + failed;
  return {.function = {},
          .polling = true,
          .running = counted(stats.running),
          .runs = runs,
          .messages = runs,
          .failed = failed};
}

std::vector<std::string> mapping_documents(engine::Engine& engine) {
  std::vector<std::string> found;
  engine::visit_documents(
      engine, queue::EntryKind::mapping, "", [&](const std::string&, const std::string& document) {
        found.push_back(document);
        return true;
      });
  return found;
}

}  // namespace

std::vector<documents::KeptHandler> handler_overview(engine::Engine& engine,
                                                     const dispatch::Dispatcher& dispatcher) {
  const dispatch::Dispatcher::Stats stats = dispatcher.stats();
  std::vector<documents::KeptHandler> found;
  for (const std::string& document : mapping_documents(engine)) {
    const auto mapping = functions::decode_mapping(document);
    if (!mapping) continue;  // The dispatcher has logged it.
    documents::KeptHandler handler{.account = mapping->account,
                                   .region = mapping->region,
                                   .function = take_apart(mapping->function_arn).name,
                                   .mapping = mapping->id,
                                   .queue_arn = mapping->queue_arn,
                                   .counts = {}};
    const auto own = stats.mappings.find(mapping->id);
    if (own != stats.mappings.end()) handler.counts = counts_of(*own->second);
    handler.counts.enabled = mapping->enabled;
    found.push_back(std::move(handler));
  }
  for (const auto& [arn, own] : stats.functions) {
    const FunctionArn id = take_apart(arn);
    found.push_back({.account = id.account,
                     .region = id.region,
                     .function = id.name,
                     .mapping = {},
                     .queue_arn = {},
                     .counts = counts_of(*own)});
  }
  return found;
}

}  // namespace redrive::app
