#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dead_letter/json_path.h"
#include "dead_letter/secret_names.h"

namespace redrive::dead_letter {

// What an operator adds to the secrets that are known by their names and looks.
class MaskRules {
 public:
  static constexpr std::size_t kPathsMax = 100;

  MaskRules() = default;
  // Paths as in filters: $.customer.ssn, $.items[*].card. Attributes by name, in any case.
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
  std::size_t bytes_max = 1024;      // Of the result; what is longer ends with "…".
  const MaskRules* rules = nullptr;  // May be null.
};

// A text fit for people who may see that there is a secret, but not which: secrets become "***".
//
// Secrets are the values of keys named like one (password, token, authorization, …) in JSON, in
// XML elements and attributes, in key=value and in header lines; numbers of payment cards and
// IBANs, keys of AWS and of a few well-known services, bearer tokens, JWTs, passwords in URLs and
// private key blocks, wherever they stand; and in a JSON document what the paths of the rules lead
// to. It is a net, not a wall: a secret that looks like nothing passes.
//
// Takes time and memory in proportion to the text, whatever it is (for each path of the rules).
std::string mask_secrets(std::string_view text, const MaskOptions& options);

// The value of an attribute, a variable or a header, whose name may already say that it is a
// secret.
std::string mask_named_value(std::string_view name, std::string_view value, const MaskRules* rules);

inline constexpr std::string_view kMask = "***";

}  // namespace redrive::dead_letter
