#include "core/engine/consumer_limit.h"

#include <algorithm>
#include <chrono>
#include <functional>

#include "core/queue/consumer_name.h"

namespace redrive::engine {

std::string_view ConsumerLimit::choose(std::string_view text, Timestamp now) {
  if (text == asked_) return chosen_;
  const auto parsed = queue::parse_consumer_name(text);
  std::string plain = parsed.plain();
  const bool bounded = parsed.kind == queue::ConsumerName::Kind::client && plain != text;
  asked_ = text;
  chosen_ = !bounded || admits(plain, text, now) ? asked_ : std::move(plain);
  return chosen_;
}

bool ConsumerLimit::admits(const std::string& plain, std::string_view text, Timestamp now) {
  constexpr Duration kDay = std::chrono::hours(24);
  if (days_.size() >= kPlainNamesMax && !days_.contains(plain)) {
    std::erase_if(days_, [&](const auto& entry) { return now - entry.second.since >= kDay; });
    if (days_.size() >= kPlainNamesMax) return false;
  }
  Day& day = days_.try_emplace(plain, Day{now, {}}).first->second;
  if (now - day.since >= kDay) day = {now, {}};
  const std::uint64_t hash = std::hash<std::string_view>()(text);
  if (std::ranges::find(day.variants, hash) != day.variants.end()) return true;
  if (day.variants.size() >= kVariantsPerDay) return false;
  day.variants.push_back(hash);
  return true;
}

}  // namespace redrive::engine
