#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "base/time.h"

namespace redrive::queue {

// Decides which tenants (message groups) of a fair queue are noisy, by the rule that AWS publishes.
//
// A tenant becomes noisy when it holds more than 10 % of the messages in flight and at least 30 of
// them, or when it used more than 10 % of the queue's recent processing time. It is quiet again
// when its backlog is empty, or when it has sent nothing for five minutes.
//
// AWS does not publish what "recent" means. Here it is the current minute and the one before it,
// and the share of time counts only once the queue has used kRecentTimeMin in that window, so that
// the first messages of an idle queue do not make their tenants noisy.
//
// Processing time is the integral of messages in flight over time. Tenant 0 stands for messages
// without a group: each of them is a tenant of its own, so they add to the total and are never
// noisy. Nothing here is durable: after a restart tenants start quiet.
class TenantLoad {
 public:
  static constexpr std::uint32_t kInFlightMin = 30;
  static constexpr Duration kRecentTimeMin{30'000};
  static constexpr Duration kQuietAfter{5 * 60'000};
  // Tenants that stay noisy after the load that made them so. Bounds the work of a receive; beyond
  // it the tenant that was marked first is released.
  static constexpr std::size_t kMarkedMax = 32;

  // A queue whose first tenant arrives may have messages without a group in flight.
  explicit TenantLoad(std::size_t in_flight) {
    all_.in_flight = static_cast<std::uint32_t>(in_flight);
  }

  void sent(std::uint32_t tenant, Timestamp at);
  void hold(std::uint32_t tenant, Timestamp now);
  void release(std::uint32_t tenant, Timestamp now);
  void backlog_empty(std::uint32_t tenant) { unmark(tenant); }
  // The number may be given to another tenant.
  void forget(std::uint32_t tenant);

  // `more` and `more_in_all` are messages that the receive in progress has already picked.
  bool is_noisy(std::uint32_t tenant, std::size_t more, std::size_t more_in_all,
                Timestamp now) const;
  std::vector<std::uint32_t> noisy(Timestamp now) const;

 private:
  // Message-milliseconds in this minute and the one before.
  struct Meter {
    std::uint32_t in_flight = 0;
    Timestamp since;
    std::int64_t minute = 0;
    std::int64_t current = 0;
    std::int64_t previous = 0;

    void accrue(Timestamp now);
    std::int64_t recent() const { return current + previous; }
  };
  struct Tenant {
    Meter meter;
    Timestamp sent_at;
    bool marked = false;
  };

  Tenant& at(std::uint32_t tenant);
  void change(std::uint32_t tenant, std::int32_t by, Timestamp now);
  void mark(std::uint32_t tenant);
  void unmark(std::uint32_t tenant);
  bool is_crowding(const Tenant& tenant, std::size_t more, std::size_t more_in_all) const;
  bool is_slow(const Tenant& tenant) const;

  Meter all_;
  std::vector<Tenant> tenants_;        // By the number of the group; 0 is not used.
  std::vector<std::uint32_t> marked_;  // In the order in which they were marked.
  std::set<std::uint32_t> crowded_;    // At least kInFlightMin in flight.
};

}  // namespace redrive::queue
