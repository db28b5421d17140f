#include "aws/sqs/model/actions.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "net/wire/decoder.h"
#include "net/wire/encode.h"
#include "tests/aws/sqs/model/samples.h"
#include "tests/net/wire/padded.h"

namespace redrive::sqs {
namespace {

template <class T>
void expect_json_round_trip() {
  const T original = sample<T>();
  std::string json;
  wire::encode_json(json, original);
  wire::Decoder decoder;
  T decoded;
  const wire::Padded body(json);
  const auto result = wire::decode_json(decoder, body, decoded);
  ASSERT_TRUE(result) << result.error().message << "\n" << json;
  EXPECT_EQ(decoded, original) << json;
}

template <class T>
void expect_query_round_trip() {
  const T original = sample<T>();
  std::string form = "Action=Any&Version=2012-11-05";
  wire::encode_query(form, original);
  wire::Decoder decoder;
  T decoded;
  const auto result = wire::decode_query(decoder, "", form, decoded);
  ASSERT_TRUE(result) << result.error().message << "\n" << form;
  EXPECT_EQ(decoded, original) << form;
}

TEST(Actions, TravelInJson) {
  AllActions::for_each([]<class Action>() {
    SCOPED_TRACE(Action::kName);
    expect_json_round_trip<typename Action::Input>();
    expect_json_round_trip<typename Action::Output>();
  });
}

TEST(Actions, TravelInQuery) {
  AllActions::for_each([]<class Action>() {
    SCOPED_TRACE(Action::kName);
    expect_query_round_trip<typename Action::Input>();
    expect_query_round_trip<typename Action::Output>();
  });
}

TEST(Actions, HaveDistinctNamesAndKnowTheirPlaces) {
  const std::set<std::string_view> names(AllActions::kNames.begin(), AllActions::kNames.end());
  EXPECT_EQ(names.size(), 23u);
  for (std::size_t i = 0; i < AllActions::kSize; ++i) {
    EXPECT_EQ(AllActions::index_of(AllActions::kNames[i]), i);
  }
  EXPECT_EQ(AllActions::index_of("sendmessage"), std::nullopt);
  EXPECT_EQ(AllActions::index_of(""), std::nullopt);
}

TEST(Actions, MakeADispatchTable) {
  constexpr auto kQueueFlags =
      AllActions::table<bool>([]<class Action>() { return names_queue<typename Action::Input>; });
  std::set<std::string_view> without;
  for (std::size_t i = 0; i < AllActions::kSize; ++i) {
    if (!kQueueFlags[i]) without.insert(AllActions::kNames[i]);
  }
  const std::set<std::string_view> expected = {"CreateQueue",
                                               "GetQueueUrl",
                                               "ListQueues",
                                               "StartMessageMoveTask",
                                               "CancelMessageMoveTask",
                                               "ListMessageMoveTasks"};
  EXPECT_EQ(without, expected);
}

}  // namespace
}  // namespace redrive::sqs
