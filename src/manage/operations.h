#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "documents/message_page.h"
#include "manage/call.h"
#include "wire/shape.h"

// The operations of the management API and the documents they take and give. routes.cpp says where
// each is found, docs/openapi.yaml tells it to everybody else.

namespace redrive::manage {

struct ClockView {
  bool is_virtual = false;
  std::string_view now;  // 2026-01-31T23:59:59.000Z
  std::int64_t epoch_milliseconds = 0;
  std::int64_t waiting_receives = 0;  // A test that moves time can see that its consumer waits.
};
constexpr auto shape_of(ClockView*) {
  using Out = ClockView;
  return wire::shape(wire::required("virtual", &Out::is_virtual),
                     wire::required("now", &Out::now),
                     wire::required("epochMilliseconds", &Out::epoch_milliseconds),
                     wire::required("waitingReceives", &Out::waiting_receives));
}

// Exactly one of the two.
struct AdvanceClockInput {
  std::optional<double> seconds;
  std::optional<double> milliseconds;
};
constexpr auto shape_of(AdvanceClockInput*) {
  using In = AdvanceClockInput;
  return wire::shape(wire::optional("seconds", &In::seconds),
                     wire::optional("milliseconds", &In::milliseconds));
}

struct ResetOutput {
  std::int64_t queues = 0;  // How many there were.
};
constexpr auto shape_of(ResetOutput*) {
  return wire::shape(wire::required("queues", &ResetOutput::queues));
}

// GET queues/{queue}/messages?limit=100&after=…&filter=…
Result<documents::MessagePage> peek_messages(Call& call);

Result<ClockView> show_clock(Call& call);
Result<ClockView> advance_clock(Call& call, const AdvanceClockInput& input);
Result<ResetOutput> reset(Call& call);
Result<Document> show_openapi(Call& call);

}  // namespace redrive::manage
