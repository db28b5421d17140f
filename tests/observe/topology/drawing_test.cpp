#include "observe/topology/drawing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace redrive::topology {
namespace {

using testing::HasSubstr;

Queue box(const std::string& name, const std::string& target = "") {
  Queue queue{.arn = "arn:aws:sqs:r:0:" + name};
  if (!target.empty()) queue.target = {.arn = "arn:aws:sqs:r:0:" + target, .receive_count_max = 3};
  return queue;
}

Topology shop() {
  std::vector<Queue> queues = {box("returns", "shop-dlq"),
                               box("orders", "shop-dlq"),
                               box("shop-dlq", "attic"),
                               box("attic"),
                               box("alone"),
                               box("lost", "gone")};
  queues[1].visible = 3;
  queues[1].in_flight = 1;
  queues[2].visible = 12;
  queues[4].delayed = 2;
  return Topology(queues);
}

TEST(Tree, ShowsSourcesBelowTheirDeadLetterQueues) {
  EXPECT_EQ(draw_tree(shop()),
            "gone  does not exist\n"
            "└─ lost  empty; after 3 receives\n"
            "attic  empty\n"
            "└─ shop-dlq  12 visible; after 3 receives\n"
            "   ├─ orders  3 visible, 1 in flight; after 3 receives\n"
            "   └─ returns  empty; after 3 receives\n"
            "alone  2 delayed\n");
}

TEST(Tree, ALoopIsDrawnOnceAround) {
  EXPECT_EQ(draw_tree(Topology({box("a", "b"), box("b", "a"), box("in", "b")})),
            "a  empty; after 3 receives\n"
            "└─ b  empty; after 3 receives\n"
            "   ├─ a  (a loop)\n"
            "   └─ in  empty; after 3 receives\n");
}

TEST(Tree, TellsWhatCannotBeSeen) {
  EXPECT_THAT(draw_tree(Topology({box("a", "b")}, {"arn:aws:sqs:r:0:b"})),
              HasSubstr("b  not accessible\n"));
}

TEST(Dot, HasEveryQueueAndEveryArrow) {
  const std::string dot = draw_dot(shop());
  EXPECT_THAT(dot,
              HasSubstr("\"arn:aws:sqs:r:0:orders\" -> \"arn:aws:sqs:r:0:shop-dlq\" "
                        "[label=\"after 3 receives\"];"));
  EXPECT_THAT(dot,
              HasSubstr("\"arn:aws:sqs:r:0:gone\" [label=\"gone does not exist\", "
                        "style=dashed];"));
  EXPECT_THAT(dot, HasSubstr("[label=\"alone (2 delayed)\"];"));
}

TEST(Dot, StrangeNamesStayInTheirQuotes) {
  EXPECT_THAT(draw_dot(Topology({box("x\"];evil[\\")})), HasSubstr("\"x\\\"];evil[\\\\ (empty)\""));
}

TEST(Mermaid, HasEveryQueueAndEveryArrow) {
  EXPECT_EQ(draw_mermaid(Topology({box("a", "b"), box("b"), box("c", "gone"), box("d\"<")})),
            "flowchart LR\n"
            "  q0[\"a (empty)\"]\n"
            "  q1[(\"b (empty)\")]\n"
            "  q2[\"c (empty)\"]\n"
            "  q3[\"d#34;#60; (empty)\"]\n"
            "  q4{{\"gone does not exist\"}}\n"
            "  q0 -->|after 3 receives| q1\n"
            "  q2 -->|after 3 receives| q4\n");
}

Topology shop_with_handlers() {
  return Topology({box("orders", "dlq"), box("dlq")},
                  {},
                  {{.mapping = "2",
                    .queue_arn = "arn:aws:sqs:r:0:orders",
                    .function = "ship",
                    .enabled = false},
                   {.mapping = "1", .queue_arn = "arn:aws:sqs:r:0:orders", .function = "charge"},
                   {.mapping = "3", .queue_arn = "arn:aws:sqs:r:0:gone", .function = "charge"}});
}

TEST(Handlers, StandBehindTheirQueueInATree) {
  EXPECT_EQ(draw_tree(shop_with_handlers()),
            "dlq  empty\n"
            "└─ orders  empty; after 3 receives; feeds charge; feeds ship (disabled)\n");
}

TEST(Handlers, AreNodesOfTheirOwnInGraphs) {
  const std::string dot = draw_dot(shop_with_handlers());
  EXPECT_THAT(dot, HasSubstr("\"function charge\" [label=\"charge\", shape=ellipse];"));
  EXPECT_THAT(dot,
              HasSubstr("\"arn:aws:sqs:r:0:orders\" -> \"function ship\" [label=\"disabled\", "
                        "style=dashed];"));
  EXPECT_EQ(dot.find("gone"), std::string::npos);
  const std::string mermaid = draw_mermaid(shop_with_handlers());
  EXPECT_THAT(mermaid, HasSubstr("  f0(\"charge\")\n  f1(\"ship\")\n"));
  EXPECT_THAT(mermaid, HasSubstr("  q1 -->|feeds| f0\n  q1 -.->|disabled| f1\n"));
}

}  // namespace
}  // namespace redrive::topology
