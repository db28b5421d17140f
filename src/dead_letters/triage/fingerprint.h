#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace redrive::triage {

// Part of every fingerprint. Increment whenever the rules change, so that groups made by different
// rules are never mixed.
inline constexpr std::uint32_t kFingerprintVersion = 1;

// A failure as reported by a consumer. Empty: not reported.
struct FailureReport {
  std::string_view error_type;
  std::string_view error_message;
  std::string_view stack_trace;
  std::string_view fingerprint;  // The consumer's own grouping key.
};

// How the deliveries of a message ended.
struct AttemptEnds {
  std::uint32_t expired = 0;   // The visibility timeout passed.
  std::uint32_t released = 0;  // Visibility was set to zero.
  std::uint32_t failed = 0;    // The consumer reported a failure.
};

struct DeadMessage {
  std::optional<FailureReport> failure;
  std::string_view source_queue;
  AttemptEnds attempts;
  std::string_view body;
};

// What a message is grouped by: the first of these that is available.
enum class Basis : std::uint8_t {
  explicit_key,  // The consumer's fingerprint.
  frames,        // The error's type and its location in the application.
  message,       // The error's type and its message without numbers, ids and so on.
  shape,         // Nothing was reported: source queue, how attempts ended, shape of the body.
};
std::string_view name_of(Basis basis);

// The id of a failure group: the same on every machine and in every release with the same
// kFingerprintVersion.
struct GroupId {
  std::array<std::uint8_t, 16> bytes{};

  friend auto operator<=>(const GroupId&, const GroupId&) = default;

  std::string text() const;  // 32 lower-case hexadecimal digits.
  static std::optional<GroupId> parse(std::string_view text);
};

struct Fingerprint {
  GroupId id;
  Basis basis = Basis::shape;
  // Human-readable, at most kTitleBytesMax bytes, secrets masked. May differ between messages of
  // one group; the first one names the group.
  std::string title;
  std::string reason;  // Why messages with this id are grouped: a sentence.
};
inline constexpr std::size_t kTitleBytesMax = 200;

Fingerprint fingerprint(const DeadMessage& message);

}  // namespace redrive::triage
