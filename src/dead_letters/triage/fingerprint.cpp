#include "dead_letters/triage/fingerprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/digest.h"
#include "base/text.h"
#include "dead_letters/triage/body_shape.h"
#include "dead_letters/triage/characters.h"
#include "dead_letters/triage/normalise.h"
#include "dead_letters/triage/secrets.h"
#include "dead_letters/triage/stack_trace.h"

namespace redrive::triage {
namespace {

constexpr std::size_t kFramesHashed = 8;
constexpr std::size_t kFramesNamed = 3;
constexpr std::size_t kExplicitBytesMax = 1024;

// All group ids are computed here, so version and basis are always included.
GroupId hash(Basis basis, std::string_view text) {
  const Sha256 digest =
      sha256(fmt::format("redrive-group/{}/{}\n{}", kFingerprintVersion, name_of(basis), text));
  GroupId id;
  std::copy_n(digest.begin(), id.bytes.size(), id.bytes.begin());
  return id;
}

std::string title_of(std::string_view text) {
  return mask_secrets(text, {.bytes_max = kTitleBytesMax});
}

// The error, from the report or else from the trace in it.
struct KnownError {
  std::string type;
  std::string message;  // Normalised.
  StackTrace trace;
};

// Errors about identifiers rather than about data.
bool is_about_names(std::string_view type) {
  for (const std::string_view ending : {"KeyError",
                                        "AttributeError",
                                        "NameError",
                                        "TypeError",
                                        "ReferenceError",
                                        "KeyNotFoundException",
                                        "NullPointerException",
                                        "NullReferenceException"}) {
    if (type.ends_with(ending)) return true;
  }
  return false;
}

KnownError known_error(const FailureReport& report) {
  KnownError error{.trace = parse_stack_trace(report.stack_trace)};
  error.type = report.error_type.empty() ? error.trace.error_type : trim(report.error_type);
  const std::string_view message =
      report.error_message.empty() ? error.trace.error_message : report.error_message;
  const auto names =
      is_about_names(error.type) ? QuotedNames::keep_all : QuotedNames::keep_compound;
  error.message = normalise_message(trim(message), names);
  return error;
}

std::string title_of(const KnownError& error) {
  const std::string_view type = error.type.empty() ? "error" : std::string_view(error.type);
  if (error.message.empty()) return title_of(type);
  return title_of(fmt::format("{}: {}", type, error.message));
}

std::string place_of(const Frame& frame) {
  return frame.file.empty() ? frame.function : fmt::format("{} in {}", frame.function, frame.file);
}

// The innermost frames of the application; of anything if the application is in none.
std::vector<Frame> telling_frames(const StackTrace& trace) {
  const bool any_in_app = std::ranges::any_of(trace.frames, &Frame::in_app);
  std::vector<Frame> frames;
  for (const Frame& frame : trace.frames) {
    const bool repeated = !frames.empty() && frames.back() == frame;
    if ((any_in_app && !frame.in_app) || repeated) continue;
    if (frames.size() == kFramesHashed) break;
    frames.push_back(frame);
  }
  return frames;
}

Fingerprint by_explicit_key(const FailureReport& report) {
  const std::string_view key = trim(report.fingerprint).substr(0, kExplicitBytesMax);
  const KnownError error = known_error(report);
  const bool has_error = !error.type.empty() || !error.message.empty();
  return {.id = hash(Basis::explicit_key, key),
          .basis = Basis::explicit_key,
          .title = has_error ? title_of(error) : title_of(key),
          .reason = fmt::format("The consumer reported the fingerprint {} for all of them.",
                                title_of(key))};
}

// The type of the root cause; empty if the error was not wrapped.
std::string_view root_cause_of(const KnownError& error) {
  const auto& types = error.trace.error_types;
  if (types.empty() || types.front() == error.type) return {};
  return types.front();
}

// "Same error type KeyError", or of a chain "Same root cause KeyError".
std::string same_type(const KnownError& error) {
  const std::string_view root = root_cause_of(error);
  if (!root.empty()) return fmt::format("Same root cause {}", cut(root, kTitleBytesMax));
  return fmt::format("Same error type{}",
                     error.type.empty() ? "" : " " + cut(error.type, kTitleBytesMax));
}

// Of a chain only the root cause and its frames count: callers may wrap it in different errors.
Fingerprint by_frames(const KnownError& error, const std::vector<Frame>& frames) {
  const std::string_view root = root_cause_of(error);
  std::string text = root.empty() ? error.type + "\n" : fmt::format("root cause {}\n", root);
  for (const Frame& frame : frames) text += frame.function + "@" + frame.file + "\n";

  std::vector<std::string> named;
  for (const Frame& frame : frames) {
    if (named.size() < kFramesNamed) named.push_back(place_of(frame));
  }
  const bool in_app = frames.front().in_app;
  Fingerprint result{.id = hash(Basis::frames, text), .basis = Basis::frames};
  const bool nameless = error.type.empty() && error.message.empty();
  result.title = nameless ? title_of("error in " + place_of(frames.front())) : title_of(error);
  result.reason = fmt::format("{} and same {}stack frames, line numbers aside: {}{}.",
                              same_type(error),
                              in_app ? "in-app " : "",
                              fmt::join(named, ", called by "),
                              frames.size() > named.size() ? ", …" : "");
  return result;
}

Fingerprint by_message(const KnownError& error) {
  return {.id = hash(Basis::message, error.type + "\n" + error.message),
          .basis = Basis::message,
          .title = title_of(error),
          .reason =
              "Same error type and same message, apart from numbers, ids and quoted text; no "
              "stack trace was reported."};
}

// "visibility expired 2 of 2 times"
std::string describe(const AttemptEnds& ends) {
  const std::uint64_t total = std::uint64_t{ends.expired} + ends.released + ends.failed;
  if (total == 0) return "never received";
  std::vector<std::string> parts;
  const auto add = [&](std::string_view how, std::uint32_t count) {
    if (count > 0) parts.push_back(fmt::format("{} {} of {} times", how, count, total));
  };
  add("visibility expired", ends.expired);
  add("released", ends.released);
  add("failed", ends.failed);
  return fmt::format("{}", fmt::join(parts, ", "));
}

Fingerprint by_shape(const DeadMessage& message) {
  const AttemptEnds& ends = message.attempts;
  const BodyShape shape = shape_of(message.body);
  // Only which ends occurred, not how often: receive counts differ between queues.
  const std::string text = fmt::format("{}\n{}{}{}\n{}",
                                       message.source_queue,
                                       ends.expired > 0 ? "expired " : "",
                                       ends.released > 0 ? "released " : "",
                                       ends.failed > 0 ? "failed " : "",
                                       shape.text);
  return {
      .id = hash(Basis::shape, text),
      .basis = Basis::shape,
      .title = title_of(fmt::format("no error reported: {}, {}", describe(ends), shape.summary)),
      .reason = fmt::format("No error was reported; same source queue ({}), attempts that ended "
                            "the same way, and bodies of the same shape.",
                            cut(message.source_queue, kTitleBytesMax))};
}

}  // namespace

std::string_view name_of(Basis basis) {
  switch (basis) {
    case Basis::explicit_key:
      return "explicit";
    case Basis::frames:
      return "frames";
    case Basis::message:
      return "message";
    case Basis::shape:
      break;
  }
  return "shape";
}

std::string GroupId::text() const {
  std::string out(2 * bytes.size(), '0');
  write_hex(out.data(), bytes.data(), bytes.size());
  return out;
}

std::optional<GroupId> GroupId::parse(std::string_view text) {
  GroupId id;
  if (text.size() != 2 * id.bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < id.bytes.size(); ++i) {
    const int high = hex_digit(text[2 * i]);
    const int low = hex_digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    id.bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return id;
}

Fingerprint fingerprint(const DeadMessage& message) {
  if (!message.failure) return by_shape(message);
  if (!trim(message.failure->fingerprint).empty()) return by_explicit_key(*message.failure);
  const KnownError error = known_error(*message.failure);
  const std::vector<Frame> frames = telling_frames(error.trace);
  if (!frames.empty()) return by_frames(error, frames);
  if (!error.type.empty() || !error.message.empty()) return by_message(error);
  return by_shape(message);
}

}  // namespace redrive::triage
