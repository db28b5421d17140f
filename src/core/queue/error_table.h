#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/queue/ids.h"

namespace redrive::queue {

// A failure report. Empty: not given.
struct ErrorText {
  std::string type;
  std::string message;
  std::string stack;
  std::string fingerprint;  // The consumer's own grouping key.
  std::string log;          // The end of what it wrote to its log.

  friend auto operator<=>(const ErrorText&, const ErrorText&) = default;
  std::size_t bytes() const {
    return type.size() + message.size() + stack.size() + fingerprint.size() + log.size();
  }
};

// The errors that live messages refer to, each text once however many messages have it.
class ErrorTable {
 public:
  // Limit for all texts together: beyond it only the types of new errors are kept.
  static constexpr std::size_t kBytesMax = 64u << 20;

  // The key of exactly this text; none if unknown.
  ErrorKey find(const ErrorText& text) const;
  const ErrorText* find(ErrorKey key) const;
  bool full() const { return bytes_ >= kBytesMax; }
  // Logs differ with every failure: they must not take the space of errors.
  bool has_room_for_logs() const { return bytes_ < kBytesMax / 2; }
  std::size_t size() const { return entries_.size(); }
  ErrorKey last() const { return last_; }

  // Adds a text. It stays while something refers to it, see let_go.
  void learn(ErrorKey key, ErrorText text);
  void note_last(ErrorKey key) { last_ = std::max(last_, key); }
  void hold(ErrorKey key);
  // With `keep`, a text without references stays: a message that refers to it may not be loaded
  // yet.
  void let_go(ErrorKey key, bool keep);
  void forget_unheld();
  void clear();

  struct Entry {
    ErrorText text;
    std::uint64_t holds = 0;
  };
  const std::map<ErrorKey, Entry>& entries() const { return entries_; }

 private:
  struct Hash {
    std::size_t operator()(const ErrorText& text) const;
  };
  void erase(std::map<ErrorKey, Entry>::iterator at);

  std::map<ErrorKey, Entry> entries_;
  std::unordered_map<ErrorText, ErrorKey, Hash> keys_;
  std::size_t bytes_ = 0;
  ErrorKey last_ = ErrorKey::none;
};

}  // namespace redrive::queue
