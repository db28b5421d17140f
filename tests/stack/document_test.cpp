#include "stack/document.h"

#include <gtest/gtest.h>

namespace redrive::stack {
namespace {

References made_up(const Document& document, ParameterValues values) {
  References references;
  references.ref = [&document, values](const std::string& name) -> Result<Node> {
    for (const TemplateParameter& parameter : document.parameters()) {
      if (parameter.name == name) return parameter_node(parameter, values.at(name));
    }
    return Node::text("id-of-" + name);
  };
  references.attribute = [](const std::string& id, std::string_view name) -> Result<Node> {
    return Node::text(id + "/" + std::string(name));
  };
  references.import_value = [](const std::string& name) -> Result<Node> {
    return Node::text("imported " + name);
  };
  references.dynamic = [](std::string_view service, std::string_view rest) -> Result<std::string> {
    return std::string(service) + "=" + std::string(rest);
  };
  references.region = "eu-west-1";
  return references;
}

Document parsed(std::string_view text) {
  auto document = Document::parse(text);
  EXPECT_TRUE(document.has_value()) << document.error().message;
  return document ? *std::move(document) : Document();
}

std::string message_of(std::string_view text) {
  const auto document = Document::parse(text);
  return document ? "" : document.error().message;
}

TEST(Document, FunctionsAreWorkedOut) {
  const struct {
    const char* value;
    const char* json;
  } cases[] = {
      {"!Ref Q", R"("id-of-Q")"},
      {"!GetAtt Q.Arn", R"("Q/Arn")"},
      {"!GetAtt Q.Outputs.Url", R"("Q/Outputs.Url")"},
      {"!Sub '${Q} ${Q.Arn} ${!Q} ${Stage}'", R"("id-of-Q Q/Arn ${Q} dev")"},
      {"!Sub ['${A}', {A: !Ref Q}]", R"("id-of-Q")"},
      {"!Join ['-', [a, !Ref Stage, 3]]", R"("a-dev-3")"},
      {"!Join [',', !Ref Names]", R"("x,y")"},
      {"!Select [1, !Ref Names]", R"("y")"},
      {"!Split [',', 'a,b,']", R"(["a","b",""])"},
      {"!If [IsDev, yes-dev, no-dev]", R"("yes-dev")"},
      {"[1, !If [IsDev, !Ref 'AWS::NoValue', 2], 3]", "[1,3]"},
      {"!FindInMap [Sizes, dev, memory]", "128"},
      {"{Fn::FindInMap: [Sizes, none, memory, {DefaultValue: 7}]}", "7"},
      {"!Base64 abc", R"("YWJj")"},
      {"{Fn::Length: !Ref Names}", "2"},
      {"{Fn::ToJsonString: {a: !Ref Stage, b: [1]}}", R"("{\"a\":\"dev\",\"b\":[1]}")"},
      {"!ImportValue shared-queue", R"("imported shared-queue")"},
      {"{Fn::ImportValue: !Sub '${Stage}-q'}", R"("imported dev-q")"},
      {"!Select [2, !GetAZs '']", R"("eu-west-1c")"},
      {"!Select [1, !Cidr [10.0.0.0/16, 3, 8]]", R"("10.0.1.0/24")"},
      {"!Cidr ['2001:db8::/56', 2, 64]", R"(["2001:db8::/64","2001:db8:0:1::/64"])"},
      {"'a {{resolve:ssm:/db/user:2}} b'", R"("a ssm=/db/user:2 b")"},
      {"!Sub '{{resolve:ssm:/${Stage}/user}}'", R"("ssm=/dev/user")"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.value);
    const Document document = parsed(
        "Parameters: {Stage: {Type: String, Default: dev}, Names: {Type: CommaDelimitedList, "
        "Default: 'x, y'}}\n"
        "Conditions: {IsDev: !And [!Equals [!Ref Stage, dev], !Not [!Equals [a, b]]]}\n"
        "Mappings: {Sizes: {dev: {memory: 128}}}\n"
        "Resources:\n  Q: {Type: AWS::SQS::Queue}\n  F:\n    Type: T\n    Properties:\n      V: " +
        std::string(each.value));
    const auto values = complete_parameters(document, {});
    ASSERT_TRUE(values.has_value());
    ASSERT_NE(document.find("F"), nullptr);
    Functions functions(document.root(), made_up(document, *values));
    const auto value = functions.value(document.find("F")->properties["V"]);
    ASSERT_TRUE(value.has_value()) << value.error().message;
    EXPECT_EQ(value->json(), each.json);
  }
}

TEST(Document, MalformedTemplatesHaveCloudFormationsErrors) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"{}", "Template format error: At least one Resources member must be defined."},
      {"[1]", "Template format error: unsupported structure."},
      {"{\"Resources\": ", "Template format error: JSON not well-formed."},
      {"a: [", "Template format error: YAML not well-formed."},
      {"{Resources: {Q: {Properties: {}}}}",
       "[/Resources/Q] Every Resources object must contain a Type member."},
      {"{Resources: {Q: {Type: T, Props: {}}}}", "Invalid template resource property 'Props'"},
      {"{Resources: {a-b: {Type: T}}}", "Resource name a-b is non alphanumeric."},
      {"{Foo: 1, Resources: {Q: {Type: T}}}", "Invalid template property or properties [Foo]"},
      {"{Resources: {Q: {Type: T, Properties: {A: !Ref Nope}}}}",
       "Template format error: Unresolved resource dependencies [Nope] in the Resources block of "
       "the template"},
      {"{Resources: {Q: {Type: T, DependsOn: Nope}}}",
       "Unresolved resource dependencies [Nope] in the Resources block"},
      {"{Resources: {Q: {Type: T}}, Outputs: {O: {Value: !GetAtt X.Arn}}}",
       "Unresolved resource dependencies [X] in the Outputs block of the template"},
      {"{Resources: {Q: {Type: T}}, Conditions: {C: !Equals [!Ref Q, a]}}",
       "Unresolved dependencies [Q]. Cannot reference resources in the Conditions block"},
      {"{Resources: {Q: {Type: T, DeletionPolicy: Never}}}", "Unrecognized DeletionPolicy Never"},
      {"{Parameters: {P: {Type: Word}}, Resources: {Q: {Type: T}}}",
       "Unrecognized parameter type: Word"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.text);
    EXPECT_NE(message_of(each.text).find(each.message), std::string::npos) << message_of(each.text);
  }
}

TEST(Document, ParametersAreChecked) {
  const Document document = parsed(R"(
Parameters:
  Stage: {Type: String, AllowedValues: [dev, prod]}
  Count: {Type: Number, Default: 3, MinValue: 1, MaxValue: 5}
  Name: {Type: String, Default: abc, AllowedPattern: '[a-z]+', MinLength: 2}
  Code: {Type: String, Default: '1', ConstraintDescription: be one, AllowedValues: ['1']}
Resources: {Q: {Type: T}}
)");
  const auto complaint = [&](const ParameterValues& values) {
    const auto done = complete_parameters(document, values);
    return done ? std::string() : done.error().message;
  };
  EXPECT_EQ(complaint({{"Stage", "dev"}}), "");
  EXPECT_EQ(complaint({}), "Parameters: [Stage] must have values");
  EXPECT_EQ(complaint({{"Stage", "dev"}, {"X", ""}}),
            "Parameters: [X] do not exist in the template");
  EXPECT_EQ(complaint({{"Stage", "test"}}), "Parameter 'Stage' must be one of AllowedValues");
  EXPECT_EQ(complaint({{"Stage", "dev"}, {"Count", "9"}}),
            "Parameter 'Count' must be a number not greater than 5");
  EXPECT_EQ(complaint({{"Stage", "dev"}, {"Name", "AB"}}),
            "Parameter 'Name' must match pattern [a-z]+");
  EXPECT_EQ(complaint({{"Stage", "dev"}, {"Name", "a"}}),
            "Parameter 'Name' must contain at least 2 characters");
  EXPECT_EQ(complaint({{"Stage", "dev"}, {"Code", "2"}}),
            "Parameter Code failed to satisfy constraint: be one");
}

std::vector<std::string> order_of(const Document& document, std::string* error = nullptr) {
  Functions functions(document.root(), made_up(document, *complete_parameters(document, {})));
  const auto ordered = in_dependency_order(document, functions);
  std::vector<std::string> ids;
  if (!ordered) {
    if (error != nullptr) *error = ordered.error().message;
    return ids;
  }
  for (const Ordered& one : *ordered) ids.push_back(one.resource->id);
  return ids;
}

TEST(Document, ResourcesComeAfterThoseThatTheyDependOn) {
  const Document document = parsed(R"(
Conditions: {Never: !Equals [a, b]}
Resources:
  Feed: {Type: T, Properties: {A: !Sub '${Worker}', B: !GetAtt Orders.Arn}}
  Worker: {Type: T, DependsOn: [Policy, Gone]}
  Orders: {Type: T, Properties: {A: !If [Never, !Ref Gone, !GetAtt Dead.Arn]}}
  Dead: {Type: T}
  Policy: {Type: T}
  Gone: {Type: T, Condition: Never}
)");
  EXPECT_EQ(order_of(document),
            (std::vector<std::string>{"Dead", "Orders", "Policy", "Worker", "Feed"}));
}

TEST(Document, CirclesAndReferencesToWhatIsLeftOutAreRefused) {
  std::string error;
  order_of(parsed("{Resources: {A: {Type: T, DependsOn: B}, B: {Type: T, Properties: {X: !Ref C}}, "
                  "C: {Type: T, Properties: {X: !Ref A}}, D: {Type: T, DependsOn: A}}}"),
           &error);
  EXPECT_EQ(error, "Circular dependency between resources: [A, B, C]");
  order_of(parsed("{Conditions: {Never: !Equals [a, b]}, Resources: {A: {Type: T, Condition: "
                  "Never}, B: {Type: T, Properties: {X: !Ref A}}}}"),
           &error);
  EXPECT_NE(error.find("Unresolved resource dependencies [A]"), std::string::npos) << error;
}

TEST(Document, CapabilitiesFollowTheTypes) {
  EXPECT_EQ(parsed("{Resources: {Q: {Type: AWS::SQS::Queue}}}").capabilities(),
            std::set<std::string>());
  EXPECT_EQ(parsed("{Resources: {R: {Type: AWS::IAM::Role}}}").capabilities(),
            std::set<std::string>{"CAPABILITY_IAM"});
  EXPECT_EQ(parsed("{Resources: {R: {Type: AWS::IAM::Role, Properties: {RoleName: r}}, P: {Type: "
                   "AWS::IAM::Policy}}}")
                .capabilities(),
            std::set<std::string>{"CAPABILITY_NAMED_IAM"});
}

}  // namespace
}  // namespace redrive::stack
