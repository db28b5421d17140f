#include "cli/client/queue_document.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "base/text.h"
#include "cli/client/queue_name.h"

namespace redrive::cli {

void announce(Session& session, std::string_view done, std::string_view queue_url) {
  if (session.json) {
    session.terminal().out << json_line(QueueDocument{.queue_url = queue_url});
  } else {
    session.terminal().out << fmt::format("{} {}\n", done, harmless(queue_name_of(queue_url)));
  }
}

std::string_view attribute_of(const sqs::StringMap& attributes, std::string_view name) {
  const auto found = std::ranges::find(attributes, name, &sqs::StringMap::value_type::first);
  return found == attributes.end() ? std::string_view() : found->second;
}

std::optional<DeadLetterTarget> parse_redrive_policy(std::string_view policy) {
  if (policy.empty()) return {};
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  std::string_view arn;
  if (parser.parse(policy.data(), policy.size()).get(object) != simdjson::SUCCESS) return {};
  if (object["deadLetterTargetArn"].get(arn) != simdjson::SUCCESS) return {};
  DeadLetterTarget target{.arn = std::string(arn)};
  std::string_view text;
  if (object["maxReceiveCount"].get(target.receive_count_max) == simdjson::SUCCESS) return target;
  if (object["maxReceiveCount"].get(text) != simdjson::SUCCESS) return target;
  target.receive_count_max = parse_int<std::int64_t>(text).value_or(0);
  return target;
}

std::string format_redrive_policy(const DeadLetterTarget& target) {
  std::string out = R"({"deadLetterTargetArn":)";
  wire::append_json_text(out, target.arn);
  return out + fmt::format(R"(,"maxReceiveCount":{}}})", target.receive_count_max);
}

}  // namespace redrive::cli
