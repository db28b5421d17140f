#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

namespace redrive::queue {

// A message's name inside the server: given at its first send, kept through every move, never
// reused. Ordered by time of sending. (The MessageId that clients see is a UUID and may change on
// redrive.)
enum class MessageKey : std::uint64_t { none = 0 };

// A queue's name inside the server, never reused, so that a handle of a deleted queue fits no later
// one.
enum class QueueKey : std::uint32_t { none = 0 };

// A text kept once: queue ARNs that messages come from, consumers that received them.
enum class NameIndex : std::uint32_t { none = 0 };

enum class TaskKey : std::uint32_t { none = 0 };

// What consumers said of failures, each text kept once while a message refers to it. Never reused.
enum class ErrorKey : std::uint32_t { none = 0 };

// A failure group of one dead-letter queue. Never reused.
enum class FailureGroupKey : std::uint32_t { none = 0 };

// What a document of the catalogue describes. Stored on disk: never renumber.
enum class EntryKind : std::uint8_t {
  function = 1,
  mapping = 2,
  invoke_config = 3,  // How a function is invoked asynchronously.
  role = 4,
  role_policy = 5,
  alarm = 6,
  alarm_history = 7,
  setting = 8,    // Anything else that a module remembers under a name.
  parameter = 9,  // Of Parameter Store.
};

template <class Key>
constexpr auto number(Key key) {
  return static_cast<std::underlying_type_t<Key>>(key);
}

template <class Key>
constexpr Key next(Key key) {
  return static_cast<Key>(number(key) + 1);
}

// Whether this is the name of a hidden queue, like the bin of a dead-letter queue or the events of
// a function: no request can create, use or name one.
constexpr bool is_internal_name(std::string_view name) {
  return name.find('!') != std::string_view::npos;
}
inline constexpr std::string_view kBinSuffix = "!bin";
inline constexpr std::string_view kDamagedSuffix = "!damaged";
inline constexpr std::string_view kSettledSuffix = "!settled";
inline constexpr std::string_view kAsyncSuffix = "!async";

// Account, region and name: identifies a queue in requests.
struct QueueIdentity {
  std::string account;
  std::string region;
  std::string name;
  bool of_ours = false;  // Made by the server itself: may name a hidden queue.

  // `of_ours` is not compared.
  friend auto operator<=>(const QueueIdentity& a, const QueueIdentity& b) {
    return std::tie(a.account, a.region, a.name) <=> std::tie(b.account, b.region, b.name);
  }
  friend bool operator==(const QueueIdentity& a, const QueueIdentity& b) {
    return std::tie(a.account, a.region, a.name) == std::tie(b.account, b.region, b.name);
  }

  // Hidden queues, like the bins of dead-letter queues: no client can use such a name.
  bool is_hidden() const { return is_internal_name(name); }

  // The hidden queues of damaged messages, see MessageDamaged.
  bool is_damaged() const { return name.ends_with(kDamagedSuffix); }
  // The hidden queues of messages that were processed after a redrive, see MessageSettled.
  bool is_settled() const { return name.ends_with(kSettledSuffix); }

  std::string arn() const { return "arn:aws:sqs:" + region + ":" + account + ":" + name; }
};

struct QueueIdentityHash {
  std::size_t operator()(const QueueIdentity& identity) const {
    constexpr std::hash<std::string> hash;
    constexpr std::size_t kOdd = 0x9e3779b97f4a7c15;
    return (hash(identity.name) * kOdd + hash(identity.account)) * kOdd + hash(identity.region);
  }
};

// Location of a message's stored bytes. Only the journal interprets the numbers.
struct BodyRef {
  std::uint32_t segment = 0;
  std::uint32_t offset = 0;
  std::uint32_t size = 0;

  friend bool operator==(const BodyRef&, const BodyRef&) = default;
};

}  // namespace redrive::queue
