#pragma once

#include <cstddef>
#include <string_view>

// Values that show by themselves that they are secrets. Each function says how many bytes at the
// beginning of `text`, which begins a word, are such a value; 0: none.

namespace redrive::dead_letter {

std::size_t match_prefixed_key(std::string_view text);  // ghp_…, sk_live_…, AKIA…
std::size_t match_jwt(std::string_view text);
std::size_t match_private_key(std::string_view text);  // -----BEGIN … PRIVATE KEY-----
std::size_t match_card(std::string_view text);         // 13 to 19 digits that pass Luhn's check
std::size_t match_iban(std::string_view text);         // With the checksum of ISO 13616.
// Bearer and Basic, as in headers: the word stays, what follows goes. The size of the word.
std::size_t match_scheme(std::string_view text);

// The id of an AWS access key, which is no secret itself.
std::size_t match_access_key_id(std::string_view text);
// 40 characters as AWS's secret access keys have them. So many other things look like this that it
// counts only near an access key id.
std::size_t match_secret_access_key(std::string_view text);
constexpr bool in_secret_access_key(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
         c == '+';
}

// What tokens in headers are made of.
bool in_base64_token(char c);

}  // namespace redrive::dead_letter
