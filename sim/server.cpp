#include "sim/server.h"

namespace redrive::sim {

Result<std::string> Graveyard::bury(const engine::Peeked& message, std::string stored) {
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
  CHECK(server->store_.attach(*server->journal_));
  Server* const self = server.get();
  // Few enough that they have to make room for each other.
  constexpr engine::SettledLimits kSettled{.messages_max = 12};
  server->engine_ = std::make_unique<engine::Engine>(
      engine::Engine::Parts{.store = server->store_,
                            .journal = *server->journal_,
                            .clock = parts.clock,
                            .ids = parts.ids,
                            .settled = kSettled},
      engine::Engine::Hooks{.wake_earlier = {},
                            .sync_wanted = {},
                            // An archive that is away is no fault of the server's.
                            .log =
                                [self](std::string line) {
                                  if (!line.starts_with("a dead letter stays"))
                                    self->complaints_.push_back(line);
                                },
                            .archive =
                                [&graveyard = parts.graveyard](const engine::ArchiveItem& item) {
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
