#include "front/sessions.h"

#include <openssl/crypto.h>

#include <algorithm>

namespace redrive::front {

bool Sessions::is_valid(const Ticket& ticket, const auth::KeyRing& keys, Timestamp now) {
  const auth::AccessKey* const key = keys.find(ticket.key_id);
  if (key == nullptr || now >= ticket.ends) return false;
  const Sha256 secret = sha256(key->secret);
  return CRYPTO_memcmp(secret.data(), ticket.secret.data(), secret.size()) == 0;
}

std::string Sessions::issue(Tickets& tickets, const auth::AccessKey& key, Timestamp ends,
                            Timestamp now) {
  std::erase_if(tickets, [&](const auto& entry) { return now >= entry.second.ends; });
  if (tickets.size() >= kTokensMax) {
    tickets.erase(
        std::ranges::min_element(tickets, {}, [](const auto& entry) { return entry.second.ends; }));
  }
  std::string token = auth::make_session_token();
  tickets[sha256(token)] = {.key_id = key.id, .secret = sha256(key.secret), .ends = ends};
  return token;
}

std::string Sessions::open(const auth::AccessKey& key, Timestamp now) {
  const MutexLock lock(mutex_);
  return issue(sessions_, key, now + kSessionTime, now);
}

std::string Sessions::make_link(const auth::AccessKey& key, Timestamp now) {
  const MutexLock lock(mutex_);
  return issue(links_, key, now + kLinkTime, now);
}

std::optional<Sessions::Session> Sessions::find(std::string_view token, const auth::KeyRing& keys,
                                                Timestamp now) const {
  const Sha256 digest = sha256(token);
  const MutexLock lock(mutex_);
  const auto found = sessions_.find(digest);
  if (found == sessions_.end() || !is_valid(found->second, keys, now)) return std::nullopt;
  return Session{.key_id = found->second.key_id, .left = found->second.ends - now};
}

std::optional<std::string> Sessions::take_link(std::string_view token, const auth::KeyRing& keys,
                                               Timestamp now) {
  const Sha256 digest = sha256(token);
  const MutexLock lock(mutex_);
  const auto taken = links_.extract(digest);
  if (taken.empty() || !is_valid(taken.mapped(), keys, now)) return std::nullopt;
  return taken.mapped().key_id;
}

void Sessions::close(std::string_view token) {
  const Sha256 digest = sha256(token);
  const MutexLock lock(mutex_);
  sessions_.erase(digest);
}

bool SignInLimit::is_blocked(std::string_view address, Timestamp now) const {
  const MutexLock lock(mutex_);
  const auto found = windows_.find(address);
  return found != windows_.end() && now < found->second.began + kWindow &&
         found->second.failures >= kTriesMax;
}

void SignInLimit::failed(std::string_view address, Timestamp now) {
  const MutexLock lock(mutex_);
  if (windows_.size() >= kAddressesMax) {
    std::erase_if(windows_, [&](const auto& one) { return now >= one.second.began + kWindow; });
  }
  // When all are recent, those that come later share one window.
  const bool full = windows_.size() >= kAddressesMax && !windows_.contains(address);
  Window& window = windows_[std::string(full ? std::string_view() : address)];
  if (now >= window.began + kWindow) window = {.began = now};
  ++window.failures;
}

std::string_view cookie_value(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    const std::size_t end = std::min(header.find(';'), header.size());
    std::string_view pair = header.substr(0, end);
    pair.remove_prefix(std::min(pair.find_first_not_of(' '), pair.size()));
    if (pair.size() > name.size() && pair.starts_with(name) && pair[name.size()] == '=') {
      return pair.substr(name.size() + 1);
    }
    header.remove_prefix(std::min(end + 1, header.size()));
  }
  return {};
}

}  // namespace redrive::front
