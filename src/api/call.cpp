#include "api/call.h"

namespace redrive::api {

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
