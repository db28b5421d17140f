#include "sim/server.h"

namespace redrive::sim {

Server::Server(const Shape& shape)
    : store_({.checkpoint_bytes_min = shape.checkpoint_bytes, .checkpoint_segments = 4}) {}

Result<std::unique_ptr<Server>> Server::open(Parts parts, const Shape& shape) {
  std::unique_ptr<Server> server(new Server(shape));
  auto opened = TRY(replay_into(server->store_, parts.files, shape, server->recovered_));
  server->journal_ = std::make_unique<WatchedJournal>(std::move(opened));
  CHECK(server->store_.attach(*server->journal_));
  Server* const self = server.get();
  server->engine_ = std::make_unique<engine::Engine>(
      engine::Engine::Parts{server->store_, *server->journal_, parts.clock, parts.ids},
      engine::Engine::Hooks{.wake_earlier = {}, .sync_wanted = {}, .log = [self](std::string line) {
                              self->complaints_.push_back(std::move(line));
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
  return journal::open_journal(files, options, replay, recovered);
}

}  // namespace redrive::sim
