#include "functions/events/item_causes.h"

#include <simdjson.h>

#include <algorithm>

#include "functions/events/log_causes.h"
#include "functions/events/log_entries.h"

namespace redrive::events {
namespace {

using Element = simdjson::dom::element;
using Causes = std::vector<ItemCause>;
using Source = ItemCause::Source;

// {"itemIdentifier": …, "errorType": …}, or with the error as a nested object.
wire::ReportedError error_of_item(Element item) {
  auto error = wire::read_error(item, wire::ErrorFields::document);
  Element nested;
  if (error.empty() && item["error"].get(nested) == simdjson::SUCCESS)
    error = wire::read_error(nested, wire::ErrorFields::object);
  return error;
}

void read_response(std::string_view response, const IdPlaces& places, Causes& causes) {
  simdjson::dom::parser parser;
  Element answer;
  simdjson::dom::array list;
  if (parser.parse(response.data(), response.size()).get(answer) != simdjson::SUCCESS) return;
  if (answer["batchItemFailures"].get(list) != simdjson::SUCCESS) return;
  for (const Element item : list) {
    std::string_view id;
    if (item["itemIdentifier"].get(id) != simdjson::SUCCESS) continue;
    const auto place = places.find(id);
    if (place == places.end()) continue;
    auto error = error_of_item(item);
    if (!error.empty()) causes[place->second] = {Source::reported, std::move(error)};
  }
}

std::optional<std::size_t> place_named_by(Element child, const IdPlaces& places) {
  for (const std::string_view name : {"messageId", "itemIdentifier", "message_id"}) {
    std::string_view id;
    if (child[name].get(id) != simdjson::SUCCESS) continue;
    if (const auto found = places.find(id); found != places.end()) return found->second;
  }
  return std::nullopt;
}

Causes match_children(simdjson::dom::array children,
                      std::span<const std::string_view> message_ids) {
  const IdPlaces places = id_places(message_ids);
  const bool one_each = children.size() == message_ids.size();
  Causes causes(message_ids.size());
  std::size_t at = 0;
  for (const Element child : children) {
    const std::size_t order = at++;
    auto place = place_named_by(child, places);
    if (!place && one_each) place = order;
    if (!place || causes[*place].source != Source::none) continue;
    auto error = wire::read_error(child, wire::ErrorFields::object);
    if (!error.empty()) causes[*place] = {Source::reported, std::move(error)};
  }
  return causes;
}

}  // namespace

Causes item_causes(std::string_view response, std::string_view log,
                   std::span<const std::string_view> message_ids, const std::vector<bool>& failed) {
  Causes causes(message_ids.size());
  if (failed.size() != message_ids.size()) return causes;
  read_response(response, id_places(message_ids), causes);
  std::vector<bool> known(failed.size());
  for (std::size_t i = 0; i < failed.size(); ++i) known[i] = causes[i].source != Source::none;
  if (known == failed) return causes;
  auto logged = log_causes(log, message_ids, failed, known);
  for (std::size_t i = 0; i < causes.size(); ++i)
    if (!logged[i].empty()) causes[i] = {Source::log, std::move(logged[i])};
  return causes;
}

Causes attached_causes(std::string_view error_document,
                       std::span<const std::string_view> message_ids) {
  simdjson::dom::parser parser;
  Element document;
  if (parser.parse(error_document.data(), error_document.size()).get(document) != simdjson::SUCCESS)
    return {};
  for (const std::string_view name : {"recordErrors", "errors"}) {
    simdjson::dom::array children;
    if (document[name].get(children) != simdjson::SUCCESS) continue;
    Causes causes = match_children(children, message_ids);
    if (std::ranges::find(causes, Source::none, &ItemCause::source) == causes.end()) return causes;
  }
  return {};
}

}  // namespace redrive::events
