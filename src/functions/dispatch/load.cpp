#include "functions/dispatch/load.h"

#include <utility>

namespace redrive::dispatch {
namespace {

// Approximate size of a record without its body.
constexpr std::size_t kRecordFrame = 640;

}  // namespace

void Load::expect(std::size_t count, std::size_t bytes) {
  if (items.empty()) items.reserve(count);
  event.reserve(event.size() + bytes + count * kRecordFrame);
}

bool Load::add(Item& item, const events::Record& record, const events::EventFrame& frame) {
  const bool first = items.empty();
  const std::size_t before = event.size();
  event += first ? std::string_view(frame.head) : frame.separator;
  item.record_at = event.size();
  events::append_record(event, record, frame);
  if (!first && event.size() + frame.foot.size() > events::kEventBytesMax) {
    event.resize(before);
    return false;
  }
  item.record_size = event.size() - item.record_at;
  items.push_back(std::move(item));
  return true;
}

void Load::close(const events::EventFrame& frame) {
  events::end_event(event, items.size(), frame);
}

}  // namespace redrive::dispatch
