#include "stack/stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace redrive::stack {
namespace {

// Sorts the queues of a stack after their dead-letter queues.
class QueueOrder {
 public:
  explicit QueueOrder(std::vector<Resource> queues) : queues_(std::move(queues)) {}

  Result<std::vector<Resource>> take() {
    for (Resource& queue : queues_) RETURN_IF_ERROR(visit(queue));
    return std::move(ordered_);
  }

 private:
  Result<void> visit(Resource& queue) {
    if (done_.contains(queue.name)) return {};
    if (!begun_.insert(queue.name).second) {
      return fail(ErrorCode::usage,
                  fmt::format("{}: its dead-letter queues form a loop", queue.title()));
    }
    const auto policy = read_json(queue.properties["RedrivePolicy"].scalar());
    if (policy) {
      const std::string target(last_part((*policy)["deadLetterTargetArn"].scalar()));
      const auto found = std::ranges::find(queues_, target, &Resource::name);
      if (found != queues_.end()) RETURN_IF_ERROR(visit(*found));
    }
    done_.insert(queue.name);
    ordered_.push_back(queue);
    return {};
  }

  std::vector<Resource> queues_;
  std::vector<Resource> ordered_;
  std::set<std::string> begun_;
  std::set<std::string> done_;
};

}  // namespace

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::bucket:
      return "bucket";
    case Kind::queue:
      return "queue";
    case Kind::function:
      return "function";
    case Kind::invoke_config:
      return "invocation of";
    case Kind::mapping:
      return "mapping";
    case Kind::alarm:
      return "alarm";
  }
  return "";
}

std::string_view last_part(std::string_view arn) {
  return arn.substr(arn.rfind(':') + 1);
}

std::string mapping_name(std::string_view queue_arn, std::string_view function_name) {
  return fmt::format("{} {}", queue_arn, function_name);
}

std::string Resource::title() const {
  if (kind != Kind::mapping) return fmt::format("{} {}", kind_name(kind), name);
  const std::size_t blank = name.find(' ');
  return fmt::format("mapping {} → {}",
                     last_part(std::string_view(name).substr(0, blank)),
                     name.substr(blank + 1));
}

std::string Surroundings::arn(std::string_view service, std::string_view rest) const {
  return fmt::format("arn:aws:{}:{}:{}:{}", service, region, account, rest);
}

std::string Surroundings::queue_url(std::string_view name) const {
  std::string_view base = endpoint;
  while (base.ends_with('/')) base.remove_suffix(1);
  return fmt::format("{}/{}/{}", base, account, name);
}

std::string Surroundings::function_arn(std::string_view name) const {
  return arn("lambda", fmt::format("function:{}", name));
}

Result<void> put_in_order(Stack& stack) {
  std::set<std::pair<Kind, std::string>> names;
  for (const Resource& resource : stack.resources) {
    if (names.emplace(resource.kind, resource.name).second) continue;
    return fail(ErrorCode::usage, fmt::format("{} is defined twice", resource.title()));
  }
  std::ranges::stable_sort(stack.resources, {}, &Resource::kind);
  const auto queues = std::ranges::equal_range(stack.resources, Kind::queue, {}, &Resource::kind);
  auto ordered = TRY(QueueOrder({queues.begin(), queues.end()}).take());
  std::ranges::move(ordered, queues.begin());
  return {};
}

}  // namespace redrive::stack
