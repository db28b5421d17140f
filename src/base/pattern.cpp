#include "base/pattern.h"

#include <string.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace redrive {
namespace {

constexpr std::size_t kNotFound = std::string_view::npos;
// With fewer comparisons than this, the plain search is faster than preparing a better one.
constexpr std::size_t kPlainSearchSteps = 4096;

// Whether `run`, which contains no star, matches the start of `text`.
bool run_fits(std::string_view run, std::string_view text) {
  if (run.size() > text.size()) return false;
  return std::ranges::equal(
      run, text.substr(0, run.size()), [](char p, char c) { return p == '?' || p == c; });
}

std::size_t search_plainly(std::string_view run, std::string_view text) {
  for (std::size_t at = 0; at + run.size() <= text.size(); ++at) {
    if (run_fits(run, text.substr(at))) return at;
  }
  return kNotFound;
}

// Shift-And: bit i of the state is set if the first i+1 characters of the run match the characters
// read last.
std::size_t search_by_bits(std::string_view run, std::string_view text) {
  const std::size_t words = (run.size() + 63) / 64;
  std::vector<std::uint64_t> accepts(256 * words);
  for (std::size_t i = 0; i < run.size(); ++i) {
    const std::uint64_t bit = std::uint64_t{1} << (i % 64);
    if (run[i] != '?') {
      accepts[static_cast<unsigned char>(run[i]) * words + i / 64] |= bit;
      continue;
    }
    for (std::size_t c = 0; c < 256; ++c) accepts[c * words + i / 64] |= bit;
  }
  const std::uint64_t last = std::uint64_t{1} << ((run.size() - 1) % 64);
  std::vector<std::uint64_t> state(words);
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::uint64_t* const mask = &accepts[static_cast<unsigned char>(text[at]) * words];
    std::uint64_t carry = 1;
    for (std::size_t word = 0; word < words; ++word) {
      const std::uint64_t next = state[word] >> 63;
      state[word] = ((state[word] << 1) | carry) & mask[word];
      carry = next;
    }
    if ((state.back() & last) != 0) return at + 1 - run.size();
  }
  return kNotFound;
}

std::size_t find_run(std::string_view run, std::string_view text) {
  if (run.find('?') == kNotFound) return find_text(text, run);
  const bool small = run.size() * text.size() <= kPlainSearchSteps;
  return small ? search_plainly(run, text) : search_by_bits(run, text);
}

}  // namespace

// Matching each run as early as possible never prevents a later match, so there is no backtracking.
bool wildcard_match(std::string_view pattern, std::string_view text) {
  std::size_t star = pattern.find('*');
  if (star == kNotFound) return pattern.size() == text.size() && run_fits(pattern, text);
  if (!run_fits(pattern.substr(0, star), text)) return false;
  text.remove_prefix(star);
  while (true) {
    pattern.remove_prefix(star + 1);
    star = pattern.find('*');
    const std::string_view run = pattern.substr(0, star);
    if (run.size() > text.size()) return false;
    if (star == kNotFound) return run_fits(run, text.substr(text.size() - run.size()));
    if (run.empty()) continue;
    const std::size_t at = find_run(run, text);
    if (at == kNotFound) return false;
    text.remove_prefix(at + run.size());
  }
}

std::size_t find_text(std::string_view text, std::string_view part) {
  if (part.empty()) return 0;
  // Also handles an empty view, whose data may be null.
  if (text.size() < part.size()) return kNotFound;
  const void* const found = memmem(text.data(), text.size(), part.data(), part.size());
  if (found == nullptr) return kNotFound;
  return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

std::string to_lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

}  // namespace redrive
