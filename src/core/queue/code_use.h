#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "core/queue/history.h"
#include "core/queue/ids.h"
#include "core/queue/mailbox.h"

// Outcomes by version of code: the counts behind "0 of 12,301 failed so under the version before".

namespace redrive::queue {

// A version of some consumers' code, as ConsumerName::code_key says it. Indices are of this process
// only: journals have the texts.
enum class CodeIndex : std::uint32_t { none = 0 };

// The code keys of consumers, found by the names of their attempts. Each name is read once.
class CodeTable {
 public:
  // `text` is the name's text. If it is empty there is no code yet: while a checkpoint is loaded, a
  // fact may precede the text of a name that it refers to.
  CodeIndex of(NameIndex name, std::string_view text);
  CodeIndex of(std::string_view code_key);
  const std::string& operator[](CodeIndex code) const {
    return texts_[static_cast<std::uint32_t>(code)];
  }
  void clear();

 private:
  std::vector<CodeIndex> by_name_;
  std::vector<std::string> texts_ = {""};
  std::unordered_map<std::string, CodeIndex, TextHash, std::equal_to<>> index_;
};

// Outcomes of messages under one version of code.
struct CodeUse {
  CodeIndex code = CodeIndex::none;
  std::uint64_t processed = 0;  // Deleted after it received them.
  std::uint64_t failed = 0;     // Dead-lettered, and failed with this code before.
  Timestamp first_wall;         // Of the first attempt that counts.
  Timestamp last_wall;          // When the last one was counted.

  friend bool operator==(const CodeUse&, const CodeUse&) = default;
};

inline constexpr std::size_t kCodeUsesMax = 32;

// The most recently used versions, at most kCodeUsesMax: of a queue, or of a failure group, where
// only `failed` is counted. Deterministic, so that replay rebuilds them.
class CodeUses {
 public:
  struct Attempted {
    CodeIndex code = CodeIndex::none;
    Timestamp received_wall;
  };
  void note_processed(const Attempted& attempted, Timestamp wall);
  void note_failed(const Attempted& attempted, Timestamp wall);

  bool empty() const { return uses_.empty(); }
  const std::vector<CodeUse>& all() const { return uses_; }
  // Whether a version was evicted: then a missing version may have been used.
  bool forgot() const { return forgot_; }
  void restore(std::vector<CodeUse> uses, bool forgot);

  friend bool operator==(const CodeUses&, const CodeUses&) = default;

 private:
  CodeUse& use(const Attempted& attempted, Timestamp wall);

  std::vector<CodeUse> uses_;
  bool forgot_ = false;
};

// The attempts of a message's present life that failed: by an error, or because their time was
// over; the last one if none did. Those judged alone, if there are any.
std::vector<Attempt> failed_attempts(const History& history);

// One version of a function was put into service.
struct Deploy {
  std::string code;  // As ConsumerName::code.
  Timestamp wall;

  friend bool operator==(const Deploy&, const Deploy&) = default;
};
inline constexpr std::size_t kDeploysKept = 16;  // Of each function.

}  // namespace redrive::queue
