#include "aws/sqs/call.h"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "core/queue/consumer_name.h"

namespace redrive::sqs {
namespace {

// The cache of a thread: queues by the URLs of requests. Four places for each hash, replaced in
// turn.
class KnownQueues {
 public:
  // Null if it is not cached, or a queue has changed since.
  const FoundQueue* find(std::string_view url, const front::Caller& caller, std::uint64_t version) {
    const std::size_t hash = hash_of(url);
    for (Place& place : shelf_of(hash).places) {
      if (place.hash == hash && place.version == version && place.is(url, caller))
        return &place.found;
    }
    return nullptr;
  }

  void remember(std::string_view url, const front::Caller& caller, std::uint64_t version,
                const FoundQueue& found) {
    if (url.size() > kUrlBytesMax) return;
    Shelf& shelf = shelf_of(hash_of(url));
    auto place = std::ranges::find_if(shelf.places,
                                      [&](const Place& one) { return one.version != version; });
    if (place == shelf.places.end()) place = shelf.places.begin() + shelf.next++ % kPlaces;
    *place = {hash_of(url), version, found, std::string(url), caller.account, caller.region};
  }

 private:
  static constexpr std::size_t kUrlBytesMax = 256;  // Longer URLs are not cached.
  static constexpr std::size_t kShelves = 1024;
  static constexpr std::size_t kPlaces = 4;

  struct Place {
    std::size_t hash = 0;
    std::uint64_t version = 0;  // Engine::queues_version() when it was found.
    FoundQueue found;
    std::string url;
    std::string account;
    std::string region;

    bool is(std::string_view the_url, const front::Caller& caller) const {
      return url == the_url && account == caller.account && region == caller.region;
    }
  };
  struct Shelf {
    std::array<Place, kPlaces> places;
    std::uint8_t next = 0;  // The place to replace.
  };

  static std::size_t hash_of(std::string_view url) { return std::hash<std::string_view>()(url); }
  Shelf& shelf_of(std::size_t hash) {
    if (shelves_.empty()) shelves_.resize(kShelves);
    return shelves_[hash % kShelves];
  }

  std::vector<Shelf> shelves_;
};

// The fields of consumer names, by User-Agent. A thread serves few programs, which send the same
// header with every request: most are found with one comparison.
class KnownAgents {
 public:
  const std::string& fields_of(std::string_view agent) {
    Entry& entry = entries_[agent.size() % kEntries];
    if (entry.agent != agent) entry = {std::string(agent), read(agent)};
    return entry.fields;
  }

 private:
  static constexpr std::size_t kEntries = 16;
  static constexpr std::size_t kAgentBytesMax = 1024;  // Longer headers are ignored.

  struct Entry {
    std::string agent;
    std::string fields;
  };

  static std::string read(std::string_view agent) {
    if (agent.size() > kAgentBytesMax) return {};
    queue::UserAgent parts = queue::parse_user_agent(agent);
    return queue::ConsumerName{.interpreter = std::move(parts.interpreter),
                               .app = std::move(parts.app),
                               .agent = std::move(parts.agent)}
        .text();
  }

  std::array<Entry, kEntries> entries_;
};

KnownAgents& known_agents() {
  thread_local KnownAgents known;
  return known;
}

KnownQueues& known_queues() {
  thread_local KnownQueues known;
  return known;
}

}  // namespace

std::optional<queue::QueueIdentity> identity_from_url(std::string_view url,
                                                      std::string_view own_account,
                                                      std::string_view region) {
  while (url.ends_with('/')) url.remove_suffix(1);
  const std::size_t slash = url.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? url : url.substr(slash + 1);
  if (name.empty()) return std::nullopt;
  std::string_view account = own_account;
  if (slash != std::string_view::npos) {
    const std::string_view before = url.substr(0, slash);
    account = before.substr(before.rfind('/') + 1);
    if (account.empty()) account = own_account;
  }
  return queue::QueueIdentity{std::string(account), std::string(region), std::string(name)};
}

Result<queue::QueueIdentity> Call::queue(std::string_view queue_url) const {
  auto identity = identity_from_url(queue_url.empty() ? path : queue_url, account, region);
  if (!identity)
    return fail(ErrorCode::missing_parameter, "The request must contain the parameter QueueUrl.");
  return *std::move(identity);
}

std::string Call::url_of(const queue::QueueIdentity& identity) const {
  std::string url = secure ? "https://" : "http://";
  url.append(host).append("/").append(identity.account).append("/").append(identity.name);
  return url;
}

Result<FoundQueue> Call::find(std::string_view queue_url) const {
  const std::string_view url = queue_url.empty() ? path : queue_url;
  const std::uint64_t version = engine.queues_version();
  if (const auto* known = known_queues().find(url, *this, version)) return *known;
  const queue::QueueIdentity identity = TRY(queue(queue_url));
  const FoundQueue found = TRY(find(identity));
  known_queues().remember(url, *this, version, found);
  return found;
}

Result<FoundQueue> Call::find(const queue::QueueIdentity& identity) const {
  return engine.turn([&](engine::Turn& turn) -> Result<FoundQueue> {
    const queue::Queue& found = *TRY(turn.queue(identity));
    return FoundQueue{found.key, found.published};
  });
}

std::string Call::consumer() const {
  const std::string& fields = known_agents().fields_of(agent);
  std::string who;
  who.reserve(sender_id.size() + 1 + peer.size() + fields.size());
  return who.append(sender_id).append(" ").append(peer).append(fields);
}

}  // namespace redrive::sqs
