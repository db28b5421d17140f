#include "observe/topology/topology.h"

#include <algorithm>
#include <tuple>

namespace redrive::topology {

bool AllowPolicy::admits(std::string_view source_arn) const {
  if (permission == Permission::all) return true;
  return permission == Permission::by_queue &&
         std::ranges::find(source_arns, source_arn) != source_arns.end();
}

std::string_view Queue::name() const {
  return name_of_arn(arn);
}

std::string_view name_of_arn(std::string_view arn) {
  return arn.substr(arn.find_last_of(':') + 1);
}

Topology::Topology(std::vector<Queue> queues, std::vector<std::string> unseen,
                   std::vector<Handler> handlers)
    : queues_(std::move(queues)), unseen_(std::move(unseen)), handlers_(std::move(handlers)) {
  const auto place = [](const Handler& handler) {
    return std::tie(handler.queue_arn, handler.function, handler.mapping);
  };
  std::ranges::sort(handlers_, {}, place);
  const auto by_name = [](const Queue& a, const Queue& b) {
    return a.name() != b.name() ? a.name() < b.name() : a.arn < b.arn;
  };
  std::ranges::sort(queues_, by_name);
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    by_arn_.emplace(queues_[i].arn, i);
    if (queues_[i].target) sources_[queues_[i].target->arn].push_back(i);
  }
}

const Queue* Topology::find(std::string_view arn) const {
  const auto found = by_arn_.find(std::string(arn));
  return found == by_arn_.end() ? nullptr : &queues_[found->second];
}

std::vector<const Handler*> Topology::handlers_of(std::string_view queue_arn) const {
  std::vector<const Handler*> found;
  for (const Handler& handler : handlers_) {
    if (handler.queue_arn == queue_arn) found.push_back(&handler);
  }
  return found;
}

bool Topology::is_unseen(std::string_view arn) const {
  return std::ranges::find(unseen_, arn) != unseen_.end();
}

const Queue* Topology::target_of(const Queue& queue) const {
  return queue.target ? find(queue.target->arn) : nullptr;
}

std::vector<const Queue*> Topology::sources_of(std::string_view arn) const {
  std::vector<const Queue*> sources;
  const auto found = sources_.find(std::string(arn));
  if (found == sources_.end()) return sources;
  for (const std::size_t index : found->second) sources.push_back(&queues_[index]);
  return sources;
}

std::vector<const Queue*> Topology::loop_of(const Queue& queue) const {
  std::vector<const Queue*> passed = {&queue};
  for (const Queue* next = target_of(queue); next != nullptr; next = target_of(*next)) {
    if (next == &queue) return passed;
    // A loop that does not include this queue.
    if (std::ranges::find(passed, next) != passed.end()) return {};
    passed.push_back(next);
  }
  return {};
}

}  // namespace redrive::topology
