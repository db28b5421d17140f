#include "observe/traces/context.h"

#include <gtest/gtest.h>

namespace redrive::traces {
namespace {

constexpr const char* kXray =
    "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1";
constexpr const char* kW3c = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
constexpr const char* kLineage = "f4e1d2c3-b4a5-4678-89ab-cdef01234567";

TEST(Xray, TellsTraceAndParent) {
  const auto context = parse_xray_header(kXray);
  ASSERT_TRUE(context.has_value());
  EXPECT_EQ(hex(context->trace), "5759e988bd862e3fe1be46a994272793");
  EXPECT_EQ(hex(context->parent), "53995c3f42cd8ad8");
}

TEST(Xray, WithoutAllOfItThereIsNothingToGoOnFrom) {
  for (const char* header :
       {"",
        "Root=1-5759e988-bd862e3fe1be46a994272793",
        "Parent=53995c3f42cd8ad8",
        "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=0",
        "Root=2-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8",
        "Root=1-5759e988;Parent=53995c3f42cd8ad8",
        "Root=1-00000000-000000000000000000000000;Parent=53995c3f42cd8ad8",
        "Root=1-5759e988-bd862e3fe1be46a99427279;Parent=53995c3f42cd8ad8",
        "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8adg"}) {
    EXPECT_FALSE(parse_xray_header(header).has_value()) << header;
  }
}

TEST(W3c, TellsTraceAndParent) {
  const auto context = parse_traceparent(kW3c);
  ASSERT_TRUE(context.has_value());
  EXPECT_EQ(hex(context->trace), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(hex(context->parent), "00f067aa0ba902b7");
  EXPECT_TRUE(parse_traceparent(std::string("01") + (kW3c + 2) + "-more").has_value());
}

TEST(W3c, WhatIsNotWellFormedIsNotBelieved) {
  for (const std::string& header :
       {std::string(),
        std::string(kW3c).substr(1),
        std::string(kW3c) + "-more",
        "ff" + std::string(kW3c).substr(2),
        std::string("00-00000000000000000000000000000000-00f067aa0ba902b7-01"),
        std::string("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01"),
        std::string("00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01")}) {
    EXPECT_FALSE(parse_traceparent(header).has_value()) << header;
  }
}

TEST(Place, AMessageWithoutATraceIsOneOfItsOwn) {
  const Place place = place_of({.lineage = *Uuid::parse(kLineage), .xray = "", .traceparent = ""});
  EXPECT_EQ(hex(place.trace), "f4e1d2c3b4a5467889abcdef01234567");
  EXPECT_EQ(hex(place.send), "89abcdef01234567");
  EXPECT_FALSE(place.before.has_value());
}

TEST(Place, ItsSendHasTheSameSpanWhoeverLooks) {
  const Origin with_both{.lineage = *Uuid::parse(kLineage), .xray = kXray, .traceparent = kW3c};
  EXPECT_EQ(hex(place_of(with_both).trace), "4bf92f3577b34da6a3ce929d0e0e4736");
  const Origin with_xray{.lineage = *Uuid::parse(kLineage), .xray = kXray, .traceparent = "?"};
  const Place place = place_of(with_xray);
  EXPECT_EQ(hex(place.trace), "5759e988bd862e3fe1be46a994272793");
  EXPECT_EQ(hex(place.send), "89abcdef01234567");
  EXPECT_EQ(hex(place.before.value_or(SpanId{})), "53995c3f42cd8ad8");
}

}  // namespace
}  // namespace redrive::traces
