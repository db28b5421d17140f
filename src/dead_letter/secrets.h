#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace redrive::dead_letter {

struct MaskOptions {
  std::size_t bytes_max = 1024;  // Of the result; what is longer ends with "…".
};

// A text fit for notifications and lists: secrets in it become "***".
//
// Secrets are the values of keys named like one (password, token, authorization, …) in JSON, in
// key=value and in header lines; numbers of payment cards, keys of AWS and of a few well-known
// services, bearer tokens, JWTs, passwords in URLs and private key blocks, wherever they stand.
// It is a net, not a wall: a secret that looks like nothing passes.
std::string mask_secrets(std::string_view text, const MaskOptions& options);

// Whether a key of this name holds something that must not be shown.
bool is_secret_name(std::string_view name);

}  // namespace redrive::dead_letter
