#include <gtest/gtest.h>

#include "tests/dead_letters/dead_letter_world.h"

// Messages found by their lineage, put into an archive by who holds them, and taken back.

namespace redrive::engine {
namespace {

using Where = LineagePlace::Where;
using Kind = queue::LineageEvent::Kind;

struct Lineages : DeadLetterWorld {
  Uuid send(const std::string& body) {
    return world.try_send("orders", body).value().outcomes[0].message_id;
  }
  std::vector<Result<void>> archive(const std::string& name, std::string_view place) {
    std::vector<ArchivedByHolder> archived;
    for (const std::string& handle : world.last_handles) archived.push_back({handle, place});
    return dead_letters()
        .lineages.archive_held(identity_of(name), archived, {.name = "worker"})
        .value();
  }
  // As a document in an archive would tell it.
  Unarchive told_by(const LineageFound& found) {
    const LineagePlace& place = found.places.at(0);
    tail_.clear();
    store::encode_tail(tail_, {.body = "back"});
    return {.draft = {.tail = tail_, .tail_crc = crc32c(tail_)},
            .lineage = found.lineage,
            .archived_as = place.message_id,
            .told = place.message};
  }
  Unarchived unarchive(const Unarchive& message) {
    return dead_letters()
        .lineages.unarchive(identity_of("orders"), std::span(&message, 1), {.name = "ada"})
        .value()
        .at(0);
  }
  std::vector<Kind> kinds(const LineagePlace& place) {
    std::vector<Kind> found;
    for (const auto& event : place.message.history->events) found.push_back(event.kind);
    return found;
  }

  std::string tail_;
};

TEST_F(Lineages, LeadToMessagesWhereverTheyAre) {
  const Uuid first = send("m");
  auto found = dead_letters().lineages.find(first);
  ASSERT_EQ(found.places.size(), 1u);
  EXPECT_EQ(found.places[0].where, Where::queue);
  EXPECT_EQ(found.places[0].queue, identity_of("orders").arn());
  fail_all("orders");
  EXPECT_EQ(dead_letters().lineages.find(first).places.at(0).queue, identity_of("dead").arn());
  ASSERT_TRUE(dead_letters().bin.discard(identity_of("dead"), keys("dead"), {}));
  found = dead_letters().lineages.find(first);
  EXPECT_EQ(found.places.at(0).where, Where::bin);
  EXPECT_EQ(found.places.at(0).queue, identity_of("dead").arn());
  EXPECT_EQ(found.places.at(0).message.errors.at(0).type, "Broken");
  EXPECT_TRUE(dead_letters().lineages.find(world.ids.uuid()).places.empty());
}

TEST_F(Lineages, AreFoundByTheIdThatARedriveGave) {
  const Uuid first = send("m");
  fail_all("orders");
  start({});
  engine().tick();
  const auto found = dead_letters().lineages.find(first);
  ASSERT_EQ(found.places.size(), 1u);
  const Uuid second = found.places[0].message_id;
  EXPECT_NE(second, first);
  const auto again = dead_letters().lineages.find(second);
  EXPECT_EQ(again.lineage, first);
  ASSERT_EQ(again.places.size(), 1u);
  EXPECT_EQ(again.places[0].message_id, second);
}

TEST_F(Lineages, SayWhereAMessageIsArchivedAndWhatItHadBeenThrough) {
  const Uuid first = send("m");
  fail_all("orders");
  ASSERT_EQ(world.receive("dead").size(), 1u);
  ASSERT_TRUE(archive("dead", "s3://graveyard/m").at(0));
  EXPECT_EQ(size("dead"), 0u);
  const auto check = [&] {
    const auto found = dead_letters().lineages.find(first);
    ASSERT_EQ(found.places.size(), 1u);
    const LineagePlace& place = found.places[0];
    EXPECT_EQ(place.where, Where::archive);
    EXPECT_EQ(place.archive, "s3://graveyard/m");
    EXPECT_EQ(place.queue, identity_of("dead").arn());
    EXPECT_EQ(kinds(place), (std::vector{Kind::dead_lettered, Kind::archived}));
    EXPECT_EQ(place.message.events.back().actor, "worker");
    ASSERT_EQ(place.message.history->attempts.size(), 2u);
    EXPECT_EQ(place.message.history->attempts[1].end, queue::AttemptEnd::released);
    EXPECT_EQ(place.message.errors[0].type, "Broken");
    EXPECT_EQ(place.message.origin, identity_of("orders").arn());
  };
  check();
  expect_restart_changes_nothing();
  check();
}

TEST_F(Lineages, OnlyWhoHoldsAMessageSaysThatItIsArchived) {
  make_dead(2);
  ASSERT_EQ(world.receive("dead", 2, seconds(1)).size(), 2u);
  const std::vector<std::string> stale = world.last_handles;
  world.pass(seconds(2));
  ASSERT_EQ(world.receive("dead", 1).size(), 1u);
  world.last_handles = stale;
  world.last_handles.push_back("forged");
  const auto results = archive("dead", "file:///a/b");
  EXPECT_NE(results.at(0).has_value(), results.at(1).has_value());  // One was given to another.
  EXPECT_EQ(results.at(2).error().code, ErrorCode::receipt_handle_is_invalid);
  EXPECT_EQ(size("dead"), 1u);
  EXPECT_EQ(state().archived().entries().size(), 1u);
  expect_restart_changes_nothing();
}

TEST_F(Lineages, GoOnWhenAMessageComesBackFromTheArchive) {
  const Uuid first = send("m");
  fail_all("orders");
  ASSERT_EQ(world.receive("dead").size(), 1u);
  ASSERT_TRUE(archive("dead", "s3://graveyard/m").at(0));
  const Unarchive message = told_by(dead_letters().lineages.find(first));
  const Unarchived back = unarchive(message);
  EXPECT_FALSE(back.before);
  EXPECT_NE(back.message_id, first);
  const auto found = dead_letters().lineages.find(first);
  ASSERT_EQ(found.places.size(), 2u);
  EXPECT_NE(found.places[0].restored_wall, Timestamp());
  const LineagePlace& live = found.places[1];
  EXPECT_EQ(live.where, Where::queue);
  EXPECT_EQ(live.message_id, back.message_id);
  EXPECT_EQ(kinds(live), (std::vector{Kind::dead_lettered, Kind::archived, Kind::unarchived}));
  EXPECT_EQ(live.message.errors.at(0).type, "Broken");
  EXPECT_EQ(live.message.history->attempts_total, 2u);
  EXPECT_EQ(live.message.receive_count, 0u);
  expect_restart_changes_nothing();
  // It fails once more, and everything is still there.
  fail_all("orders", {.type = "Again"});
  const auto dead = dead_letters().lineages.find(back.message_id).places.at(1);
  EXPECT_EQ(dead.queue, identity_of("dead").arn());
  EXPECT_EQ(dead.message.errors.at(2).type, "Again");
  EXPECT_EQ(world.receive("dead"), Bodies{"back"});
}

TEST_F(Lineages, ComeBackOnceUnlessSomebodyInsists) {
  const Uuid first = send("m");
  fail_all("orders");
  ASSERT_EQ(world.receive("dead").size(), 1u);
  ASSERT_TRUE(archive("dead", "s3://graveyard/m").at(0));
  Unarchive message = told_by(dead_letters().lineages.find(first));
  EXPECT_FALSE(unarchive(message).before);
  EXPECT_TRUE(unarchive(message).before);  // Whoever restores was killed before it could clear up.
  world.restart();
  EXPECT_TRUE(unarchive(message).before);
  EXPECT_EQ(size("orders"), 1u);
  message.again = true;
  EXPECT_FALSE(unarchive(message).before);
  EXPECT_EQ(size("orders"), 2u);
}

TEST_F(Lineages, OfArchivesThatNobodyRemembersAreTakenAtTheirWord) {
  Unarchive message = told_by({.lineage = Uuid{{9, 9}}, .places = {LineagePlace{}}});
  message.told.history.emplace();
  message.told.history->add(queue::Attempt{.received_wall = Timestamp(5)});
  message.told.consumers = {"somebody"};
  message.told.errors = {{.type = "Elsewhere"}};
  message.told.origin = "arn:aws:sqs:us-east-1:000000000000:there";
  ASSERT_FALSE(unarchive(message).before);
  const auto found = dead_letters().lineages.find(Uuid{{9, 9}});
  ASSERT_EQ(found.places.size(), 1u);
  EXPECT_EQ(found.places[0].message.consumers, std::vector<std::string>{"somebody"});
  EXPECT_EQ(found.places[0].message.errors.at(0).type, "Elsewhere");
  EXPECT_EQ(found.places[0].message.origin, "arn:aws:sqs:us-east-1:000000000000:there");
  EXPECT_EQ(found.places[0].message.history->attempts[0].end, queue::AttemptEnd::released);
  expect_restart_changes_nothing();
}

}  // namespace
}  // namespace redrive::engine
