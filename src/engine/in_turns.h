#pragma once

#include <cstddef>
#include <optional>

#include "engine/engine.h"

namespace redrive::engine {

// Visits every entry of a map of the state, a few in each turn, so that a long list never holds the
// turn for longer than these take. Entries that come or go meanwhile may be seen or not.
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
    }
    return false;
  };
  while (engine.turn(look)) engine.give_way();
}

}  // namespace redrive::engine
