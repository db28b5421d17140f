#include <algorithm>
#include <set>

#include "aws/lambda/routes.h"
#include "aws/s3/routes.h"
#include "aws/sqs/model/actions.h"
#include "manage/documents/alarms.h"
#include "manage/documents/corrections.h"
#include "manage/documents/failures.h"
#include "manage/documents/functions.h"
#include "manage/documents/jobs.h"
#include "manage/documents/lineage.h"
#include "manage/documents/mappings.h"
#include "manage/documents/moves.h"
#include "manage/documents/policy.h"
#include "manage/routes.h"
#include "observe/metrics/catalogue.h"
#include "tests/authorization/matrix_rows.h"

// Every action of every API, for each role, with names that the key covers and names that it does
// not, from another account, under a policy that denies everything, and with every field of its
// body that names a resource.

namespace redrive::authorization {
namespace {

constexpr std::string_view kRoles[] = {"admin", "operator", "producer", "consumer", "reader"};

struct TableEntry {
  Api api;
  std::string_view action;
  std::optional<Right> right;
};

// The actions that the server has, with what they need, as its own tables say. The table of SQS is
// not open: its rights show in what it refuses.
std::vector<TableEntry> server_tables() {
  std::vector<TableEntry> all;
  for (const std::string_view name : sqs::AllActions::kNames) {
    const auto row = std::ranges::find_if(
        kRows, [&](const Row& each) { return each.api == Api::sqs && each.action == name; });
    all.push_back({Api::sqs, name, row == std::end(kRows) ? std::nullopt : row->right});
  }
  for (const auto& route : manage::routes()) {
    all.push_back({Api::manage, route.operation, route.right});
  }
  for (const auto& route : lambda::routes()) {
    all.push_back({Api::lambda, route.operation, route.right});
  }
  for (const auto& action : s3::s3_actions()) all.push_back({Api::s3, action.name, action.right});
  for (const auto& action : cloudwatch::actions()) {
    all.push_back({Api::cloudwatch, action.name, action.right});
  }
  for (const auto& action : iam::actions()) {
    all.push_back(
        {action.service == iam::Service::iam ? Api::iam : Api::sts, action.name, action.right});
  }
  for (const auto& action : ssm::actions()) {
    all.push_back({Api::ssm, action.name, action.right});
  }
  return all;
}

TEST(AuthorizationTable, HasARowForEveryActionAndNoOther) {
  const auto tables = server_tables();
  for (const TableEntry& entry : tables) {
    const auto rows = std::ranges::count_if(
        kRows, [&](const Row& row) { return row.api == entry.api && row.action == entry.action; });
    EXPECT_EQ(rows, 1) << entry.action << " has no row in tests/authorization/matrix_rows.h: say "
                       << "what it needs and what it is about";
  }
  EXPECT_EQ(std::size(kRows), tables.size());
}

TEST(AuthorizationTable, SaysWhatTheServersTablesSay) {
  for (const TableEntry& entry : server_tables()) {
    for (const Row& row : kRows) {
      if (row.api != entry.api || row.action != entry.action) continue;
      EXPECT_EQ(row.right, entry.right) << entry.action;
    }
  }
}

// --- Fields that could name a resource ---

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

bool may_name_resource(std::string_view field) {
  constexpr std::string_view kParts[] = {"arn",
                                         "url",
                                         "bucket",
                                         "destination",
                                         "target",
                                         "archive",
                                         "notify",
                                         "queue",
                                         "function",
                                         "role",
                                         "source",
                                         "place"};
  const std::string name = lower(field);
  return std::ranges::any_of(kParts,
                             [&](std::string_view part) { return name.find(part) != name.npos; });
}

// Fields that sound like it and name nothing that the server would use, or name what the request is
// about, which is the matrix's own business.
constexpr std::string_view kNamesNothing[] = {
    "QueueUrl",                // What the request is about.
    "QueueName",               // The same.
    "QueueNamePrefix",         // Of a list.
    "QueueOwnerAWSAccountId",  // What the request is about.
    "SourceQueueArns",         // Queues that may name this one: a grant of its owner.
    "FunctionResponseTypes",
    "FunctionVersion",
    "BisectBatchOnFunctionError",
    "KMSKeyArn",          // Stored and shown, never used.
    "SourceKMSKeyArn",    // The same.
    "RuntimeVersionArn",  // The same.
    "Url",                // Where a function is: the outgoing-address policy decides.
    "archiveExpiring",    // A flag.
    "source",             // Of a policy, in answers.
    "place",              // A text that is returned as it is.
    "archivedAs",         // A message id.
    "attributes",
};

void collect(const wire::Record& record, std::set<std::string>& names);

void collect(const wire::Type& type, std::set<std::string>& names) {
  if (type.record != nullptr) collect(*type.record, names);
  if (type.inner != nullptr) collect(*type.inner, names);
}

void collect(const wire::Record& record, std::set<std::string>& names) {
  for (const wire::Field& field : record.fields) {
    names.emplace(field.name);
    collect(*field.type, names);
  }
}

template <class... Inputs>
std::set<std::string> fields_of() {
  std::set<std::string> names;
  (collect(wire::kRecord<Inputs>, names), ...);
  return names;
}

std::set<std::string> sqs_fields() {
  std::set<std::string> names;
  using Visit = void (*)(std::set<std::string>&);
  const auto visits = sqs::AllActions::table<Visit>([]<class Action>() -> Visit {
    return [](std::set<std::string>& out) { collect(wire::kRecord<typename Action::Input>, out); };
  });
  for (const Visit visit : visits) visit(names);
  return names;
}

bool has_field_row(std::string_view field) {
  return std::ranges::any_of(kFieldRows, [&](const FieldRow& row) {
    return row.field == field || row.field.ends_with("." + std::string(field)) ||
           row.field.find(std::string(field) + ".") != row.field.npos;
  });
}

TEST(AuthorizationTable, EveryFieldThatCouldNameAResourceHasARow) {
  std::set<std::string> names = sqs_fields();
  names.merge(fields_of<documents::JobRequest,
                        documents::EditRequest,
                        documents::MoveRequest,
                        documents::Policy,
                        documents::NewAlarm,
                        documents::Choice,
                        documents::PurgeRequest,
                        documents::FailureReport,
                        documents::GroupMark,
                        documents::HandleList,
                        documents::ArchivedRequest,
                        documents::FunctionSettings,
                        documents::CodeUpdate,
                        documents::MappingSettings,
                        documents::InvokeSettings,
                        documents::AliasInput>());
  for (const std::string& name : names) {
    if (!may_name_resource(name) || has_field_row(name)) continue;
    EXPECT_NE(std::ranges::find(kNamesNothing, name), std::end(kNamesNothing))
        << name << " could name a resource: give it a row in kFieldRows and authorise it, or say "
        << "why it names none";
  }
}

// --- The matrix ---

constexpr Uuid kJobs[] = {Uuid{{1}}, Uuid{{2}}, Uuid{{3}}};

enum class Variant { own, foreign, elsewhere, denied };

class MatrixTest : public testing::Test {
 protected:
  MatrixTest() {
    queue::QueueSettings redriving;
    redriving.redrive = queue::RedrivePolicy{queue_arn("a-dlq"), 3};
    queue::QueueSettings denying;
    denying.policy = kDenyAll;
    for (const char* name : {"a-dlq", "secret", "secret-dlq", "a-other"}) world_.make_queue(name);
    world_.make_queue("a-queue", redriving);
    world_.make_queue("a-denied", denying);
    world_.make_queue("a-theirs", {}, kElsewhere);
    for (const char* name : {"a-fn", "a-fn2", "secret-fn"}) world_.make_function(name);
    world_.make_function("a-theirs", kElsewhere);
    world_.make_mapping("m-own", "a-queue", "a-fn");
    world_.make_mapping("m-foreign", "secret", "secret-fn");
    world_.make_mapping("m-denied", "a-denied", "a-fn");
    world_.make_bucket("a-bucket");
    world_.make_bucket("secret-bucket");
    world_.make_bucket("a-theirs", kElsewhere);
    world_.make_alarm("watch-a", "a-queue");
    world_.make_alarm("watch-secret", "secret");
    world_.make_alarm("watch-denied", "a-denied");
    world_.make_job("a-queue", kJobs[0]);
    world_.make_job("secret", kJobs[1]);
    world_.make_job("a-denied", kJobs[2]);
    world_.make_parameter("a-param");
    world_.make_parameter("secret-param");
    make_roles();
    measure();
  }

  void make_roles() {
    for (const char* name : {"a-role", "secret-role"}) {
      (void)world_.iam(
          "root",
          Api::iam,
          fmt::format("Action=CreateRole&RoleName={}&AssumeRolePolicyDocument=%7B%7D", name));
    }
    for (const char* name : {"a-policy", "secret-policy"}) {
      (void)world_.iam(
          "root",
          Api::iam,
          fmt::format("Action=CreatePolicy&PolicyName={}&PolicyDocument=%7B%7D", name));
    }
    (void)world_.iam(
        "other", Api::iam, "Action=CreateRole&RoleName=a-theirs&AssumeRolePolicyDocument=%7B%7D");
    world_.remember_entries();
  }

  // So that lists of metrics have something to show.
  void measure() {
    const auto record = [&](metrics::Scope scope, const std::string& name) {
      const std::vector<metrics::Point> values(metrics::metrics_of(scope).size(), 1);
      world_.history().record(
          {scope, name}, Timestamp(1'767'225'600'000), values, metrics::History::Between::unknown);
    };
    for (const char* name : {"a-queue", "secret"}) record(metrics::Scope::queue, queue_arn(name));
    for (const char* name : {"a-fn", "secret-fn"}) {
      record(metrics::Scope::function, function_arn(name));
    }
    for (const char* name : {"m-own", "m-foreign"}) record(metrics::Scope::mapping, name);
  }

  static std::string name_in(Variant variant) {
    switch (variant) {
      case Variant::foreign:
        return "secret";
      case Variant::denied:
        return "a-denied";
      default:
        return "a-queue";
    }
  }

  Words words_for(Variant variant, std::string_view text) {
    const bool foreign = variant == Variant::foreign;
    const std::string queue = name_in(variant);
    const std::string function = foreign ? "secret-fn" : "a-fn";
    const std::string job = kJobs[foreign ? 1 : variant == Variant::denied ? 2 : 0].text();
    Words words{
        {"queue", queue},
        {"url", fmt::format("http://test:1/{}/{}", kHome, queue)},
        {"arn", queue_arn(queue)},
        {"dlqarn", queue_arn("a-dlq")},
        {"path", variant == Variant::elsewhere ? queue_arn(queue) : queue},
        {"account", std::string(kHome)},
        {"function", variant == Variant::elsewhere ? function_arn(function) : function},
        {"functionarn", function_arn(function)},
        {"bucket", foreign ? "secret-bucket" : "a-bucket"},
        {"role", foreign ? "secret-role" : "a-role"},
        {"policy",
         fmt::format("arn:aws:iam::{}:policy/{}", kHome, foreign ? "secret-policy" : "a-policy")},
        {"parameter",
         variant == Variant::elsewhere
             ? fmt::format("arn:aws:ssm:{}:{}:parameter/a-param", kRegion, kHome)
             : std::string(foreign ? "secret-param" : "a-param")},
        {"alarm",
         foreign                      ? "watch-secret"
         : variant == Variant::denied ? "watch-denied"
                                      : "watch-a"},
        {"mapping",
         foreign                      ? "m-foreign"
         : variant == Variant::denied ? "m-denied"
                                      : "m-own"},
        {"job", job},
        {"task",
         base64_encode(
             fmt::format(R"({{"taskId":"{}","sourceArn":"{}"}})", job, queue_arn(queue)))},
        {"metric", std::string(metrics::metrics_of(metrics::Scope::queue)[0].name)}};
    if (text.find("{handle}") != text.npos) words["handle"] = world_.fresh_handle(queue);
    if (text.find("{message}") != text.npos) words["message"] = world_.fresh_message(queue);
    return words;
  }

  Asked asked_for(const Row& row, const Words& words) {
    Asked asked{.api = row.api};
    switch (row.api) {
      case Api::sqs:
        asked.headers = {{"Content-Type", "application/x-amz-json-1.0"},
                         {"X-Amz-Target", fmt::format("AmazonSQS.{}", row.action)}};
        break;
      case Api::cloudwatch:
        asked.headers = {
            {"Content-Type", "application/x-amz-json-1.0"},
            {"X-Amz-Target", fmt::format("GraniteServiceVersion20100801.{}", row.action)}};
        break;
      case Api::ssm:
        asked.headers = {{"Content-Type", "application/x-amz-json-1.1"},
                         {"X-Amz-Target", fmt::format("AmazonSSM.{}", row.action)}};
        break;
      case Api::iam:
      case Api::sts:
        asked.headers = {{"Content-Type", "application/x-www-form-urlencoded"}};
        asked.body = fmt::format("Action={}&", row.action);
        break;
      case Api::manage:
        asked.path = "/_redrive/v1/" + filled(row.path, words);
        break;
      case Api::lambda:
      case Api::s3:
        asked.path = filled(row.path, words);
        break;
    }
    if (!row.method.empty()) asked.method = row.method;
    asked.body += filled(row.body, words);
    return asked;
  }

  Answer ask(std::string_view who, const Row& row, Variant variant) {
    const Words words = words_for(variant, std::string(row.path) + std::string(row.body));
    world_.ensure();
    return world_.ask(who, asked_for(row, words));
  }

  static bool refused(const Row& row, const Answer& answer) {
    return answer.denied() || (row.hides && answer.status == 404);
  }

  static bool role_allows(const Row& row, std::string_view role) {
    const auth::Role parsed = *auth::parse_role(role);
    if (row.about == About::server) return false;  // These keys are for some names only.
    const bool grants = row.api == Api::iam && row.right == Right::administer;
    if (grants) return false;  // Nor can they grant rights.
    return !row.right || (auth::has_right(parsed, *row.right) &&
                          (!row.also || auth::has_right(parsed, *row.also)));
  }

  static bool names_something(const Row& row) {
    return row.about != About::account && row.about != About::server && row.about != About::caller;
  }

  // A policy that denies everything does not keep admins from repairing it, nor from seeing which
  // queues there are.
  static bool mends(const Row& row) {
    constexpr std::string_view kMending[] = {"SetQueueAttributes",
                                             "AddPermission",
                                             "GetQueueAttributes",
                                             "RemovePermission",
                                             "DeleteQueue"};
    return row.about == About::alarm ||
           (row.api == Api::sqs && std::ranges::find(kMending, row.action) != std::end(kMending));
  }

  World world_;
};

TEST_F(MatrixTest, RolesDecideOnWhatTheKeyIsFor) {
  for (const Row& row : kRows) {
    for (const std::string_view role : kRoles) {
      const Answer answer = ask(role, row, Variant::own);
      EXPECT_EQ(refused(row, answer), !role_allows(row, role))
          << row.action << " by a restricted " << role << ": " << answer.status << " "
          << answer.body;
    }
  }
}

TEST_F(MatrixTest, NoRoleReachesNamesThatTheKeyIsNotFor) {
  for (const Row& row : kRows) {
    if (!names_something(row)) continue;
    for (const std::string_view role : kRoles) {
      const Answer answer = ask(role, row, Variant::foreign);
      EXPECT_TRUE(refused(row, answer)) << row.action << " by a restricted " << role << ": "
                                        << answer.status << " " << answer.body;
    }
  }
}

TEST_F(MatrixTest, AnotherAccountReachesNothing) {
  for (const Row& row : kRows) {
    const bool named = row.about == About::queue || row.about == About::function ||
                       row.about == About::bucket || row.about == About::mapping ||
                       row.about == About::parameter;
    if (!named && row.about != About::server) continue;
    const Answer answer = ask("other", row, Variant::elsewhere);
    EXPECT_TRUE(refused(row, answer)) << row.action << ": " << answer.status << " " << answer.body;
  }
}

TEST_F(MatrixTest, AnotherAccountsListsShowNothing) {
  for (const Row& row : kRows) {
    if (row.about != About::account) continue;
    const Answer answer = ask("other", row, Variant::elsewhere);
    EXPECT_LT(answer.status, 300) << row.action << ": " << answer.body;
    for (const char* name :
         {"a-queue", "secret", "a-bucket", "a-fn", "watch-a", "m-own", "a-param"}) {
      EXPECT_FALSE(answer.has(name)) << row.action << " shows " << name << ": " << answer.body;
    }
  }
}

TEST_F(MatrixTest, AQueuesPolicyIsHeardByEveryApi) {
  for (const Row& row : kRows) {
    const bool of_queue = row.about == About::queue || row.about == About::alarm ||
                          row.about == About::metric || row.about == About::mapping;
    if (!of_queue) continue;
    for (const std::string_view role : kRoles) {
      const Answer answer = ask(role, row, Variant::denied);
      const bool allowed = role == "admin" && mends(row);
      EXPECT_EQ(refused(row, answer), !allowed)
          << row.action << " by " << role << ": " << answer.status << " " << answer.body;
    }
  }
}

TEST_F(MatrixTest, AnAdminOfTheServersAccountReachesEverything) {
  for (const Row& row : kRows) {
    for (const Variant variant : {Variant::own, Variant::foreign}) {
      const Answer answer = ask("root", row, variant);
      EXPECT_FALSE(answer.denied()) << row.action << ": " << answer.status << " " << answer.body;
    }
  }
}

TEST_F(MatrixTest, ListsShowOnlyWhatTheKeyMaySee) {
  for (const Row& row : kRows) {
    if (row.about != About::account) continue;
    for (const std::string_view role : kRoles) {
      const Answer answer = ask(role, row, Variant::own);
      if (answer.status >= 300) continue;
      EXPECT_FALSE(answer.has("secret")) << row.action << " by " << role << ": " << answer.body;
      EXPECT_FALSE(answer.has("m-foreign")) << row.action << " by " << role << ": " << answer.body;
    }
  }
}

// --- Fields ---

struct Target {
  std::string text;
  bool allowed;
  bool internal = false;
};

std::vector<Target> targets_for(char kind) {
  switch (kind) {
    case 'q':
      return {{queue_arn("a-other"), true},
              {queue_arn("secret"), false},
              {queue_arn("a-denied"), false},
              {queue_arn("a-theirs", kElsewhere), false},
              {queue_arn("a-fn!async"), false, true}};
    case 'n':
      return {{"a-other", true}, {"secret", false}, {"a-fn!async", false, true}};
    case 'f':
      return {{function_arn("a-fn2"), true},
              {function_arn("secret-fn"), false},
              {function_arn("a-theirs", kElsewhere), false}};
    case 'b':
      return {{"arn:aws:s3:::a-bucket", true},
              {"arn:aws:s3:::secret-bucket", false},
              {"arn:aws:s3:::a-theirs", false}};
    case 'k':
      return {{"a-bucket", true}, {"secret-bucket", false}, {"a-theirs", false}};
    case 'r':
      return {{fmt::format("arn:aws:iam::{}:role/a-role", kHome), true},
              {fmt::format("arn:aws:iam::{}:role/secret-role", kHome), false},
              {fmt::format("arn:aws:iam::{}:role/a-theirs", kElsewhere), false}};
    default:
      return {};
  }
}

class FieldsTest : public MatrixTest {
 protected:
  Answer ask(std::string_view who, const FieldRow& field, const std::string& target) {
    Words words = words_for(Variant::own, "");
    words["target"] = target;
    const std::string text = std::string(field.path) + std::string(field.body);
    if (text.find("{handle}") != text.npos) words["handle"] = world_.fresh_handle("a-dlq");
    if (text.find("{key}") != text.npos) words["key"] = world_.fresh_key("a-dlq");
    world_.ensure();
    const Row row{.api = field.api,
                  .action = field.action,
                  .right = {},
                  .about = About::queue,
                  .method = field.method,
                  .path = field.path,
                  .body = field.body};
    Asked asked = asked_for(row, words);
    if (field.field == "x-amz-copy-source")
      asked.headers.emplace_back("x-amz-copy-source", "/" + target + "/k");
    return world_.ask(who, asked);
  }
};

TEST_F(FieldsTest, WhatABodyNamesIsAuthorisedLikeWhatAPathNames) {
  for (const FieldRow& field : kFieldRows) {
    for (const char kind : field.targets) {
      for (const Target& target : targets_for(kind)) {
        if (target.internal) continue;
        const Answer answer = ask("admin", field, target.text);
        EXPECT_EQ(answer.denied(), !target.allowed)
            << field.action << " with " << field.field << " " << target.text << ": "
            << answer.status << " " << answer.body;
      }
    }
  }
}

TEST_F(FieldsTest, InternalQueuesDoNotExistForAnybody) {
  for (const bool keys : {true, false}) {
    if (!keys) world_.use_no_keys();
    // The queue is there: with events of a function in it.
    world_.make_queue("a-fn!async");
    for (const FieldRow& field : kFieldRows) {
      for (const char kind : field.targets) {
        for (const Target& target : targets_for(kind)) {
          if (!target.internal) continue;
          const Answer answer = ask(keys ? "root" : "anybody", field, target.text);
          const bool done =
              answer.status < 300 && !answer.has("NonExistent") && !answer.has("does not exist");
          EXPECT_FALSE(done) << field.action << " with " << field.field << " " << target.text
                             << ": " << answer.status << " " << answer.body;
        }
      }
    }
  }
}

}  // namespace
}  // namespace redrive::authorization
