#include "dead_letters/triage/significance.h"

#include <algorithm>
#include <cmath>

namespace redrive::triage {
namespace {

// std::lgamma writes a global variable, which is a data race.
double log_factorial(double n) {
  if (n < 16) {
    double product = 1;
    for (double i = 2; i <= n; ++i) product *= i;
    return std::log(product);
  }
  constexpr double kHalfLogTwoPi = 0.91893853320467274;
  const double inverse = 1 / n;
  return (n + 0.5) * std::log(n) - n + kHalfLogTwoPi + inverse / 12 -
         inverse * inverse * inverse / 360;
}

double log_choose(double n, double k) {
  return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

}  // namespace

double smoothed_difference(const Contrast& c) {
  const auto share = [](std::uint64_t with, std::uint64_t total) {
    return (static_cast<double>(with) + 0.5) / (static_cast<double>(total) + 1);
  };
  return share(c.dead_with, c.dead_total) - share(c.processed_with, c.processed_total);
}

double chance_of(const Contrast& c) {
  const auto dead = static_cast<double>(c.dead_total);
  const auto processed = static_cast<double>(c.processed_total);
  const auto with = static_cast<double>(c.dead_with) + static_cast<double>(c.processed_with);
  const double all = dead + processed;
  auto drawn = static_cast<double>(c.dead_with);
  // At or below the expected value the result is 1; the sum would be long.
  if (all == 0 || drawn * all <= with * dead) return 1;

  const double first =
      log_choose(dead, drawn) + log_choose(processed, with - drawn) - log_choose(all, with);
  // Above the expected value each term is smaller than the previous one.
  double term = 1;
  double sum = 1;
  for (const double most = std::min(dead, with); drawn < most && term > 1e-9 * sum; ++drawn) {
    term *= (dead - drawn) * (with - drawn) / ((drawn + 1) * (processed - with + drawn + 1));
    sum += term;
  }
  return std::min(1.0, std::exp(first) * sum);
}

}  // namespace redrive::triage
