#include "functions/dispatch/delivery.h"

#include <fmt/format.h>

#include "core/catalogue/queues.h"
#include "functions/dispatch/letter.h"
#include "net/http/client.h"

namespace redrive::dispatch {
namespace {

using queue::QueueIdentity;

constexpr std::chrono::milliseconds kWebhookTimeout{5'000};
constexpr int kWebhookAttempts = 3;
// Longer than any event may wait, so that its age and not retention ends it.
constexpr std::chrono::seconds kAsyncRetention = std::chrono::days(4);

std::vector<std::string_view> views_of(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

std::vector<Letter> letters_for(World& world, const QueueIdentity& to, const Delivery& delivery) {
  const bool fifo = to.name.ends_with(".fifo");
  std::vector<Letter> letters;
  for (const std::string& document : delivery.documents) {
    const std::string dedup = fifo ? world.ids.uuid().text() : std::string();
    letters.emplace_back(Letter::Contents{.body = document,
                                          .sender = delivery.sender,
                                          .group = fifo ? delivery.sender : std::string_view(),
                                          .dedup = dedup,
                                          .attributes = {}});
  }
  return letters;
}

Result<void> exchange(World& world, const QueueIdentity& to, const Delivery& delivery) {
  const std::vector<Letter> letters = letters_for(world, to, delivery);
  TRY(world.engine.exchange(delivery.from, views_of(delivery.handles), to, drafts_of(letters)));
  return {};
}

Result<void> invoke_later(World& world, const functions::FunctionId& function,
                          const Delivery& delivery) {
  RETURN_IF_ERROR(ensure_async_queue(world.engine, function));
  RETURN_IF_ERROR(exchange(world, async_queue_of(function), delivery));
  world.counted(function.arn())->async_received.add(delivery.documents.size());
  if (world.async_sent) world.async_sent(function.arn());
  return {};
}

Result<void> remove_messages(World& world, const Delivery& delivery) {
  TRY(world.engine.remove(delivery.from, views_of(delivery.handles)));
  return {};
}

std::string key_of(const Delivery& delivery, std::size_t index) {
  return index == 0 ? delivery.object_key : fmt::format("{}-{}", delivery.object_key, index);
}

Result<void> put_objects(World& world, const std::string& bucket, const Delivery& delivery) {
  if (world.buckets == nullptr)
    return fail(ErrorCode::resource_not_found, "the server has no buckets");
  if (!world.buckets->is_for(bucket, delivery.from.account)) {
    return fail(ErrorCode::access_denied,
                fmt::format("the bucket {} belongs to another account", bucket));
  }
  const Timestamp wall = world.wall();
  for (std::size_t i = 0; i < delivery.documents.size(); ++i) {
    const std::string key = key_of(delivery, i);
    const auto put = world.buckets->put(bucket,
                                        {.key = key,
                                         .body = delivery.documents[i],
                                         .content_type = "application/json",
                                         .headers = {},
                                         .modified = wall});
    if (!put) return fail(ErrorCode::storage_io, put.error().message);
  }
  return {};
}

Result<void> post_document(const World& world, const std::string& url,
                           const std::string& document) {
  http::Client client;
  const auto answer = TRY(client.send({.url = url,
                                       .headers = {{"Content-Type", "application/json"}},
                                       .body = document,
                                       .timeout = kWebhookTimeout,
                                       .outgoing = world.outgoing}));
  if (answer.status / 100 == 2) return {};
  return fail(ErrorCode::network, fmt::format("{} answered {}", url, answer.status));
}

// Blocks; runs on a worker. `sent` is the number of documents delivered so far.
Result<void> post_documents(const World& world, const std::string& url, const Delivery& delivery,
                            std::size_t& sent) {
  for (; sent < delivery.documents.size(); ++sent) {
    RETURN_IF_ERROR(post_document(world, url, delivery.documents[sent]));
  }
  return {};
}

// A delivery that may block or needs retries.
struct RemoteDelivery : std::enable_shared_from_this<RemoteDelivery> {
  std::shared_ptr<World> world;
  Delivery delivery;
  Delivered done;
  std::size_t sent = 0;
  int attempts = 0;

  void begin() {
    world->workers.run([self = shared_from_this()] {
      auto result = self->attempt();
      self->world->strand.post([self, result = std::move(result)] { self->ended(result); });
    });
  }
  Result<void> attempt() {
    ++attempts;
    if (const auto* bucket = std::get_if<BucketName>(&delivery.to))
      return put_objects(*world, bucket->name, delivery);
    return post_documents(*world, std::get<WebhookUrl>(delivery.to).url, delivery, sent);
  }
  void ended(const Result<void>& result) {
    if (result) return done(remove_messages(*world, delivery));
    // A policy violation is permanent.
    const bool hopeless = result.error().code == ErrorCode::access_denied;
    if (std::holds_alternative<BucketName>(delivery.to) || hopeless || attempts >= kWebhookAttempts)
      return done(result);
    world->strand.after(std::chrono::seconds(attempts),
                        [self = shared_from_this()] { self->begin(); });
  }
};

queue::QueueSettings async_settings() {
  queue::QueueSettings settings;
  settings.retention = kAsyncRetention;
  return settings;
}

}  // namespace

void deliver(const std::shared_ptr<World>& world, Delivery delivery, Delivered done) {
  if (const auto* queue = std::get_if<QueueIdentity>(&delivery.to))
    return done(exchange(*world, *queue, delivery));
  if (const auto* function = std::get_if<functions::FunctionId>(&delivery.to))
    return done(invoke_later(*world, *function, delivery));
  auto remote = std::make_shared<RemoteDelivery>();
  remote->world = world;
  remote->delivery = std::move(delivery);
  remote->done = std::move(done);
  remote->begin();
}

Result<void> ensure_async_queue(engine::Engine& engine, const functions::FunctionId& function) {
  QueueIdentity identity = async_queue_of(function);
  identity.of_ours = false;
  engine.turn([&](engine::Turn& turn) {
    if (turn.state().find(identity) != nullptr) return;
    catalogue::create_queue(turn, identity, async_settings());
  });
  return {};
}

Result<engine::Sequence> send_event(engine::Engine& engine, const functions::FunctionId& function,
                                    const runtime::Invocation& event) {
  RETURN_IF_ERROR(ensure_async_queue(engine, function));
  // There is no sender; the field holds the request's id.
  const Letter letter(
      {.body = event.payload.as_json().text(), .sender = event.request_id, .trace = event.trace});
  const queue::Draft draft = letter.draft();
  return TRY(engine.send(async_queue_of(function), std::span(&draft, 1))).after;
}

}  // namespace redrive::dispatch
