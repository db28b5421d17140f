#include "cli/client/mapping_lookup.h"

#include <fmt/format.h>

#include <vector>

#include "base/ids.h"
#include "base/text.h"
#include "cli/client/queue_name.h"

namespace redrive::cli {
namespace {

constexpr std::size_t kPrefixBytesMin = 4;

}  // namespace

Answer<void> for_each_mapping(Session& session,
                              const std::function<void(const documents::MappingDocument&)>& visit) {
  std::string marker;
  do {
    const auto page = TRY(session.service.lambda<documents::MappingList>(
        "GET",
        fmt::format("2015-03-31/event-source-mappings?Marker={}", percent_encode(marker, false))));
    for (const documents::MappingDocument& each : page->mappings) visit(each);
    marker = page->next_marker.value_or("");
  } while (!marker.empty());
  return {};
}

std::string_view function_name_of(std::string_view arn) {
  constexpr std::string_view kPart = ":function:";
  const std::size_t part = arn.find(kPart);
  if (part == arn.npos) return arn;
  arn.remove_prefix(part + kPart.size());
  return arn.substr(0, arn.find(':'));
}

Answer<std::string> find_mapping(Session& session, std::string_view called) {
  if (Uuid::parse(called)) return std::string(called);
  const std::string_view queue = queue_name_of(called);
  std::vector<std::string> found;
  RETURN_IF_ERROR(for_each_mapping(session, [&](const documents::MappingDocument& each) {
    if (queue_name_of(each.event_source_arn) == queue ||
        function_name_of(each.function_arn) == function_name_of(called)) {
      found.emplace_back(each.uuid);
    }
  }));
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    RETURN_IF_ERROR(for_each_mapping(session, [&](const documents::MappingDocument& each) {
      if (called.size() >= kPrefixBytesMin && each.uuid.starts_with(called)) {
        found.emplace_back(each.uuid);
      }
    }));
    if (found.size() == 1) return found.front();
  }
  return std::unexpected(Failure{
      .kind = Failure::Kind::refused,
      .code = "",
      .message = found.empty() ? fmt::format("{} has no mapping", called)
                               : fmt::format("{} has {} mappings; pass one of their ids: {}",
                                             called,
                                             found.size(),
                                             fmt::join(found, ", "))});
}

}  // namespace redrive::cli
