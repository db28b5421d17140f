#include "aws/sqs/queue_attributes.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace redrive::sqs {
namespace {

using queue::QueueSettings;

constexpr std::string_view kSse =
    "You can use one type of server-side encryption (SSE) at one time. You can either enable KMS "
    "SSE "
    "or SQS SSE.";

QueueSettings fifo_settings() {
  return *apply_attributes({}, {{"FifoQueue", "true"}}, AttributeUse::create);
}

Result<QueueSettings> set(const QueueSettings& settings, const StringMap& attributes) {
  return apply_attributes(settings, attributes, AttributeUse::change);
}

struct Range {
  const char* name;
  std::vector<const char*> good;
  std::vector<const char*> bad;
};

const Range kRanges[] = {
    {"VisibilityTimeout", {"0", "43200"}, {"-1", "43201", "", "x", "1.5", " 1", "1 ", "+1"}},
    {"MessageRetentionPeriod", {"60", "1209600"}, {"59", "1209601", "0", ""}},
    {"DelaySeconds", {"0", "900"}, {"-1", "901", ""}},
    {"ReceiveMessageWaitTimeSeconds", {"0", "20"}, {"-1", "21", ""}},
    {"MaximumMessageSize", {"1024", "1048576"}, {"1023", "1048577", "0", "-1", ""}},
    {"SqsManagedSseEnabled", {"true", "false"}, {"", "1", "yes", "truefalse"}},
    {"Policy", {R"({"Statement":[]})", "{}"}, {"{", "[]", "null", "\"text\"", "x"}},
};

TEST(QueueAttributes, AreReadBackAsTheyWereSet) {
  for (const auto& [name, good, bad] : kRanges) {
    SCOPED_TRACE(name);
    for (const char* text : good) {
      const auto changed = set({}, {{name, text}});
      ASSERT_TRUE(changed.has_value()) << text << ": " << changed.error().message;
      EXPECT_EQ(attribute_text(*changed, name), text);
    }
  }
}

TEST(QueueAttributes, OutOfRangeAreRefusedByName) {
  for (const auto& [name, good, bad] : kRanges) {
    for (const char* text : bad) {
      if (std::string_view(name) == "Policy" && *text == '\0') continue;
      const auto changed = set({}, {{name, text}});
      ASSERT_FALSE(changed.has_value()) << name << " = " << text;
      EXPECT_EQ(changed.error(),
                (Error{ErrorCode::invalid_attribute_value,
                       "Invalid value for the parameter " + std::string(name) + "."}));
    }
  }
}

TEST(QueueAttributes, HaveTheDefaultsOfTheReference) {
  const std::pair<const char*, std::optional<std::string>> cases[] = {
      {"VisibilityTimeout", "30"},
      {"MessageRetentionPeriod", "345600"},
      {"DelaySeconds", "0"},
      {"MaximumMessageSize", "1048576"},
      {"ReceiveMessageWaitTimeSeconds", "0"},
      {"SqsManagedSseEnabled", "true"},
      {"Policy", std::nullopt},
      {"RedrivePolicy", std::nullopt},
      {"RedriveAllowPolicy", std::nullopt},
      {"KmsMasterKeyId", std::nullopt},
      {"KmsDataKeyReusePeriodSeconds", std::nullopt},
      {"FifoQueue", std::nullopt},
      {"ContentBasedDeduplication", std::nullopt},
      {"DeduplicationScope", std::nullopt},
      {"FifoThroughputLimit", std::nullopt},
      {"QueueArn", std::nullopt},
  };
  for (const auto& [name, text] : cases) EXPECT_EQ(attribute_text({}, name), text) << name;
  const QueueSettings fifo = fifo_settings();
  EXPECT_EQ(attribute_text(fifo, "FifoQueue"), "true");
  EXPECT_EQ(attribute_text(fifo, "ContentBasedDeduplication"), "false");
  EXPECT_EQ(attribute_text(fifo, "DeduplicationScope"), "queue");
  EXPECT_EQ(attribute_text(fifo, "FifoThroughputLimit"), "perQueue");
}

TEST(QueueAttributes, BooleansMayBeInAnyCase) {
  EXPECT_EQ(attribute_text(*set({}, {{"SqsManagedSseEnabled", "False"}}), "SqsManagedSseEnabled"),
            "false");
  EXPECT_TRUE(apply_attributes({}, {{"FifoQueue", "TRUE"}}, AttributeUse::create)->is_fifo());
}

TEST(QueueAttributes, UnknownAndReadOnlyNamesAreRefused) {
  for (const char* name : {"",
                           "visibilitytimeout",
                           "Nonsense",
                           "All",
                           "QueueArn",
                           "CreatedTimestamp",
                           "LastModifiedTimestamp",
                           "ApproximateNumberOfMessages"}) {
    EXPECT_EQ(
        set({}, {{name, "1"}}).error(),
        (Error{ErrorCode::invalid_attribute_name, "Unknown Attribute " + std::string(name) + "."}));
  }
}

TEST(QueueAttributes, AreAppliedAllOrNone) {
  const QueueSettings before = *set({}, {{"DelaySeconds", "5"}});
  EXPECT_FALSE(set(before, {{"DelaySeconds", "7"}, {"VisibilityTimeout", "x"}}).has_value());
  const auto both = set(before, {{"DelaySeconds", "7"}, {"VisibilityTimeout", "8"}});
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(both->delay, std::chrono::seconds(7));
  EXPECT_EQ(both->visibility_timeout, std::chrono::seconds(8));
}

TEST(QueueAttributes, AreBoundedInLength) {
  const std::string long_text = R"({"x":")" + std::string(64 << 10, 'x') + R"("})";
  EXPECT_EQ(set({}, {{"Policy", long_text}}).error().code, ErrorCode::invalid_attribute_value);
  EXPECT_EQ(set({}, {{"KmsMasterKeyId", long_text}}).error().code,
            ErrorCode::invalid_attribute_value);
}

// ---- What only FIFO queues have.

TEST(FifoAttributes, AreUnknownOnStandardQueues) {
  for (const char* value : {"true", "false"}) {
    EXPECT_EQ(set({}, {{"FifoQueue", value}}).error(),
              (Error{ErrorCode::invalid_attribute_name, "Unknown Attribute FifoQueue."}));
    EXPECT_EQ(
        set({}, {{"ContentBasedDeduplication", value}}).error(),
        (Error{ErrorCode::invalid_attribute_name, "Unknown Attribute ContentBasedDeduplication."}));
  }
  EXPECT_EQ(apply_attributes({}, {{"FifoQueue", "false"}}, AttributeUse::create).error().message,
            "Unknown Attribute FifoQueue.");
  EXPECT_EQ(set({}, {{"DeduplicationScope", "queue"}}).error(),
            (Error{ErrorCode::invalid_attribute_name,
                   "You can specify the DeduplicationScope only when FifoQueue is set to true."}));
  EXPECT_EQ(set({}, {{"FifoThroughputLimit", "perQueue"}}).error(),
            (Error{ErrorCode::invalid_attribute_name,
                   "You can specify the FifoThroughputLimit only when FifoQueue is set to true."}));
}

TEST(FifoAttributes, ThatDecideTheKindMayStandAnywhereInTheList) {
  const auto made = apply_attributes(
      {}, {{"ContentBasedDeduplication", "true"}, {"FifoQueue", "true"}}, AttributeUse::create);
  ASSERT_TRUE(made.has_value());
  EXPECT_TRUE(made->fifo->content_based_dedup);
}

TEST(FifoAttributes, TheKindOfAQueueCannotChange) {
  EXPECT_TRUE(set(fifo_settings(), {{"FifoQueue", "true"}}).has_value());
  EXPECT_EQ(set(fifo_settings(), {{"FifoQueue", "false"}}).error(),
            (Error{ErrorCode::invalid_attribute_value,
                   "Invalid value for the parameter FifoQueue. Reason: Modifying queue type is not "
                   "supported."}));
}

TEST(FifoAttributes, HighThroughputNeedsTheScopeOfAGroup) {
  const StringMap both = {{"FifoThroughputLimit", "perMessageGroupId"},
                          {"DeduplicationScope", "messageGroup"}};
  const auto changed = set(fifo_settings(), both);
  ASSERT_TRUE(changed.has_value());
  EXPECT_EQ(attribute_text(*changed, "FifoThroughputLimit"), "perMessageGroupId");
  EXPECT_EQ(attribute_text(*changed, "DeduplicationScope"), "messageGroup");
  for (const StringMap& alone : {StringMap{{"FifoThroughputLimit", "perMessageGroupId"}},
                                 StringMap{{"FifoThroughputLimit", "sometimes"}},
                                 StringMap{{"DeduplicationScope", "everything"}}}) {
    EXPECT_EQ(set(fifo_settings(), alone).error().code, ErrorCode::invalid_attribute_value);
  }
  EXPECT_FALSE(set(*changed, {{"DeduplicationScope", "queue"}}).has_value());
}

TEST(FifoAttributes, TheScopeInForceIsThatOfTheBirth) {
  const auto born = apply_attributes(
      {}, {{"FifoQueue", "true"}, {"DeduplicationScope", "messageGroup"}}, AttributeUse::create);
  EXPECT_EQ(born->fifo->dedup_scope_at_birth, queue::DedupScope::message_group);
  const auto later = set(fifo_settings(), {{"DeduplicationScope", "messageGroup"}});
  EXPECT_EQ(later->fifo->dedup_scope, queue::DedupScope::message_group);
  EXPECT_EQ(later->fifo->dedup_scope_at_birth, queue::DedupScope::queue);
}

// ---- Encryption: one kind at a time.

TEST(Encryption, NamingAKeySwitchesTheOtherKindOff) {
  const auto keyed = set({}, {{"KmsMasterKeyId", "alias/key"}});
  ASSERT_TRUE(keyed.has_value());
  EXPECT_EQ(attribute_text(*keyed, "KmsMasterKeyId"), "alias/key");
  EXPECT_EQ(attribute_text(*keyed, "KmsDataKeyReusePeriodSeconds"), "300");
  EXPECT_EQ(attribute_text(*keyed, "SqsManagedSseEnabled"), "false");

  const auto unkeyed = set(*keyed, {{"KmsMasterKeyId", ""}});
  EXPECT_EQ(attribute_text(*unkeyed, "KmsMasterKeyId"), std::nullopt);
  EXPECT_EQ(attribute_text(*unkeyed, "KmsDataKeyReusePeriodSeconds"), std::nullopt);
  EXPECT_EQ(attribute_text(*unkeyed, "SqsManagedSseEnabled"), "false");  // Stays off.
}

TEST(Encryption, BothKindsAtOnceAreRefused) {
  const Error expected{ErrorCode::invalid_attribute_name, std::string(kSse)};
  EXPECT_EQ(set({}, {{"KmsMasterKeyId", "k"}, {"SqsManagedSseEnabled", "true"}}).error(), expected);
  const auto keyed = set({}, {{"KmsMasterKeyId", "k"}});
  EXPECT_EQ(set(*keyed, {{"SqsManagedSseEnabled", "True"}}).error(), expected);
  EXPECT_TRUE(set(*keyed, {{"SqsManagedSseEnabled", "false"}}).has_value());
}

TEST(Encryption, TheReusePeriodHasARange) {
  for (const char* text : {"60", "86400"}) {
    const auto changed = set({}, {{"KmsMasterKeyId", "k"}, {"KmsDataKeyReusePeriodSeconds", text}});
    EXPECT_EQ(attribute_text(*changed, "KmsDataKeyReusePeriodSeconds"), text);
  }
  for (const char* text : {"59", "86401"}) {
    EXPECT_FALSE(set({}, {{"KmsDataKeyReusePeriodSeconds", text}}).has_value());
  }
}

// ---- Policies in JSON come back compact, members in alphabetical order, numbers as numbers.

TEST(RedrivePolicy, ComesBackInItsNormalForm) {
  for (const char* text : {R"({"deadLetterTargetArn":"arn:x","maxReceiveCount":3})",
                           R"({"deadLetterTargetArn":"arn:x","maxReceiveCount":"3"})",
                           R"( { "maxReceiveCount" : 3 , "deadLetterTargetArn" : "arn:x" } )"}) {
    const auto changed = set({}, {{"RedrivePolicy", text}});
    ASSERT_TRUE(changed.has_value()) << text << changed.error().message;
    EXPECT_EQ(attribute_text(*changed, "RedrivePolicy"),
              R"({"deadLetterTargetArn":"arn:x","maxReceiveCount":3})");
  }
}

TEST(RedrivePolicy, AnEmptyTextRemovesIt) {
  const auto with =
      set({}, {{"RedrivePolicy", R"({"deadLetterTargetArn":"a","maxReceiveCount":1})"}});
  const auto without = set(*with, {{"RedrivePolicy", ""}});
  EXPECT_EQ(attribute_text(*without, "RedrivePolicy"), std::nullopt);
  const auto unpoliced = set(*set({}, {{"Policy", "{}"}}), {{"Policy", ""}});
  EXPECT_EQ(attribute_text(*unpoliced, "Policy"), std::nullopt);
}

TEST(RedrivePolicy, SaysWhatIsWrongWithIt) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"maxReceiveCount":3})",
       "Redrive policy does not contain mandatory attribute: deadLetterTargetArn."},
      {R"({"deadLetterTargetArn":"a"})",
       "Redrive policy does not contain mandatory attribute: maxReceiveCount."},
      {R"({"deadLetterTargetArn":"a","maxReceiveCount":0})",
       "Invalid value for maxReceiveCount: 0, valid values are from 1 to 1000 both inclusive."},
      {R"({"deadLetterTargetArn":"a","maxReceiveCount":1001})",
       "Invalid value for maxReceiveCount: 1001, valid values are from 1 to 1000 both inclusive."},
      {R"({"deadLetterTargetArn":"a","maxReceiveCount":"many"})",
       "Invalid value for maxReceiveCount: many, valid values are from 1 to 1000 both inclusive."},
      {"not json", "Redrive policy is not a valid JSON map."},
  };
  for (const auto& [text, reason] : cases) {
    EXPECT_EQ(set({}, {{"RedrivePolicy", text}}).error(),
              (Error{ErrorCode::invalid_parameter_value,
                     "Value " + std::string(text) +
                         " for parameter RedrivePolicy is invalid. Reason: " + reason}));
  }
}

TEST(RedriveAllowPolicy, ComesBackInItsNormalForm) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({ "redrivePermission" : "allowAll" })", R"({"redrivePermission":"allowAll"})"},
      {R"({"redrivePermission":"denyAll"})", R"({"redrivePermission":"denyAll"})"},
      {R"({"sourceQueueArns":["a","b"], "redrivePermission":"byQueue"})",
       R"({"redrivePermission":"byQueue","sourceQueueArns":["a","b"]})"},
  };
  for (const auto& [text, normal] : cases) {
    const auto changed = set({}, {{"RedriveAllowPolicy", text}});
    ASSERT_TRUE(changed.has_value()) << text;
    EXPECT_EQ(attribute_text(*changed, "RedriveAllowPolicy"), normal);
    EXPECT_EQ(attribute_text(*set(*changed, {{"RedriveAllowPolicy", ""}}), "RedriveAllowPolicy"),
              std::nullopt);
  }
}

TEST(RedriveAllowPolicy, RefusesWhatItCannotMean) {
  for (
      const char* text :
      {"x",
       "{}",
       R"({"redrivePermission":"someTimes"})",
       R"({"redrivePermission":"byQueue"})",
       R"({"redrivePermission":"byQueue","sourceQueueArns":[]})",
       R"({"redrivePermission":"allowAll","sourceQueueArns":["a"]})",
       R"({"redrivePermission":"byQueue","sourceQueueArns":["1","2","3","4","5","6","7","8","9","10","11"]})"}) {
    EXPECT_EQ(set({}, {{"RedriveAllowPolicy", text}}).error().code,
              ErrorCode::invalid_parameter_value)
        << text;
  }
}

// ---- Names.

TEST(QueueAttributes, EverySettableOneIsAnAttributeAndTheListIsSorted) {
  EXPECT_TRUE(std::ranges::is_sorted(settable_attributes()));
  EXPECT_EQ(settable_attributes().size(), 15u);
  for (const std::string_view name : settable_attributes())
    EXPECT_TRUE(is_queue_attribute(name)) << name;
  for (const char* name : {"All", "QueueArn", "ApproximateNumberOfMessagesDelayed"}) {
    EXPECT_TRUE(is_queue_attribute(name));
  }
  for (const char* name : {"", "all", "SenderId", "Nonsense"})
    EXPECT_FALSE(is_queue_attribute(name));
}

TEST(QueueAttributes, TheFirstThatDiffersIsNamed) {
  const StringMap given = {{"DelaySeconds", "5"}, {"VisibilityTimeout", "31"}, {"Policy", ""}};
  const QueueSettings wanted = *set({}, given);
  EXPECT_EQ(first_difference(wanted, wanted, given), std::nullopt);
  EXPECT_EQ(first_difference({}, wanted, given), "DelaySeconds");
  EXPECT_EQ(first_difference(*set({}, {{"DelaySeconds", "5"}}), wanted, given),
            "VisibilityTimeout");
  // What was not given is not compared.
  EXPECT_EQ(first_difference(*set(wanted, {{"MaximumMessageSize", "2048"}}), wanted, given),
            std::nullopt);
}

TEST(QueueName, FollowsTheRulesOfItsKind) {
  const std::string longest(80, 'a');
  const std::string longest_fifo = std::string(75, 'a') + ".fifo";
  for (const std::string& name : {std::string("a"), std::string("A-z_09"), longest}) {
    EXPECT_TRUE(check_queue_name(name, false).has_value()) << name;
    EXPECT_FALSE(check_queue_name(name, true).has_value()) << name;
  }
  for (const std::string& name : {std::string("a.fifo"), longest_fifo}) {
    EXPECT_TRUE(check_queue_name(name, true).has_value()) << name;
    EXPECT_EQ(check_queue_name(name, false).error(),
              (Error{ErrorCode::invalid_parameter_value,
                     "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 "
                     "in length"}));
  }
  for (const std::string& name : {std::string(),
                                  std::string("a b"),
                                  std::string("a/b"),
                                  std::string("\xc3\xa4"),
                                  longest + "a"}) {
    EXPECT_FALSE(check_queue_name(name, false).has_value()) << name;
  }
  for (const std::string& name :
       {std::string(".fifo"), std::string("a.FIFO"), std::string("a.b.fifo"), "a" + longest_fifo}) {
    EXPECT_FALSE(check_queue_name(name, true).has_value()) << name;
  }
}

}  // namespace
}  // namespace redrive::sqs
