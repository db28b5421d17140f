#include "app/storage.h"

#include <malloc.h>
#include <spdlog/spdlog.h>

namespace redrive::app {
namespace {

void report_recovery(const Config& config, const journal::Recovered& recovered,
                     const store::Store& store) {
  const auto& state = store.state();
  if (!recovered.truncated.empty()) spdlog::warn("{}", recovered.truncated);
  spdlog::info("recovered {} messages in {} queues from {} records ({} bytes) in {}",
               state.messages().size(),
               state.queues().size(),
               recovered.records,
               recovered.bytes,
               config.data);
  if (const auto orphans = state.orphans(); orphans > 0) {
    spdlog::warn(
        "{} facts refer to messages or queues that no longer exist: the journal was repaired",
        orphans);
  }
}

Result<void> replay_journal(const Config& config, Storage& storage) {
  storage.files = TRY(journal::PosixFiles::open(config.data, journal::OpenMode::create));
  journal::Recovered recovered;
  const auto replay = [&](journal::Sequence, journal::Location at, std::string_view payload) {
    return storage.store.replay(at, payload);
  };
  storage.journal =
      TRY(journal::open_journal(*storage.files, {}, replay, recovered, store::explain_damage));
  malloc_trim(0);  // Replay used memory that is not needed again.
  report_recovery(config, recovered, storage.store);
  return {};
}

}  // namespace

Result<std::unique_ptr<Storage>> open_storage(const Config& config) {
  auto storage = std::make_unique<Storage>();
  if (config.memory) {
    storage->journal = journal::memory_journal({});
  } else {
    RETURN_IF_ERROR(replay_journal(config, *storage));
  }
  RETURN_IF_ERROR(storage->store.attach(*storage->journal));
  return storage;
}

}  // namespace redrive::app
