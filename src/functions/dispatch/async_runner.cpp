#include "functions/dispatch/async_runner.h"

#include <algorithm>
#include <cmath>

#include "functions/dispatch/delivery.h"
#include "functions/dispatch/letter.h"

namespace redrive::dispatch {
namespace {

using Kind = runtime::Outcome::Kind;

constexpr std::uint32_t kRetriesDefault = 2;
constexpr std::chrono::seconds kAgeDefault{21'600};
constexpr std::chrono::seconds kFirstRetry{60};
constexpr std::chrono::seconds kLongestThrottle{300};
constexpr std::size_t kErrorMessageBytesMax = 1024;
// Scope of the retry counters: no mapping reads these queues.
constexpr std::uint64_t kAsyncScope = 1;

int status_of(const runtime::Outcome* outcome) {
  if (outcome == nullptr) return 200;
  if (outcome->kind == Kind::throttled) return 429;
  return outcome->kind == Kind::service_error ? 500 : 200;
}

// Does not cut a UTF-8 character.
std::string_view cut_text(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  while (bytes_max > 0 && (text[bytes_max] & 0xc0) == 0x80) --bytes_max;
  return text.substr(0, bytes_max);
}

}  // namespace

AsyncRunner::AsyncRunner(std::shared_ptr<World> world, Definitions::Entry entry)
    : Poller(std::move(world)),
      entry_(std::move(entry)),
      queue_(std::make_shared<queue::QueueIdentity>(async_queue_of(entry_.id))),
      concurrency_({.first = Concurrency::kFirst, .max = this->world().concurrency_max}) {}

std::optional<Poller::Intake> AsyncRunner::next_intake() {
  const auto busy = static_cast<unsigned>(running_ + waiting_.size());
  if (busy >= concurrency_.limit()) return std::nullopt;
  const Duration hold_time = entry_.spec->timeout + std::chrono::seconds(30);
  const Duration visibility = world().engine.turn(
      [&](engine::Turn& turn) { return visibility_of(turn.state().find(*queue_), hold_time); });
  return Intake{.queue = queue_,
                .consumer = consumer_of(*entry_.spec),
                .max = std::min<std::size_t>(concurrency_.limit() - busy, queue::kReceiveMax),
                .visibility = visibility};
}

void AsyncRunner::received(const Catch& brought) {
  const ReceivedMessages messages(world().engine, brought.outcome);
  for (const auto& message : messages.messages()) {
    Item item = describe_item(message, world().secret, brought.hold);
    // See send_event. A record sent by another function has its own MessageId.
    if (const auto request = Uuid::parse(message.stored.contents.sender))
      item.message_id = *request;
    waiting_.push_back(
        {brought.outcome.after, std::move(item), std::string(message.stored.contents.body)});
  }
  synced();
}

void AsyncRunner::synced() {
  while (!waiting_.empty() && world().is_durable(waiting_.front().after)) {
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    begin(std::move(next));
  }
}

void AsyncRunner::begin(Waiting next) {
  stats_->running = ++running_;
  const std::uint32_t runs = RunCounts::read(next.item.retries, kAsyncScope).runs;
  const auto run =
      std::make_shared<const Run>(Run{entry_, std::move(next.item), std::move(next.event), runs});
  if (too_old(*run, Duration::zero())) return give_up(run, runs, "EventAgeExceeded", nullptr);
  const Duration age = std::max(Duration::zero(), world().wall() - run->item.sent_wall);
  world().counted(run->entry.id.arn())->async_age.record(static_cast<std::uint64_t>(age.count()));
  auto self = std::static_pointer_cast<AsyncRunner>(shared_from_this());
  world().invoker.invoke(
      run->entry.spec,
      {.request_id = run->item.message_id.text(),
       .payload = run->event,
       .client_context = {},
       .trace = run->item.trace,
       .invoked_arn = run->entry.id.arn()},
      [self, run](runtime::Outcome outcome) {
        auto shared = std::make_shared<runtime::Outcome>(std::move(outcome));
        self->world().strand.post([self, run, shared] { self->answered(run, *shared); });
      });
}

void AsyncRunner::answered(const RunPtr& run, const runtime::Outcome& outcome) {
  if (world().ran) {
    world().ran({async_queue_of(run->entry.id),
                 run->entry.id.name,
                 run->item.message_id.text(),
                 std::span(&run->item, 1),
                 outcome});
  }
  switch (outcome.kind) {
    case Kind::done:
      return succeeded(run, outcome);
    case Kind::function_error:
      return failed(run, outcome);
    case Kind::throttled:
    case Kind::service_error:
      return not_run(run, outcome);
  }
}

void AsyncRunner::succeeded(const RunPtr& run, const runtime::Outcome& outcome) {
  stats_->succeeded += 1;
  if (running_ >= concurrency_.limit()) concurrency_.saturated(world().engine.now());
  concurrency_.succeeded();
  const std::string& to = run->entry.config.on_success;
  send_away(run, to, to.empty() ? "" : document_of(*run, run->runs + 1, "Success", &outcome));
}

void AsyncRunner::failed(const RunPtr& run, const runtime::Outcome& outcome) {
  const std::uint32_t runs = run->runs + 1;
  if (runs > run->entry.config.retries_max.value_or(kRetriesDefault))
    return give_up(run, runs, "RetriesExhausted", &outcome);
  const Duration delay = kFirstRetry * (1 << (runs - 1));
  if (too_old(*run, delay)) return give_up(run, runs, "EventAgeExceeded", &outcome);
  stats_->retried += 1;
  run->item.hold->forget(run->item.receipt);
  const auto reported = world().engine.report_failure(
      async_queue_of(run->entry.id),
      {.handle = run->item.handle,
       .error = {.type = outcome.error_type,
                 .message = outcome.error_message,
                 .stack = outcome.stack,
                 .fingerprint = {},
                 .log = outcome.log},
       .disposition = queue::Disposition::retry,
       .retry_after = delay,
       .retries = RunCounts{.runs = runs, .due_seconds = 0, .retries = {}}.stored(kAsyncScope)});
  world().note("recording the failure of an asynchronous invocation", reported);
  ended(*run);
}

// The function did not run, so no attempt is counted; the delay grows with each receive without a
// run.
void AsyncRunner::not_run(const RunPtr& run, const runtime::Outcome& outcome) {
  if (run->entry.spec->concurrency_max == 0u)
    return give_up(run, run->runs, "RetriesExhausted", &outcome);
  const std::uint32_t in_vain =
      run->item.receive_count - std::min(run->item.receive_count, run->runs + 1);
  const auto delay =
      std::min(kLongestThrottle, std::chrono::seconds(1) * (1 << std::min(in_vain, 10u)));
  if (too_old(*run, delay)) return give_up(run, run->runs, "EventAgeExceeded", &outcome);
  concurrency_.throttled();
  run->item.hold->forget(run->item.receipt);
  const engine::Engine::VisibilityRequest request{run->item.handle, delay};
  world().note(
      "delaying an event",
      world().engine.change_visibility(async_queue_of(run->entry.id), std::span(&request, 1)));
  ended(*run);
}

bool AsyncRunner::too_old(const Run& run, Duration after) {
  const Duration age = world().wall() + after - run.item.sent_wall;
  return age >= run.entry.config.age_max.value_or(kAgeDefault);
}

void AsyncRunner::give_up(const RunPtr& run, std::uint32_t runs, std::string_view condition,
                          const runtime::Outcome* outcome) {
  stats_->dropped += 1;
  const auto counted = world().counted(run->entry.id.arn());
  counted->async_dropped.add();
  if (!run->entry.dead_letter_arn.empty()) {
    if (const auto sent = send_dead_letter(*run, outcome); !sent) {
      stats_->undelivered += 1;
      counted->dead_letter_failures.add();
      world().log("function " + run->entry.id.name +
                  ": its dead-letter queue did not accept an event: " + sent.error().message);
    }
  }
  const std::string& to = run->entry.config.on_failure;
  send_away(run, to, to.empty() ? "" : document_of(*run, runs, condition, outcome));
}

Result<void> AsyncRunner::send_dead_letter(const Run& run, const runtime::Outcome* outcome) {
  const queue::QueueIdentity to = TRY(parse_queue_arn(run.entry.dead_letter_arn));
  const std::string code = std::to_string(status_of(outcome));
  const std::string_view message =
      outcome == nullptr ? "The event was too old." : std::string_view(outcome->error_message);
  const std::string request_id = run.item.message_id.text();
  std::vector<store::AttributeView> attributes = {
      {"ErrorCode", "Number", code},
      {"ErrorMessage", "String", cut_text(message, kErrorMessageBytesMax)},
      {"RequestID", "String", request_id}};
  // Attribute values must not be empty.
  if (message.empty()) attributes.erase(attributes.begin() + 1);
  const bool fifo = to.name.ends_with(".fifo");
  const Letter letter({.body = run.event,
                       .sender = run.entry.id.account,
                       .group = fifo ? std::string_view(run.entry.id.name) : std::string_view(),
                       .dedup = fifo ? std::string_view(request_id) : std::string_view(),
                       .attributes = attributes});
  const queue::Draft draft = letter.draft();
  TRY(world().engine.send(to, std::span(&draft, 1)));
  return {};
}

std::string AsyncRunner::document_of(const Run& run, std::uint32_t runs, std::string_view condition,
                                     const runtime::Outcome* outcome) {
  const bool qualified = run.entry.id.name.find(':') != std::string::npos;
  const std::string arn = run.entry.id.arn() + (qualified ? "" : ":$LATEST");
  const std::string request_id = run.item.message_id.text();
  const bool error = outcome != nullptr && outcome->kind == Kind::function_error;
  const bool ran = outcome != nullptr && (error || outcome->kind == Kind::done);
  return events::write_async_record(
      {.wall = world().wall(),
       .request_id = request_id,
       .function_arn = arn,
       .condition = condition,
       .invoke_count = runs,
       .request_payload = run.event,
       .outcome = {.status = status_of(outcome),
                   .executed_version = "$LATEST",
                   .function_error = error,
                   .payload = ran ? std::string_view(outcome->payload) : std::string_view()}});
}

void AsyncRunner::send_away(const RunPtr& run, const std::string& to, std::string document) {
  auto destination = parse_destination(to);
  if (to.empty() || !destination) {
    remove(*run);
    return ended(*run);
  }
  Delivery delivery{.to = *std::move(destination),
                    .from = async_queue_of(run->entry.id),
                    .handles = {std::string(run->item.handle)},
                    .documents = {std::move(document)},
                    .object_key = events::async_record_key(
                        run->entry.id.name, world().wall(), world().ids.uuid().text()),
                    .sender = run->entry.id.name};
  auto self = std::static_pointer_cast<AsyncRunner>(shared_from_this());
  deliver(shared_world(), std::move(delivery), [self, run](const Result<void>& delivered) {
    if (!delivered) {
      self->stats_->undelivered += 1;
      self->world().counted(run->entry.id.arn())->destination_failures.add();
      self->world().log("function " + run->entry.id.name +
                        ": a destination did not accept a record: " + delivered.error().message);
      self->remove(*run);
    }
    self->ended(*run);
  });
}

void AsyncRunner::remove(const Run& run) {
  world().note(
      "deleting an event",
      world().engine.remove_held(async_queue_of(run.entry.id), std::span(&run.item.receipt, 1)));
}

void AsyncRunner::ended(const Run& run) {
  run.item.hold->forget(run.item.receipt);
  stats_->running = --running_;
  poll();
}

}  // namespace redrive::dispatch
