#include "aws/sqs/send_message.h"

#include "aws/sqs/operations.h"
#include "aws/sqs/receive_message.h"

namespace redrive::sqs {
namespace {

// A long message would delay the digests of the others.
constexpr std::size_t kGatheredBytesMax = 4096;
constexpr std::size_t kGatheredMax = 128;

OutgoingMessage outgoing(const SendMessageInput& input) {
  return {.body = input.message_body,
          .delay_seconds = input.delay_seconds,
          .attributes = input.message_attributes,
          .system_attributes = input.message_system_attributes,
          .dedup_id = input.message_deduplication_id,
          .group_id = input.message_group_id};
}

SendMessageOutput describe(const queue::SendOutcome& outcome, const Md5& digest,
                           const PreparedMessage& prepared) {
  return {.message_id = outcome.message_id,
          .md5_of_message_body = digest,
          .md5_of_message_attributes = prepared.md5_of_attributes,
          .md5_of_message_system_attributes = prepared.md5_of_system_attributes,
          .sequence_number = std::nullopt};
}

}  // namespace

Result<FoundQueue> plan_send(Call& call, const SendMessageInput& input) {
  FoundQueue plan = TRY(call.find(input.queue_url));
  RETURN_IF_ERROR(check_message(outgoing(input), *plan.settings, SendForm::single));
  return plan;
}

Result<SendMessageOutput> run(Call& call, const SendMessageInput& input) {
  const FoundQueue plan = TRY(plan_send(call, input));
  return send_planned(call, input, plan);
}

Result<SendMessageOutput> send_planned(Call& call, const SendMessageInput& input,
                                       const FoundQueue& plan) {
  PreparedMessage prepared;
  prepare_message(
      {.id = call.sender_id, .trace = call.trace}, outgoing(input), *plan.settings, prepared);
  const Md5 digest = md5(prepared.body);
  set_digest(prepared, digest);
  engine::Parcel parcel{.to = plan.key, .draft = prepared.draft};
  call.engine.send(std::span(&parcel, 1));
  call.after = call.engine.appended();
  const queue::SendOutcome outcome = TRY(parcel.outcome);
  SendMessageOutput output = describe(outcome, digest, prepared);
  if (plan.settings->fifo) output.sequence_number = call.keep(sequence_text(outcome.sequence));
  return output;
}

bool GatheredSends::take(const Call& call, const SendMessageInput& input, FoundQueue& plan) {
  const OutgoingMessage message = outgoing(input);
  if (size_ == kGatheredMax || message_bytes(message) > kGatheredBytesMax) return false;
  if (size_ == places_.size()) places_.push_back(std::make_unique<Place>());
  Place& place = *places_[size_++];
  place.plan = std::move(plan);
  prepare_message(
      {.id = call.sender_id, .trace = call.trace}, message, *place.plan.settings, place.prepared);
  return true;
}

void GatheredSends::send(engine::Engine& engine) {
  make_digests();
  parcels_.clear();
  for (std::size_t i = 0; i < size_; ++i) {
    parcels_.push_back({.to = places_[i]->plan.key, .draft = places_[i]->prepared.draft});
  }
  engine.send(parcels_);
  for (std::size_t i = 0; i < size_; ++i) describe_outcome(i);
}

void GatheredSends::make_digests() {
  bodies_.clear();
  for (std::size_t i = 0; i < size_; ++i) bodies_.push_back(places_[i]->prepared.body);
  digests_.resize(size_);
  md5_many(bodies_, digests_);
  for (std::size_t i = 0; i < size_; ++i) set_digest(places_[i]->prepared, digests_[i]);
}

void GatheredSends::describe_outcome(std::size_t number) {
  Place& place = *places_[number];
  const Result<queue::SendOutcome>& outcome = parcels_[number].outcome;
  if (!outcome) {
    place.result = std::unexpected(outcome.error());
    return;
  }
  place.result = describe(*outcome, digests_[number], place.prepared);
  if (!place.plan.settings->fifo) return;
  place.sequence = sequence_text(outcome->sequence);
  place.result->sequence_number = place.sequence;
}

}  // namespace redrive::sqs
