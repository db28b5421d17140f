#include "functions/events/batch_result.h"

#include <simdjson.h>

#include <algorithm>
#include <map>
#include <optional>

namespace redrive::events {
namespace {

using Element = simdjson::dom::element;

// Falsy as in scripting languages: null, false, zero, and empty values.
bool is_empty(Element value) {
  using Type = simdjson::dom::element_type;
  switch (value.type()) {
    case Type::NULL_VALUE:
      return true;
    case Type::BOOL:
      return !bool(value);
    case Type::STRING:
      return std::string_view(value).empty();
    case Type::ARRAY:
      return simdjson::dom::array(value).size() == 0;
    case Type::OBJECT:
      return simdjson::dom::object(value).size() == 0;
    default:
      return double(value) == 0;
  }
}

BatchResult all_failed(std::size_t size, std::string fault) {
  return {.fault = std::move(fault), .failed = std::vector<bool>(size, true)};
}

using BatchPlaces = std::map<std::string_view, std::size_t>;

// Sets `failed` for the listed messages; returns an error text if the list is invalid.
std::string mark(simdjson::dom::array list, const BatchPlaces& places, std::vector<bool>& failed) {
  for (const Element item : list) {
    std::string_view id;
    if (item["itemIdentifier"].get(id) != simdjson::SUCCESS || id.empty())
      return "an element of batchItemFailures has no itemIdentifier";
    const auto place = places.find(id);
    if (place == places.end())
      return "itemIdentifier " + std::string(id.substr(0, 100)) + " is not in this batch";
    failed[place->second] = true;
  }
  return {};
}

BatchResult judge(Element answer, std::span<const std::string_view> message_ids) {
  const std::size_t size = message_ids.size();
  if (is_empty(answer)) return judge_whole_batch(size, true);
  simdjson::dom::object object;
  if (answer.get(object) != simdjson::SUCCESS)
    return all_failed(size, "the response is not an object");
  Element failures;
  if (object["batchItemFailures"].get(failures) != simdjson::SUCCESS || is_empty(failures))
    return judge_whole_batch(size, true);
  simdjson::dom::array list;
  if (failures.get(list) != simdjson::SUCCESS)
    return all_failed(size, "batchItemFailures is not a list");
  BatchPlaces places;
  for (std::size_t i = 0; i < size; ++i) places.emplace(message_ids[i], i);
  BatchResult result = judge_whole_batch(size, true);
  std::string fault = mark(list, places, result.failed);
  return fault.empty() ? result : all_failed(size, std::move(fault));
}

}  // namespace

bool BatchResult::all_succeeded() const {
  return failures() == 0;
}

std::size_t BatchResult::failures() const {
  return static_cast<std::size_t>(std::ranges::count(failed, true));
}

BatchResult judge_whole_batch(std::size_t size, bool succeeded) {
  return {.fault = {}, .failed = std::vector<bool>(size, !succeeded)};
}

BatchResult judge_batch(std::string_view response, std::span<const std::string_view> message_ids) {
  // The handler returned nothing.
  if (response.empty()) return judge_whole_batch(message_ids.size(), true);
  simdjson::dom::parser parser;
  Element answer;
  if (parser.parse(response.data(), response.size()).get(answer) != simdjson::SUCCESS)
    return all_failed(message_ids.size(), "the response is not JSON");
  return judge(answer, message_ids);
}

}  // namespace redrive::events
