#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "dead_letters/triage/secrets.h"
#include "front/gate.h"
#include "net/wire/sensitive.h"

namespace redrive::front {

// Whether secrets in an answer are masked, and how.
//
// For the role reader they are always masked; for other callers unless the request says
// `unmasked=true`, which the audit log records. Answers of SQS are not masked: a consumer needs
// what was sent.
class Masking {
 public:
  // `rules` may be null.
  Masking(const Caller& caller, std::string_view query_string,
          std::shared_ptr<const triage::MaskRules> rules);

  bool masked() const { return masked_; }
  // Whether the request asked for secrets, granted or not.
  bool asked_for_secrets() const { return asked_; }

  // Masks every sensitive member of a document, unless the caller may see them. Masked
  // texts are valid as long as this object.
  template <class T>
  void apply(T& document) {
    if (masked_ && wire::has_sensitive(wire::kRecord<T>)) rewrite(wire::kRecord<T>, &document);
  }

 private:
  void rewrite(const wire::Record& record, void* document);

  bool asked_;
  bool masked_;
  std::shared_ptr<const triage::MaskRules> rules_;
  std::deque<std::string> texts_;
};

// Adds `"masked":true` or false to a JSON object.
void append_masked_member(std::string& json, bool masked);

// The role whose answers are always masked.
bool is_always_masked(const Caller& caller);

}  // namespace redrive::front
