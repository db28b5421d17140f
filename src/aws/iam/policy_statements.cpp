#include "aws/iam/policy_statements.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>

namespace redrive::iam {
namespace {

using auth::Statement;
using Element = simdjson::dom::element;
using Texts = std::vector<std::string>;

const Texts kEverything = {"*"};

// The strings of a value that is one string or a list of them; nothing when it is anything else.
std::optional<Texts> texts_of(const Element& value) {
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return Texts{std::string(text)};
  if (!value.is_array()) return std::nullopt;
  Texts found;
  for (const Element item : value.get_array()) {
    if (item.get(text) != simdjson::SUCCESS) return std::nullopt;
    found.emplace_back(text);
  }
  return found;
}

bool has_variable(const std::string& text) {
  return text.find("${") != std::string::npos;
}

// Reads one statement, and remembers whether all of it was understood.
class StatementReader {
 public:
  std::optional<Statement> read(const Element& document) {
    if (!document.is_object()) return std::nullopt;
    for (const auto& [name, value] : document.get_object()) read_member(name, value);
    if (effect_ == "Deny") return denial();
    const bool whole = understood_ && has_actions_ && has_resources_;
    if (effect_ == "Allow" && whole) return statement_;
    return std::nullopt;
  }

 private:
  void read_member(std::string_view name, const Element& value) {
    if (name == "Sid") return;
    if (name == "Effect") {
      understood_ &= value.get(effect_) == simdjson::SUCCESS;
    } else if (name == "Action" || name == "NotAction") {
      read_list(value, statement_.actions, has_actions_);
      statement_.except_actions = name == "NotAction";
    } else if (name == "Resource" || name == "NotResource") {
      read_list(value, statement_.resources, has_resources_);
      statement_.except_resources = name == "NotResource";
    } else {
      understood_ = false;
    }
  }

  void read_list(const Element& value, Texts& place, bool& seen) {
    auto texts = texts_of(value);
    // Action and NotAction together, or neither anything, are refused by AWS; a variable could mean
    // anything.
    if (!texts || texts->empty() || seen || std::ranges::any_of(*texts, has_variable)) {
      understood_ = false;
      texts.reset();
    }
    seen = true;
    place = texts ? *std::move(texts) : Texts();
    readable(place) &= texts.has_value();
  }
  bool& readable(const Texts& place) {
    return &place == &statement_.actions ? actions_readable_ : resources_readable_;
  }

  // Denies at least what was meant.
  Statement denial() {
    statement_.effect = Statement::Effect::deny;
    if (!has_actions_ || !actions_readable_) {
      statement_.actions = kEverything;
      statement_.except_actions = false;
    }
    if (!has_resources_ || !resources_readable_) {
      statement_.resources = kEverything;
      statement_.except_resources = false;
    }
    return statement_;
  }

  Statement statement_;
  std::string_view effect_;
  bool understood_ = true;
  bool has_actions_ = false;
  bool has_resources_ = false;
  bool actions_readable_ = true;
  bool resources_readable_ = true;
};

struct Managed {
  std::string_view name;  // Behind arn:aws:iam::aws:policy/
  std::span<const std::string_view> actions;
  std::string_view resource = "*";
};

constexpr std::string_view kQueueExecution[] = {
    "sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"};
constexpr std::string_view kInvoke[] = {"lambda:InvokeFunction"};
constexpr std::string_view kObjects[] = {"s3:GetObject", "s3:PutObject"};
constexpr std::string_view kQueues[] = {"sqs:*"};
constexpr std::string_view kQueuesRead[] = {"sqs:GetQueueAttributes",
                                            "sqs:GetQueueUrl",
                                            "sqs:ListDeadLetterSourceQueues",
                                            "sqs:ListQueues",
                                            "sqs:ListMessageMoveTasks",
                                            "sqs:ListQueueTags"};
constexpr std::string_view kBuckets[] = {"s3:*"};
constexpr std::string_view kBucketsRead[] = {"s3:Get*", "s3:List*", "s3:Describe*"};
constexpr std::string_view kFunctions[] = {
    "lambda:*", "cloudwatch:ListMetrics", "cloudwatch:GetMetricData"};
constexpr std::string_view kFunctionsRead[] = {
    "lambda:Get*", "lambda:List*", "cloudwatch:ListMetrics", "cloudwatch:GetMetricData"};
constexpr std::string_view kMetrics[] = {"cloudwatch:*"};
constexpr std::string_view kMetricsRead[] = {
    "cloudwatch:Describe*", "cloudwatch:Get*", "cloudwatch:List*"};
constexpr std::string_view kAll[] = {"*"};
constexpr std::string_view kAllRead[] = {"sqs:Get*",
                                         "sqs:List*",
                                         "s3:Get*",
                                         "s3:List*",
                                         "lambda:Get*",
                                         "lambda:List*",
                                         "cloudwatch:Describe*",
                                         "cloudwatch:Get*",
                                         "cloudwatch:List*",
                                         "iam:Get*",
                                         "iam:List*"};

// AWSLambdaBasicExecutionRole and AWSLambdaVPCAccessExecutionRole are about logs and networks,
// which need no rights here, so that they have no row.
constexpr Managed kManaged[] = {
    {"service-role/AWSLambdaSQSQueueExecutionRole", kQueueExecution},
    {"service-role/AWSLambdaRole", kInvoke},
    {"AWSLambdaExecute", kObjects, "arn:aws:s3:::*"},
    {"AmazonSQSFullAccess", kQueues},
    {"AmazonSQSReadOnlyAccess", kQueuesRead},
    {"AmazonS3FullAccess", kBuckets},
    {"AmazonS3ReadOnlyAccess", kBucketsRead},
    {"AWSLambda_FullAccess", kFunctions},
    {"AWSLambda_ReadOnlyAccess", kFunctionsRead},
    {"CloudWatchFullAccess", kMetrics},
    {"CloudWatchFullAccessV2", kMetrics},
    {"CloudWatchReadOnlyAccess", kMetricsRead},
    {"AdministratorAccess", kAll},
    {"ReadOnlyAccess", kAllRead},
};

}  // namespace

std::vector<Statement> statements_of(std::string_view document) {
  const std::vector<Statement> nothing_at_all = {
      {.effect = Statement::Effect::deny, .actions = kEverything, .resources = kEverything}};
  simdjson::dom::parser parser;
  Element root;
  Element list;
  if (parser.parse(document.data(), document.size()).get(root) != simdjson::SUCCESS ||
      !root.is_object()) {
    return nothing_at_all;
  }
  std::vector<Statement> statements;
  if (root["Statement"].get(list) != simdjson::SUCCESS) return statements;
  const auto add = [&](const Element& one) {
    if (auto statement = StatementReader().read(one)) statements.push_back(*std::move(statement));
  };
  if (!list.is_array()) {
    add(list);
    return statements;
  }
  for (const Element one : list.get_array()) add(one);
  return statements;
}

std::vector<Statement> aws_managed_statements(std::string_view arn) {
  constexpr std::string_view kPrefix = "arn:aws:iam::aws:policy/";
  if (!arn.starts_with(kPrefix)) return {};
  const auto found = std::ranges::find(kManaged, arn.substr(kPrefix.size()), &Managed::name);
  if (found == std::end(kManaged)) return {};
  return {{.effect = Statement::Effect::allow,
           .actions = Texts(found->actions.begin(), found->actions.end()),
           .resources = {std::string(found->resource)}}};
}

}  // namespace redrive::iam
