#include "core/queue/tenant_load.h"

#include <algorithm>
#include <cassert>

namespace redrive::queue {
namespace {

constexpr std::int64_t kMinuteMs = 60'000;

}  // namespace

void TenantLoad::Meter::accrue(Timestamp now) {
  if (now <= since) return;
  if (since == Timestamp()) since = now;  // How long they have been in flight is not known.
  const std::int64_t now_minute = now.ms() / kMinuteMs;
  if (now_minute != minute) {
    const std::int64_t boundary = now_minute * kMinuteMs;
    const std::int64_t from = since.ms();
    // What was used before the window that begins one minute ahead of this one is forgotten.
    const std::int64_t window = boundary - kMinuteMs;
    const bool adjacent = now_minute == minute + 1;
    previous =
        (adjacent ? current : 0) +
        std::int64_t{in_flight} * std::max<std::int64_t>(0, boundary - std::max(from, window));
    current = 0;
    minute = now_minute;
    since = Timestamp(std::max(from, boundary));
  }
  current += std::int64_t{in_flight} * (now - since).count();
  since = now;
}

TenantLoad::Tenant& TenantLoad::at(std::uint32_t tenant) {
  if (tenant >= tenants_.size()) tenants_.resize(tenant + 1);
  return tenants_[tenant];
}

void TenantLoad::sent(std::uint32_t tenant, Timestamp when) {
  if (tenant == 0) return;
  Tenant& known = at(tenant);
  known.sent_at = std::max(known.sent_at, when);
}

void TenantLoad::hold(std::uint32_t tenant, Timestamp now) {
  change(tenant, 1, now);
}

void TenantLoad::release(std::uint32_t tenant, Timestamp now) {
  change(tenant, -1, now);
}

void TenantLoad::change(std::uint32_t tenant, std::int32_t by, Timestamp now) {
  const auto step = [&](Meter& meter) {
    assert(by > 0 || meter.in_flight > 0);
    meter.accrue(now);
    meter.in_flight += static_cast<std::uint32_t>(by);
  };
  step(all_);
  if (tenant == 0) return;
  Tenant& known = at(tenant);
  step(known.meter);
  const std::uint32_t held = known.meter.in_flight;
  if (by > 0 && held == kInFlightMin) crowded_.insert(tenant);
  if (by < 0 && held == kInFlightMin - 1) crowded_.erase(tenant);
  if (!known.marked && (is_crowding(known, 0, 0) || is_slow(known))) mark(tenant);
}

void TenantLoad::mark(std::uint32_t tenant) {
  if (marked_.size() == kMarkedMax) unmark(marked_.front());
  tenants_[tenant].marked = true;
  marked_.push_back(tenant);
}

void TenantLoad::unmark(std::uint32_t tenant) {
  if (tenant >= tenants_.size() || !tenants_[tenant].marked) return;
  tenants_[tenant].marked = false;
  std::erase(marked_, tenant);
}

void TenantLoad::forget(std::uint32_t tenant) {
  if (tenant >= tenants_.size()) return;
  assert(tenants_[tenant].meter.in_flight == 0);
  unmark(tenant);
  tenants_[tenant] = {};
}

bool TenantLoad::is_crowding(const Tenant& tenant, std::size_t more,
                             std::size_t more_in_all) const {
  const std::size_t held = tenant.meter.in_flight + more;
  return held >= kInFlightMin && held * 10 > all_.in_flight + more_in_all;
}

bool TenantLoad::is_slow(const Tenant& tenant) const {
  return all_.recent() >= kRecentTimeMin.count() && tenant.meter.recent() * 10 > all_.recent();
}

bool TenantLoad::is_noisy(std::uint32_t tenant, std::size_t more, std::size_t more_in_all,
                          Timestamp now) const {
  if (tenant == 0 || tenant >= tenants_.size()) return false;
  const Tenant& known = tenants_[tenant];
  if (now - known.sent_at >= kQuietAfter) return false;
  return known.marked || is_crowding(known, more, more_in_all);
}

std::vector<std::uint32_t> TenantLoad::noisy(Timestamp now) const {
  std::vector<std::uint32_t> found;
  for (const std::uint32_t tenant : marked_) {
    if (is_noisy(tenant, 0, 0, now)) found.push_back(tenant);
  }
  for (const std::uint32_t tenant : crowded_) {
    if (!tenants_[tenant].marked && is_noisy(tenant, 0, 0, now)) found.push_back(tenant);
  }
  return found;
}

}  // namespace redrive::queue
