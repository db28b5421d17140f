#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/turn.h"
#include "core/queue/change.h"

// Documents of the catalogue: functions, mappings, roles, alarms, parameters and settings. Modules
// outside of core and dead_letters record nothing but through this module, so that facts are made
// in a few places (scripts/check_modules.py).
namespace redrive::catalogue {

using queue::EntryKind;

// Documents that change together: one record, so that a crash leaves all of the changes or none.
class Edits {
 public:
  Edits& put(EntryKind kind, std::string name, std::string document);
  Edits& remove(EntryKind kind, std::string name);
  // That this code was put into service for a function, at the time of the turn.
  Edits& deploy(std::string function_role, std::string code, const engine::Turn& turn);
  bool empty() const { return changes_.empty(); }
  // Records the changes, if there are any. Call it once.
  void commit(engine::Turn& turn);

 private:
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  std::deque<std::string> texts_;  // Facts point at texts.
  std::vector<queue::Change> changes_;
};

// A single change.
void put(engine::Turn& turn, EntryKind kind, std::string_view name, std::string_view document);
void remove(engine::Turn& turn, EntryKind kind, std::string_view name);

}  // namespace redrive::catalogue
