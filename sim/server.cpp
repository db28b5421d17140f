#include "sim/server.h"

namespace redrive::sim {

Result<std::string> Graveyard::bury(const dead_letters::Peeked& message, std::string stored) {
  if (++asked % 5 == 0 && !always_takes)
    return fail(ErrorCode::internal_failure, "the archive is away");
  Uuid id = store::message_id_of(stored);
  if (message.history && message.history->message_id) id = *message.history->message_id;
  const std::string place = "s3://graveyard/" + id.text();
  graves.insert_or_assign(place, Grave{.stored = std::move(stored), .told = message});
  if (meanwhile) meanwhile(message.mark.key);
  return place;
}

Server::Server(const Shape& shape)
    : store_({.checkpoint_bytes_min = shape.checkpoint_bytes, .checkpoint_segments = 4}) {}

Result<std::unique_ptr<Server>> Server::open(Parts parts, const Shape& shape) {
  std::unique_ptr<Server> server(new Server(shape));
  auto opened = TRY(replay_into(server->store_, parts.files, shape, server->recovered_));
  server->journal_ = std::make_unique<WatchedJournal>(std::move(opened));
  RETURN_IF_ERROR(server->store_.attach(*server->journal_));
  Server* const self = server.get();
  // Few enough that they evict each other.
  constexpr dead_letters::SettledLimits kSettled{.messages_max = 12};
  server->engine_ = std::make_unique<engine::Engine>(
      engine::Engine::Parts{.store = server->store_,
                            .journal = *server->journal_,
                            .clock = parts.clock,
                            .ids = parts.ids},
      engine::Engine::Hooks{.wake_earlier = {},
                            .sync_wanted = {},
                            // An unavailable archive is not a server error.
                            .log = [self](std::string line) {
                              if (!line.starts_with("archiving failed, the dead letter stays"))
                                self->complaints_.push_back(line);
                            }});
  server->dead_letters_ = std::make_unique<dead_letters::DeadLetters>(
      *server->engine_,
      dead_letters::Options{
          .settled = kSettled,
          .archive = [&graveyard = parts.graveyard](const dead_letters::ArchiveItem& item) {
            return graveyard.bury(item.message, item.stored);
          }});
  return server;
}

Result<std::unique_ptr<journal::Journal>> replay_into(store::Store& store, journal::Files& files,
                                                      const Shape& shape,
                                                      journal::Recovered& recovered) {
  const journal::Options options{.segment_bytes = shape.segment_bytes,
                                 .tail_cache_bytes = shape.tail_cache_bytes,
                                 .spare_segments = 2};
  const auto replay = [&](journal::Sequence, journal::Location at, std::string_view payload) {
    return store.replay(at, payload);
  };
  return journal::open_journal(files, options, replay, recovered, store::explain_damage);
}

}  // namespace redrive::sim
