// What a receive may take, and what it must.

#include <algorithm>
#include <set>

#include "sim/model.h"
#include "sim/violation.h"

namespace redrive::sim {
namespace {

using queue::MessageKey;
using queue::Phase;
using queue::QueueKey;

// The facts of one receive, by kind.
struct Taken {
  std::vector<MessageKey> delivered;
  std::vector<MessageKey> dead;
  const queue::MessagesReceived* received = nullptr;
  const queue::ReceiveRepeated* repeated = nullptr;

  bool has(MessageKey key) const {
    return std::ranges::find(delivered, key) != delivered.end() ||
           std::ranges::find(dead, key) != dead.end();
  }
};

Taken sort_out(const Record* record) {
  Taken taken;
  if (record == nullptr) return taken;
  for (const queue::Change& fact : record->facts) {
    if (const auto* dead = fact.as<queue::MessageDeadLettered>()) {
      taken.dead.push_back(dead->key);
    } else if (const auto* received = fact.as<queue::MessagesReceived>()) {
      taken.received = received;
      taken.delivered.assign(received->keys.begin(), received->keys.begin() + received->count);
    } else if (const auto* repeated = fact.as<queue::ReceiveRepeated>()) {
      taken.repeated = repeated;
    }
  }
  return taken;
}

using Groups = std::map<std::string, std::vector<MessageKey>>;

// The available messages of each group, in order.
Groups available_by_group(const Model& model, QueueKey queue) {
  Groups groups;
  for (const MessageKey key : model.available(queue)) {
    groups[model.messages().at(key).group].push_back(key);
  }
  return groups;
}

// A group is taken from its first message on without gaps.
std::size_t count_taken_in_order(const std::vector<MessageKey>& group, const Taken& taken) {
  std::size_t count = 0;
  while (count < group.size() && taken.has(group[count])) ++count;
  for (std::size_t i = count; i < group.size(); ++i) {
    require(!taken.has(group[i]),
            "FIFO: a group is received in order",
            "message {} before message {}",
            number(group[i]),
            number(group[count]));
  }
  return count;
}

// Within the response every group is in order and contiguous.
void answer_keeps_groups_together(const Model& model, const Taken& taken) {
  std::set<std::string> done;
  std::string current;
  std::uint64_t last = 0;
  for (const MessageKey key : taken.delivered) {
    const ModelMessage& message = model.messages().at(key);
    if (message.group != current) {
      require(done.insert(message.group).second,
              "FIFO: as many as possible from one group, then the next",
              "group {} twice",
              message.group);
      current = message.group;
      last = 0;
    }
    require(message.order > last,
            "FIFO: a group is received in order",
            "message {} after its successor",
            number(key));
    last = message.order;
  }
}

void fifo_order_is_kept(const Model& model, const Ask& ask, const Taken& taken) {
  answer_keeps_groups_together(model, taken);
  for (const auto& [name, group] : available_by_group(model, ask.queue)) {
    const std::size_t count = count_taken_in_order(group, taken);
    if (count == 0 || count == group.size()) continue;
    require(!taken.delivered.empty() && model.messages().at(taken.delivered.back()).group == name,
            "FIFO: as many as possible from one group, then the next",
            "group {} was left after {} of {}",
            name,
            count,
            group.size());
  }
}

// Nothing is delivered that is hidden, blocked, out of receives or elsewhere.
void only_the_available_is_taken(const Model& model, const Ask& ask, const Taken& taken) {
  const auto free = model.available(ask.queue);
  const std::set<MessageKey> available(free.begin(), free.end());
  std::set<MessageKey> seen;
  for (const auto* list : {&taken.delivered, &taken.dead}) {
    for (const MessageKey key : *list) {
      require(available.contains(key) && seen.insert(key).second,
              "a receive takes only what is available, once",
              "message {} of queue {}",
              number(key),
              number(ask.queue));
    }
  }
}

// With receive_count_max N exactly N receives from the queue deliver; the next one moves it.
// Isolation of retries allows more: see Model::is_spent.
void dead_lettering_is_exact(const Model& model, const Ask& ask, const Taken& taken) {
  constexpr std::string_view kExact = "dead-lettering is exact";
  const auto target = model.dead_letter_target(ask.queue);
  const auto spent = [&](MessageKey key) {
    return target && model.is_spent(model.messages().at(key));
  };
  for (const MessageKey key : taken.delivered) {
    require(!spent(key), kExact, "message {} was delivered once too often", number(key));
  }
  for (const MessageKey key : taken.dead) {
    require(spent(key), kExact, "message {} was moved too early", number(key));
  }
}

// A receive that asks for more than available gets everything.
void nothing_is_withheld(const Model& model, const Ask& ask, const Taken& taken) {
  constexpr std::string_view kNothing = "a receive gives what there is";
  require(taken.delivered.size() <= ask.max, kNothing, "{} asked for", ask.max);
  if (taken.delivered.size() == ask.max) return;
  for (const MessageKey key : model.available(ask.queue)) {
    require(taken.has(key), kNothing, "message {} was left", number(key));
  }
}

}  // namespace

// Every receive counts, except those under isolation that no handler saw. After the last one the
// message is dead-lettered, unless its last run was under isolation and did not judge it: then it
// gets one more, up to ten in a row.
bool Model::is_spent(const ModelMessage& message) const {
  const queue::History& history = message.history;
  const std::uint32_t max = queues_.at(message.queue).settings.redrive->receive_count_max;
  const std::uint32_t here = message.generation() - history.entered_generation;
  if (here < max) return false;
  std::size_t known = history.attempts.size();
  if (history.attempts_total > known) known = 20;
  known = std::min<std::size_t>(known, here);
  std::vector<queue::Attempt> own(history.attempts.end() - static_cast<std::ptrdiff_t>(known),
                                  history.attempts.end());
  if (own.empty() || own.back().isolation == queue::Isolation::off) return true;
  const auto unused = std::erase_if(own, [](const queue::Attempt& attempt) {
    return attempt.isolation == queue::Isolation::not_run;
  });
  if (here - unused < max) return false;
  std::size_t in_vain = 0;
  while (in_vain < own.size()) {
    const queue::Attempt& attempt = own[own.size() - 1 - in_vain];
    const bool alone = attempt.end == queue::AttemptEnd::failed && attempt.company <= 1;
    if (attempt.isolation == queue::Isolation::off || alone) break;
    ++in_vain;
  }
  return in_vain >= 10 || (in_vain == 0 && !own.empty());
}

std::vector<MessageKey> Model::available(QueueKey queue) const {
  std::vector<MessageKey> out;
  std::vector<std::pair<std::uint64_t, MessageKey>> ordered;
  for (const auto& [key, message] : messages_) {
    if (message.queue == queue) ordered.emplace_back(message.order, key);
  }
  std::ranges::sort(ordered);
  const bool fifo = queues_.contains(queue) && queues_.at(queue).settings.is_fifo();
  std::set<std::string> blocked;
  for (const auto& [order, key] : ordered) {
    const ModelMessage& message = messages_.at(key);
    if (message.phase == Phase::visible && !blocked.contains(message.group)) {
      out.push_back(key);
    } else if (fifo) {
      blocked.insert(message.group);
    }
  }
  return out;
}

// The messages of an earlier receive with the same attempt id, if nothing has happened to any of
// them.
std::optional<std::vector<MessageKey>> Model::repeatable(const Ask& ask) const {
  const ModelQueue& queue = queues_.at(ask.queue);
  const auto found = queue.attempts.find(ask.attempt_id);
  if (!queue.settings.is_fifo() || ask.attempt_id.empty() || found == queue.attempts.end()) {
    return std::nullopt;
  }
  std::vector<MessageKey> keys;
  for (const auto& [key, generation] : found->second.messages) {
    const auto message = messages_.find(key);
    if (message == messages_.end() || message->second.queue != ask.queue ||
        message->second.generation() != generation || message->second.phase != Phase::in_flight ||
        message->second.visibility_touched) {
      return std::nullopt;
    }
    keys.push_back(key);
  }
  return keys;
}

void Model::check_receive(const Ask& ask, const Record* record) const {
  const Taken taken = sort_out(record);
  const ModelQueue& queue = queues_.at(ask.queue);
  const Timestamp visible_at =
      now_ + ask.visibility.value_or(Duration(queue.settings.visibility_timeout));
  if (const auto repeat = repeatable(ask)) {
    constexpr std::string_view kSame = "a repeated attempt gives the same messages";
    require(taken.repeated != nullptr && !taken.received && taken.dead.empty(), kSame, "others");
    const auto& keys = taken.repeated->keys;
    require(std::ranges::equal(*repeat, std::span(keys).first(taken.repeated->count)) &&
                taken.repeated->visible_at == visible_at,
            kSame,
            "attempt {}",
            ask.attempt_id);
    return;
  }
  require(taken.repeated == nullptr, "a repeated attempt gives the same messages", "too late");
  only_the_available_is_taken(*this, ask, taken);
  dead_lettering_is_exact(*this, ask, taken);
  nothing_is_withheld(*this, ask, taken);
  if (queue.settings.is_fifo()) fifo_order_is_kept(*this, ask, taken);
  if (taken.received == nullptr) return;
  const std::string_view attempt = queue.settings.is_fifo() ? ask.attempt_id : std::string_view();
  require(taken.received->visible_at == visible_at && taken.received->queue == ask.queue &&
              taken.received->attempt_id == attempt &&
              taken.received->isolated == (ask.isolated && !queue.settings.is_fifo()),
          "a receive hides for as long as was asked",
          "queue {}",
          number(ask.queue));
}

}  // namespace redrive::sim
