#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "core/queue/ids.h"

// Hidden queues, named after the queue whose messages they hold. Clients cannot see them.
namespace redrive::queue {

// For messages discarded from `queue`.
inline QueueIdentity bin_of(const QueueIdentity& queue) {
  return {queue.account, queue.region, queue.name + std::string(kBinSuffix)};
}
// For messages of `queue` that were processed after a redrive.
inline QueueIdentity settled_of(const QueueIdentity& queue) {
  return {queue.account, queue.region, queue.name + std::string(kSettledSuffix)};
}
// For messages of `queue`, of its bin and of its settled messages whose stored bytes cannot be
// read.
inline QueueIdentity damaged_of(const QueueIdentity& queue) {
  std::string name = queue.name;
  if (name.ends_with(kBinSuffix)) name.resize(name.size() - kBinSuffix.size());
  if (name.ends_with(kSettledSuffix)) name.resize(name.size() - kSettledSuffix.size());
  return {queue.account, queue.region, name + std::string(kDamagedSuffix)};
}

// For the asynchronous events of a function, a version or an alias: `f`, `f:7`, `f:live`. A `/`
// replaces the colon, which queue names must not have.
inline QueueIdentity async_of(std::string account, std::string region, std::string function) {
  std::ranges::replace(function, ':', '/');
  return {
      std::move(account), std::move(region), std::move(function) + std::string(kAsyncSuffix), true};
}
// The inverse: the name of the function; nullopt for other queues.
inline std::optional<std::string> function_of_async(std::string_view queue_name) {
  if (!queue_name.ends_with(kAsyncSuffix)) return std::nullopt;
  std::string function(queue_name.substr(0, queue_name.size() - kAsyncSuffix.size()));
  std::ranges::replace(function, '/', ':');
  return function;
}

}  // namespace redrive::queue
