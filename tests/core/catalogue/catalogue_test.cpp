#include <gtest/gtest.h>

#include "core/catalogue/documents.h"
#include "core/catalogue/queues.h"
#include "core/queue/hidden_queues.h"
#include "tests/core/engine/engine_world.h"

namespace redrive::catalogue {
namespace {

struct Catalogue : testing::Test {
  std::optional<std::string> document(EntryKind kind, const std::string& name) {
    return world.engine().turn([&](engine::Turn& turn) -> std::optional<std::string> {
      const std::string* const found = turn.state().find_entry(kind, name);
      return found == nullptr ? std::nullopt : std::optional(*found);
    });
  }
  bool exists(const queue::QueueIdentity& identity) {
    return world.engine().turn(
        [&](engine::Turn& turn) { return turn.state().find(identity) != nullptr; });
  }

  engine::EngineWorld world;
  const queue::QueueIdentity orders{"000000000000", "us-east-1", "orders"};
};

TEST_F(Catalogue, EditsAreOneRecordAndOwnTheirTexts) {
  const auto before = world.engine().appended();
  world.engine().turn([](engine::Turn& turn) {
    Edits edits;
    for (const char* const name : {"a", "b", "c"}) {
      edits.put(EntryKind::setting, std::string("name-") + name, std::string(100, *name));
    }
    edits.remove(EntryKind::setting, "name-b");
    edits.commit(turn);
    EXPECT_TRUE(edits.empty());
  });
  EXPECT_EQ(world.engine().appended(), before + 1);
  EXPECT_EQ(document(EntryKind::setting, "name-a"), std::string(100, 'a'));
  EXPECT_EQ(document(EntryKind::setting, "name-b"), std::nullopt);
  EXPECT_EQ(document(EntryKind::setting, "name-c"), std::string(100, 'c'));
}

TEST_F(Catalogue, NothingIsRecordedForNoEdits) {
  const auto before = world.engine().appended();
  world.engine().turn([](engine::Turn& turn) { Edits().commit(turn); });
  EXPECT_EQ(world.engine().appended(), before);
}

TEST_F(Catalogue, AQueueIsDeletedWithItsHiddenQueues) {
  world.engine().turn([&](engine::Turn& turn) {
    create_queue(turn, orders, {}, {{"team", "shop"}});
    turn.hidden_queue(queue::bin_of(orders), {});
    turn.hidden_queue(queue::damaged_of(orders), {});
    turn.hidden_queue(queue::settled_of(orders), {});
    EXPECT_EQ(turn.state().find(orders)->tags.at("team"), "shop");
  });
  world.engine().turn([&](engine::Turn& turn) { delete_queue(turn, **turn.queue(orders)); });
  for (const auto& gone :
       {orders, queue::bin_of(orders), queue::damaged_of(orders), queue::settled_of(orders)}) {
    EXPECT_FALSE(exists(gone)) << gone.name;
  }
}

}  // namespace
}  // namespace redrive::catalogue
