#include "api/call.h"

#include <functional>
#include <vector>

namespace redrive::api {
namespace {

// Queues that requests of a thread were about, by what the requests called them. One place for
// each, by hash: who comes later takes it over.
class KnownQueues {
 public:
  static constexpr std::size_t kUrlBytesMax = 256;  // Whatever clients write before a name.

  struct Place {
    std::uint64_t version = 0;  // Of the engine's queues, when it was found.
    std::string url;
    std::string account;
    std::string region;
    FoundQueue found;

    bool is(std::string_view the_url, const Caller& caller) const {
      return url == the_url && account == caller.account && region == caller.region;
    }
  };

  Place& place_of(std::string_view url) {
    if (places_.empty()) places_.resize(kPlaces);
    return places_[std::hash<std::string_view>()(url) % kPlaces];
  }

 private:
  static constexpr std::size_t kPlaces = 1024;
  std::vector<Place> places_;
};

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
  KnownQueues::Place& place = known_queues().place_of(url);
  const std::uint64_t version = engine.queues_version();
  if (place.version == version && place.is(url, *this)) return place.found;
  const queue::QueueIdentity identity = TRY(queue(queue_url));
  const FoundQueue found = TRY(find(identity));
  if (url.size() > KnownQueues::kUrlBytesMax) return found;
  place.found = found;
  place.version = version;
  place.url = url;
  place.account = account;
  place.region = region;
  return found;
}

Result<FoundQueue> Call::find(const queue::QueueIdentity& identity) const {
  return engine.turn([&](engine::Turn& turn) -> Result<FoundQueue> {
    const queue::Queue& found = *TRY(turn.queue(identity));
    return FoundQueue{found.key, found.published};
  });
}

std::string Call::consumer() const {
  std::string who = sender_id;
  return who.append(" ").append(peer);
}

}  // namespace redrive::api
