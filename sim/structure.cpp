// Checks the lists, heaps and indexes of a mailbox from outside.

#include <algorithm>
#include <map>
#include <set>

#include "sim/invariants.h"
#include "sim/violation.h"

namespace redrive::sim {
namespace {

using queue::Mailbox;
using queue::Message;
using queue::MessageKey;
using queue::MessageTable;
using queue::Phase;
using queue::Slot;

constexpr std::string_view kAgree = "mailbox structures agree";

// The messages of one mailbox according to the table.
struct Members {
  std::vector<Slot> slots;
  std::array<std::size_t, 3> phases{};
  std::set<std::string_view> groups;
};

std::map<std::uint32_t, Members> members_by_mailbox(const queue::State& state) {
  const MessageTable& table = state.messages();
  std::map<std::uint32_t, Members> all;
  std::size_t live = 0;
  for (Slot slot = 0; slot < table.end(); ++slot) {
    const Message& message = table[slot];
    if (message.key == MessageKey::none) continue;
    ++live;
    require(
        table.find(message.key) == slot, kAgree, "message {} in the index", number(message.key));
    if (state.is_buried(slot)) continue;
    Members& members = all[message.mailbox];
    members.slots.push_back(slot);
    ++members.phases[static_cast<std::size_t>(message.phase)];
    if (const auto group = state.group_of(slot); !group.empty()) members.groups.insert(group);
  }
  require(live == table.size(), kAgree, "{} messages, the table says {}", live, table.size());
  return all;
}

void counts_agree(const Mailbox& box, const Members& members) {
  require(box.visible() == members.phases[0] && box.in_flight() == members.phases[1] &&
              box.delayed() == members.phases[2] && box.groups() == members.groups.size(),
          kAgree,
          "queue {}: counts",
          number(box.owner()));
}

void ages_agree(const MessageTable& table, const Mailbox& box, const Members& members) {
  std::vector<Slot> visited;
  box.for_each([&](Slot slot) { visited.push_back(slot); });
  std::ranges::sort(visited);
  require(visited == members.slots, kAgree, "queue {}: its ages", number(box.owner()));
  const Slot oldest = box.oldest();
  for (const Slot slot : members.slots) {
    require(table[oldest].sent_at <= table[slot].sent_at,
            kAgree,
            "queue {}: message {} is not the oldest",
            number(box.owner()),
            number(table[oldest].key));
  }
}

void timers_agree(const MessageTable& table, const Mailbox& box, const Members& members) {
  const std::vector<Slot>& heap = box.hidden();
  require(heap.size() == members.slots.size() - members.phases[0],
          kAgree,
          "queue {}: its timers",
          number(box.owner()));
  for (std::size_t i = 0; i < heap.size(); ++i) {
    const Message& message = table[heap[i]];
    const Message& above = table[heap[i == 0 ? 0 : (i - 1) / 2]];
    require(message.timer == i && message.phase != Phase::visible &&
                above.visible_at <= message.visible_at,
            kAgree,
            "queue {}: the timer of message {}",
            number(box.owner()),
            number(message.key));
  }
}

}  // namespace

void mailbox_structures_agree(const queue::State& state) {
  const auto all = members_by_mailbox(state);
  for (const auto& [identity, queue] : state.queues()) {
    const Mailbox& box = state.mailbox(*queue);
    const auto found = all.find(queue->mailbox);
    const Members& members = found == all.end() ? Members{} : found->second;
    require(box.owner() == queue->key, kAgree, "{}: its mailbox", identity.name);
    counts_agree(box, members);
    if (members.slots.empty()) continue;
    ages_agree(state.messages(), box, members);
    timers_agree(state.messages(), box, members);
  }
}

void walks_find_what_is_available(const View& view) {
  for (const auto& [key, queue] : view.model.queues()) {
    std::map<std::string, std::vector<MessageKey>> seen;
    queue::ReadyWalk walk(view.state.mailbox(*view.state.find(key)));
    for (Slot slot = walk.next(); slot != queue::kNoSlot; slot = walk.next()) {
      seen[std::string(view.state.group_of(slot))].push_back(view.state.messages()[slot].key);
    }
    std::map<std::string, std::vector<MessageKey>> expected;
    for (const MessageKey message : view.model.available(key)) {
      expected[view.model.messages().at(message).group].push_back(message);
    }
    if (!queue.settings.is_fifo()) {  // The order is unspecified.
      for (auto& [group, keys] : seen) std::ranges::sort(keys);
      for (auto& [group, keys] : expected) std::ranges::sort(keys);
    }
    require(seen == expected, "walks find what is available", "{}", queue.identity.name);
  }
}

}  // namespace redrive::sim
