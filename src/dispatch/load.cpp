#include "dispatch/load.h"

#include <utility>

#include "events/event_document.h"

namespace redrive::dispatch {
namespace {

// What a record has around its body, about.
constexpr std::size_t kRecordFrame = 640;

}  // namespace

void Load::expect(std::size_t count, std::size_t bytes) {
  if (items.empty()) items.reserve(count);
  event.reserve(event.size() + bytes + count * kRecordFrame);
}

bool Load::add(Item& item, const events::Record& record, std::string_view foot) {
  const bool first = items.empty();
  const std::size_t before = event.size();
  event += first ? events::kEventHead : std::string_view(",");
  item.record_at = event.size();
  events::append_record(event, record, foot);
  if (!first && event.size() + events::kEventFoot.size() > events::kEventBytesMax) {
    event.resize(before);
    return false;
  }
  item.record_size = event.size() - item.record_at;
  items.push_back(std::move(item));
  return true;
}

void Load::close() {
  event += events::kEventFoot;
}

}  // namespace redrive::dispatch
