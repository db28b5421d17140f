#pragma once

#include <string>

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

}  // namespace redrive::queue
