#include "core/queue/error_table.h"

#include <algorithm>
#include <functional>

namespace redrive::queue {

std::size_t ErrorTable::Hash::operator()(const ErrorText& text) const {
  std::size_t mixed = 0;
  for (const std::string* part :
       {&text.type, &text.message, &text.stack, &text.fingerprint, &text.log}) {
    mixed = (mixed ^ std::hash<std::string>{}(*part)) * 0x9e3779b97f4a7c15ull;
  }
  return mixed;
}

ErrorKey ErrorTable::find(const ErrorText& text) const {
  const auto found = keys_.find(text);
  return found == keys_.end() ? ErrorKey::none : found->second;
}

const ErrorText* ErrorTable::find(ErrorKey key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second.text;
}

void ErrorTable::learn(ErrorKey key, ErrorText text) {
  note_last(key);
  Entry& entry = entries_[key];
  keys_.insert_or_assign(text, key);
  if (entry.text == text) return;  // A checkpoint repeats what is known.
  bytes_ += text.bytes();
  entry.text = std::move(text);
}

void ErrorTable::hold(ErrorKey key) {
  if (key != ErrorKey::none) ++entries_[key].holds;
}

void ErrorTable::let_go(ErrorKey key, bool keep) {
  const auto found = entries_.find(key);
  if (key == ErrorKey::none || found == entries_.end() || found->second.holds == 0) return;
  if (--found->second.holds == 0 && !keep) erase(found);
}

void ErrorTable::erase(std::map<ErrorKey, Entry>::iterator at) {
  bytes_ -= at->second.text.bytes();
  if (find(at->second.text) == at->first) keys_.erase(at->second.text);
  entries_.erase(at);
}

void ErrorTable::forget_unheld() {
  for (auto at = entries_.begin(); at != entries_.end();) {
    const auto next = std::next(at);
    if (at->second.holds == 0) erase(at);
    at = next;
  }
}

void ErrorTable::clear() {
  entries_.clear();
  keys_.clear();
  bytes_ = 0;
}

}  // namespace redrive::queue
