#include "core/catalogue/documents.h"

namespace redrive::catalogue {

Edits& Edits::put(EntryKind kind, std::string name, std::string document) {
  const std::string_view kept_name = keep(std::move(name));
  changes_.push_back(queue::EntryPut{kind, kept_name, keep(std::move(document))});
  return *this;
}

Edits& Edits::remove(EntryKind kind, std::string name) {
  changes_.push_back(queue::EntryRemoved{kind, keep(std::move(name))});
  return *this;
}

Edits& Edits::deploy(std::string function_role, std::string code, const engine::Turn& turn) {
  changes_.push_back(
      queue::CodeDeployed{keep(std::move(function_role)), {{std::move(code), turn.stamp().wall}}});
  return *this;
}

void Edits::commit(engine::Turn& turn) {
  if (changes_.empty()) return;
  turn.commit(changes_);
  changes_.clear();
}

void put(engine::Turn& turn, EntryKind kind, std::string_view name, std::string_view document) {
  turn.commit(queue::EntryPut{kind, name, document});
}

void remove(engine::Turn& turn, EntryKind kind, std::string_view name) {
  turn.commit(queue::EntryRemoved{kind, name});
}

}  // namespace redrive::catalogue
