#include "observe/alarms/delivery.h"

#include <fmt/format.h>

#include "base/calendar.h"
#include "base/digest.h"
#include "base/padded_text.h"
#include "net/wire/decoder.h"
#include "net/wire/encode.h"
#include "net/wire/shape.h"

namespace redrive::alarms {
namespace {

constexpr std::string_view kDeliveryStates[] = {
    "queued", "failing", "delivered", "given-up", "superseded"};
constexpr std::size_t kTargetIdChars = 16;

struct KeptNotice {
  std::string_view id;
  std::string_view key;
  std::string_view title;
  std::string_view text;
  std::string_view json;
  std::string_view state;
  std::string_view link;
};
consteval auto shape_of(KeptNotice*) {
  using D = KeptNotice;
  return wire::shape(wire::required("id", &D::id),
                     wire::required("key", &D::key),
                     wire::required("title", &D::title),
                     wire::required("text", &D::text),
                     wire::required("json", &D::json),
                     wire::required("state", &D::state),
                     wire::optional("link", &D::link));
}

std::string counted(std::uint32_t attempts) {
  return fmt::format("{} attempt{}", attempts, attempts == 1 ? "" : "s");
}

}  // namespace

std::string_view name_of(DeliveryState state) {
  return kDeliveryStates[static_cast<std::size_t>(state)];
}

std::string target_id(std::string_view target) {
  return sha256_hex(target).substr(0, kTargetIdChars);
}

std::string summary_of(const Delivery& delivery, Duration wall_ahead) {
  switch (delivery.state) {
    case DeliveryState::queued:
      return fmt::format("Queued for {}", delivery.target);
    case DeliveryState::failing:
      return fmt::format("Failing to notify {}: {} ({}, next attempt at {})",
                         delivery.target,
                         delivery.error,
                         counted(delivery.attempts),
                         format_utc(delivery.next + wall_ahead));
    case DeliveryState::delivered:
      return fmt::format(
          "Notified {}: {} ({})", delivery.target, delivery.status, counted(delivery.attempts));
    case DeliveryState::given_up:
      return fmt::format("Gave up notifying {} after {}: {}",
                         delivery.target,
                         counted(delivery.attempts),
                         delivery.error);
    case DeliveryState::superseded:
      return fmt::format("Not sent to {}: a later state of the alarm replaced it", delivery.target);
  }
  return {};
}

Delivery after_attempt(Delivery delivery, const Attempt& attempt,
                       std::span<const std::chrono::milliseconds> pauses, AttemptTime time) {
  const std::size_t failed_before = delivery.attempts;
  delivery.attempts += 1;
  delivery.at = time.wall;
  delivery.status = attempt.status;
  delivery.error = attempt.error;
  delivery.next = Timestamp();
  if (attempt.succeeded()) {
    delivery.state = DeliveryState::delivered;
  } else if (attempt.final || failed_before >= pauses.size()) {
    delivery.state = DeliveryState::given_up;
  } else {
    delivery.state = DeliveryState::failing;
    delivery.next = time.now + pauses[failed_before];
  }
  return delivery;
}

std::string encode(const Notice& notice) {
  std::string out;
  wire::encode_json(out,
                    KeptNotice{.id = notice.id,
                               .key = notice.key,
                               .title = notice.title,
                               .text = notice.text,
                               .json = notice.json,
                               .state = notice.state,
                               .link = notice.link});
  return out;
}

Result<Notice> decode_notice(std::string_view json) {
  const PaddedText padded(json);
  wire::Decoder decoder;
  KeptNotice kept;
  RETURN_IF_ERROR(wire::decode_json(decoder, padded, kept));
  return Notice{.id = std::string(kept.id),
                .key = std::string(kept.key),
                .title = std::string(kept.title),
                .text = std::string(kept.text),
                .json = std::string(kept.json),
                .state = std::string(kept.state),
                .link = std::string(kept.link)};
}

}  // namespace redrive::alarms
