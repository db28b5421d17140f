#pragma once

#include <cstddef>
#include <string_view>

// Values recognisable as secrets by themselves. Each function returns how many bytes at the start
// of `text`, which starts a word, are such a value; 0: none.

namespace redrive::triage {

std::size_t match_prefixed_key(std::string_view text);  // ghp_…, sk_live_…, AKIA…
std::size_t match_jwt(std::string_view text);
std::size_t match_private_key(std::string_view text);  // -----BEGIN … PRIVATE KEY-----
std::size_t match_card(std::string_view text);         // 13 to 19 digits that pass Luhn's check
std::size_t match_iban(std::string_view text);         // With the checksum of ISO 13616.
// Bearer and Basic, as in headers: the word is kept, what follows is masked. Returns the size of
// the word.
std::size_t match_scheme(std::string_view text);

// An AWS access key id, which is not a secret itself.
std::size_t match_access_key_id(std::string_view text);
// 40 characters like an AWS secret access key. It counts only near an access key id,
// because many other values look like this.
std::size_t match_secret_access_key(std::string_view text);
constexpr bool in_secret_access_key(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
         c == '+';
}

// Characters of tokens in headers.
bool in_base64_token(char c);

}  // namespace redrive::triage
