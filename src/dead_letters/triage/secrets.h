#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dead_letters/triage/json_path.h"
#include "dead_letters/triage/secret_names.h"

namespace redrive::triage {

// The operator's additions to the built-in rules for secrets.
class MaskRules {
 public:
  static constexpr std::size_t kPathsMax = 100;

  MaskRules() = default;
  // Paths as in filters: $.customer.ssn, $.items[*].card. Attribute names are case-insensitive.
  static Result<MaskRules> make(const std::vector<std::string>& json_paths,
                                std::vector<std::string> attributes);

  const std::vector<JsonPath>& json_paths() const { return json_paths_; }
  // Whether the value of an attribute, header or environment variable of this name is a secret.
  bool is_secret_attribute(std::string_view name) const;

 private:
  std::vector<JsonPath> json_paths_;
  std::vector<std::string> attributes_;
};

struct MaskOptions {
  std::size_t bytes_max = 1024;      // Of the result; a longer text ends with "…".
  const MaskRules* rules = nullptr;  // May be null.
};

// A copy of the text with secrets replaced by "***", for people who may not see them.
//
// Secrets are the values of keys with telling names (password, token, authorization, …) in JSON, in
// XML elements and attributes, in key=value and in header lines; payment card numbers and IBANs,
// keys of AWS and of a few well-known services, bearer tokens, JWTs, passwords in URLs and private
// key blocks anywhere; and in a JSON document the values at the rules' paths. This is best effort:
// a secret without recognisable features is not masked.
//
// Takes time and memory proportional to the text (for each path of the rules), whatever the text.
std::string mask_secrets(std::string_view text, const MaskOptions& options);

// Masks the value of an attribute, a variable or a header, whose name may already mark it as a
// secret.
std::string mask_named_value(std::string_view name, std::string_view value, const MaskRules* rules);

inline constexpr std::string_view kMask = "***";

}  // namespace redrive::triage
