#include "api/send_message.h"

#include "api/operations.h"
#include "api/receive_message.h"

namespace redrive::api {
namespace {

// A long message delays the others whose digests are made beside its own.
constexpr std::size_t kGatheredBytesMax = 4096;
constexpr std::size_t kGatheredMax = 64;

OutgoingMessage outgoing(const sqs::SendMessageInput& input) {
  return {.body = input.message_body,
          .delay_seconds = input.delay_seconds,
          .attributes = input.message_attributes,
          .system_attributes = input.message_system_attributes,
          .dedup_id = input.message_deduplication_id,
          .group_id = input.message_group_id};
}

sqs::SendMessageOutput describe(const queue::SendOutcome& outcome, const Md5& digest,
                                const PreparedMessage& prepared) {
  return {.message_id = outcome.message_id,
          .md5_of_message_body = digest,
          .md5_of_message_attributes = prepared.md5_of_attributes,
          .md5_of_message_system_attributes = prepared.md5_of_system_attributes,
          .sequence_number = std::nullopt};
}

}  // namespace

Result<SendPlan> plan_send(Call& call, const sqs::SendMessageInput& input) {
  SendPlan plan;
  plan.queue = TRY(call.queue(input.queue_url));
  plan.settings = TRY(call.settings_of(plan.queue));
  CHECK(check_message(outgoing(input), *plan.settings, SendForm::single));
  return plan;
}

Result<sqs::SendMessageOutput> run(Call& call, const sqs::SendMessageInput& input) {
  const SendPlan plan = TRY(plan_send(call, input));
  return send_planned(call, input, plan);
}

Result<sqs::SendMessageOutput> send_planned(Call& call, const sqs::SendMessageInput& input,
                                            const SendPlan& plan) {
  PreparedMessage prepared;
  prepare_message(
      {.id = call.sender_id, .trace = call.trace}, outgoing(input), *plan.settings, prepared);
  const Md5 digest = md5(prepared.body);
  set_digest(prepared, digest);
  const auto sent = TRY(call.engine.send(plan.queue, std::span(&prepared.draft, 1)));
  call.after = sent.after;
  sqs::SendMessageOutput output = describe(sent.outcomes[0], digest, prepared);
  if (plan.settings->fifo) {
    output.sequence_number = call.keep(sequence_text(sent.outcomes[0].sequence));
  }
  return output;
}

bool GatheredSends::take(const Call& call, const sqs::SendMessageInput& input, SendPlan& plan) {
  const OutgoingMessage message = outgoing(input);
  if (size_ == kGatheredMax || message_bytes(message) > kGatheredBytesMax) return false;
  if (size_ == places_.size()) places_.push_back(std::make_unique<Place>());
  Place& place = *places_[size_++];
  place.plan = std::move(plan);
  prepare_message(
      {.id = call.sender_id, .trace = call.trace}, message, *place.plan.settings, place.prepared);
  place.sent = false;
  return true;
}

void GatheredSends::send(engine::Engine& engine) {
  make_digests();
  for (std::size_t i = 0; i < size_; ++i) {
    if (!places_[i]->sent) send_alike(engine, i);
  }
}

void GatheredSends::make_digests() {
  bodies_.clear();
  for (std::size_t i = 0; i < size_; ++i) bodies_.push_back(places_[i]->prepared.body);
  digests_.resize(size_);
  md5_many(bodies_, digests_);
  for (std::size_t i = 0; i < size_; ++i) set_digest(places_[i]->prepared, digests_[i]);
}

// Sends the first that is not sent yet, and all behind it that go to the same queue, in order.
void GatheredSends::send_alike(engine::Engine& engine, std::size_t first) {
  const SendPlan& plan = places_[first]->plan;
  alike_.clear();
  drafts_.clear();
  for (std::size_t i = first; i < size_; ++i) {
    Place& place = *places_[i];
    if (place.plan.settings != plan.settings || place.plan.queue != plan.queue) continue;
    place.sent = true;
    alike_.push_back(i);
    drafts_.push_back(place.prepared.draft);
  }
  const auto sent = engine.send(plan.queue, drafts_);
  for (std::size_t i = 0; i < alike_.size(); ++i) {
    Place& place = *places_[alike_[i]];
    if (!sent) {
      place.result = std::unexpected(sent.error());
      continue;
    }
    place.result = describe(sent->outcomes[i], digests_[alike_[i]], place.prepared);
    if (!plan.settings->fifo) continue;
    place.sequence = sequence_text(sent->outcomes[i].sequence);
    place.result->sequence_number = place.sequence;
  }
}

}  // namespace redrive::api
