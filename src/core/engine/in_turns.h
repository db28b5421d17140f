#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/engine/engine.h"

namespace redrive::engine {

// Visits every entry of a map of the state, a few in each turn, so that a long list never holds the
// turn for long. Entries that are added or removed meanwhile may be visited or not.
template <class Map, class Visit>
void visit_in_turns(Engine& engine, const Map& (queue::State::*map_of)() const,
                    std::size_t entries_per_turn, const Visit& visit) {
  std::optional<typename Map::key_type> next;
  const auto look = [&](Turn& turn) {
    const Map& map = (turn.state().*map_of)();
    auto at = next ? map.lower_bound(*next) : map.begin();
    for (std::size_t seen = 0; at != map.end(); ++at, ++seen) {
      if (seen == entries_per_turn) {
        next = at->first;
        return true;
      }
      visit(turn, at->first, at->second);
      turn.state().count_work(1);
    }
    return false;
  };
  while (engine.turn(look)) engine.give_way();
}

// Calls visit(name, document) for all documents of a kind whose names begin so, until it returns
// false. Some are copied in each turn, and visited (and decoded) outside of it.
template <class Visit>
void visit_documents(Engine& engine, queue::EntryKind kind, std::string_view prefix,
                     const Visit& visit) {
  constexpr std::size_t kDocumentsPerTurn = 64;
  constexpr std::size_t kDocumentBytesPerTurn = 64u << 10;
  std::pair<queue::EntryKind, std::string> next(kind, prefix);
  std::vector<std::pair<std::string, std::string>> some;
  const auto copy_some = [&](Turn& turn) {
    const auto& entries = turn.state().entries();
    std::size_t bytes = 0;
    for (auto at = entries.lower_bound(next); at != entries.end(); ++at) {
      const auto& [its_kind, name] = at->first;
      if (its_kind != kind || !name.starts_with(prefix)) return false;
      if (some.size() == kDocumentsPerTurn || bytes >= kDocumentBytesPerTurn) {
        next = at->first;
        return true;
      }
      some.emplace_back(name, at->second);
      bytes += at->second.size();
      turn.state().count_work(1 + at->second.size() / 1024);
    }
    return false;
  };
  for (bool more = true; more;) {
    some.clear();
    more = engine.turn(copy_some);
    for (const auto& [name, document] : some) {
      if (!visit(name, document)) return;
    }
    if (more) engine.give_way();
  }
}

}  // namespace redrive::engine
