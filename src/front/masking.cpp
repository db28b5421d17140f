#include "front/masking.h"

#include <cassert>

#include "net/wire/decoder.h"

namespace redrive::front {
namespace {

bool asks_unmasked(std::string_view query_string) {
  if (query_string.find("unmasked") == std::string_view::npos) return false;
  wire::Decoder decoder;
  return wire::find_query_parameter(decoder, query_string, {}, "unmasked") == "true";
}

}  // namespace

bool is_always_masked(const Caller& caller) {
  return caller.key != nullptr && caller.key->role == auth::Role::reader;
}

Masking::Masking(const Caller& caller, std::string_view query_string,
                 std::shared_ptr<const triage::MaskRules> rules)
    : asked_(asks_unmasked(query_string)),
      masked_(!asked_ || is_always_masked(caller)),
      rules_(std::move(rules)) {}

void Masking::rewrite(const wire::Record& record, void* document) {
  wire::rewrite_sensitive(
      record, document, [this](std::string_view name, std::string_view text) -> std::string_view {
        return texts_.emplace_back(triage::mask_named_value(name, text, rules_.get()));
      });
}

void append_masked_member(std::string& json, bool masked) {
  assert(json.ends_with('}'));
  json.pop_back();
  if (!json.ends_with('{')) json += ',';
  json += masked ? R"("masked":true})" : R"("masked":false})";
}

}  // namespace redrive::front
