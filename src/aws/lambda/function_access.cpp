#include <fmt/format.h>

#include "aws/lambda/catalogue.h"
#include "aws/lambda/operations.h"
#include "base/result.h"
#include "manage/documents/functions.h"

// Reserved concurrency, and permissions. Permissions are only stored and returned: access keys
// decide which callers may invoke.

namespace redrive::lambda {
namespace {

constexpr std::int64_t kConcurrencyMax = 1000;
constexpr std::size_t kPermissionsMax = 100;

struct Permission {
  std::string_view statement_id;
  std::string_view action;
  std::string_view principal;
  std::string_view source_arn;
  std::string_view source_account;
  std::string_view event_source_token;
  std::string_view principal_org_id;
  std::optional<std::string_view> revision_id;
};
consteval auto shape_of(Permission*) {
  return wire::shape(wire::required("StatementId", &Permission::statement_id),
                     wire::required("Action", &Permission::action),
                     wire::required("Principal", &Permission::principal),
                     wire::optional("SourceArn", &Permission::source_arn),
                     wire::optional("SourceAccount", &Permission::source_account),
                     wire::optional("EventSourceToken", &Permission::event_source_token),
                     wire::optional("PrincipalOrgID", &Permission::principal_org_id),
                     wire::optional("RevisionId", &Permission::revision_id));
}

struct StatementAnswer {
  std::string_view statement;
};
consteval auto shape_of(StatementAnswer*) {
  return wire::shape(wire::required("Statement", &StatementAnswer::statement));
}

struct PolicyAnswer {
  std::string_view policy;
  std::string_view revision_id;
};
consteval auto shape_of(PolicyAnswer*) {
  return wire::shape(wire::required("Policy", &PolicyAnswer::policy),
                     wire::required("RevisionId", &PolicyAnswer::revision_id));
}

std::string quoted_json(std::string_view text) {
  std::string out;
  wire::append_json_text(out, text);
  return out;
}

std::string condition_of(const Permission& permission) {
  struct Test {
    std::string_view key;
    std::string_view value;
  };
  const Test equal[] = {{"AWS:SourceAccount", permission.source_account},
                        {"lambda:EventSourceToken", permission.event_source_token},
                        {"aws:PrincipalOrgID", permission.principal_org_id}};
  std::string equals;
  for (const auto& [key, value] : equal) {
    if (value.empty()) continue;
    equals += fmt::format(R"({}"{}":{})", equals.empty() ? "" : ",", key, quoted_json(value));
  }
  std::string tests;
  if (!equals.empty()) tests = fmt::format(R"("StringEquals":{{{}}})", equals);
  if (!permission.source_arn.empty()) {
    tests += fmt::format(R"({}"ArnLike":{{"AWS:SourceArn":{}}})",
                         tests.empty() ? "" : ",",
                         quoted_json(permission.source_arn));
  }
  return tests.empty() ? "" : fmt::format(R"(,"Condition":{{{}}})", tests);
}

// The statement of a permission, as Lambda writes it.
std::string statement_of(const Permission& permission, const CalledFunction& called) {
  const bool service = permission.principal.ends_with(".amazonaws.com");
  const std::string principal =
      service ? fmt::format(R"({{"Service":{}}})", quoted_json(permission.principal))
      : permission.principal == "*"
          ? R"("*")"
          : fmt::format(R"({{"AWS":{}}})", quoted_json(permission.principal));
  return fmt::format(R"({{"Sid":{},"Effect":"Allow","Principal":{},"Action":{},"Resource":{}{}}})",
                     quoted_json(permission.statement_id),
                     principal,
                     quoted_json(permission.action),
                     quoted_json(called.arn()),
                     condition_of(permission));
}

// A version and an alias have policies of their own: in the function's document their statements
// have the qualifier before the Sid.
std::string policy_of(const CalledFunction& called) {
  return called.is_latest() ? std::string() : called.qualifier + "/";
}

Outcome<void> check_policy_holder(const Call& call, const CalledFunction& called) {
  if (functions::is_code_qualifier(called.qualifier)) return no_such_function(called);
  RETURN_IF_ERROR(find_function(call, called));
  return {};
}

Outcome<Answer> change_concurrency(Call& call, std::optional<unsigned> reserved) {
  const CalledFunction called = TRY(call.function());
  RETURN_IF_ERROR(
      change_function(call, called, [&](functions::Function& function) -> Outcome<void> {
        function.reserved_concurrency = reserved;
        return {};
      }));
  if (!reserved) return empty_answer(204);
  return json_answer(200, documents::Concurrency{.reserved = *reserved});
}

}  // namespace

Outcome<Answer> get_concurrency(Call& call) {
  const functions::Function function = TRY(called_function(call));
  documents::Concurrency out;
  if (function.reserved_concurrency) out.reserved = *function.reserved_concurrency;
  return json_answer(200, out);
}

Outcome<Answer> put_concurrency(Call& call) {
  const auto input = TRY(call.body<documents::Concurrency>());
  const std::int64_t reserved = input.reserved.value_or(-1);
  if (reserved < 0 || reserved > kConcurrencyMax) {
    return breaks_constraint(std::to_string(reserved),
                             "reservedConcurrentExecutions",
                             fmt::format("have value between 0 and {}", kConcurrencyMax));
  }
  return change_concurrency(call, static_cast<unsigned>(reserved));
}

Outcome<Answer> delete_concurrency(Call& call) {
  return change_concurrency(call, std::nullopt);
}

Outcome<Answer> get_policy(Call& call) {
  const CalledFunction called = TRY(call.function());
  RETURN_IF_ERROR(find_function(call, called));
  const CalledFunction whole{.id = called.id, .qualifier = {}};
  const functions::Function function = TRY(find_function(call, whole));
  const std::string policy = policy_of(called);
  std::string statements;
  for (const auto& [id, statement] : function.permissions) {
    if (id.substr(0, id.rfind('/') + 1) != policy) continue;
    statements += (statements.empty() ? "" : ",") + statement;
  }
  if (statements.empty()) return not_found("The resource you requested does not exist.");
  return json_answer(
      200,
      PolicyAnswer{
          call.keep(fmt::format(R"({{"Version":"2012-10-17","Id":"default","Statement":[{}]}})",
                                statements)),
          function.revision});
}

Outcome<Answer> add_permission(Call& call) {
  const CalledFunction called = TRY(call.function());
  const auto input = TRY(call.body<Permission>());
  if (!is_function_name(input.statement_id)) {
    return breaks_constraint(
        input.statement_id, "statementId", "satisfy regular expression pattern: ([a-zA-Z0-9-_]+)");
  }
  if (called.qualifier == kLatest) {
    return invalid("We currently do not support adding policies for $LATEST.");
  }
  RETURN_IF_ERROR(check_policy_holder(call, called));
  const std::string statement = statement_of(input, called);
  const std::string id = policy_of(called) + std::string(input.statement_id);
  const CalledFunction whole{.id = called.id, .qualifier = {}};
  RETURN_IF_ERROR(change_function(call, whole, [&](functions::Function& function) -> Outcome<void> {
    if (input.revision_id && *input.revision_id != function.revision) return stale_revision();
    if (function.permissions.size() >= kPermissionsMax) {
      return refuse(400, "PolicyLengthExceededException", "The policy has too many statements.");
    }
    if (function.permissions.emplace(id, statement).second) return {};
    return refuse(409,
                  "ResourceConflictException",
                  fmt::format("The statement id ({}) provided already exists. Please provide a new "
                              "statement id, or remove the existing statement.",
                              input.statement_id));
  }));
  return json_answer(201, StatementAnswer{statement});
}

Outcome<Answer> remove_permission(Call& call) {
  const CalledFunction called = TRY(call.function());
  const std::string id(call.parameter("statement"));
  RETURN_IF_ERROR(check_policy_holder(call, called));
  const CalledFunction whole{.id = called.id, .qualifier = {}};
  RETURN_IF_ERROR(change_function(call, whole, [&](functions::Function& function) -> Outcome<void> {
    if (function.permissions.erase(policy_of(called) + id) > 0) return {};
    return not_found(fmt::format("Statement {} is not found in resource policy.", id));
  }));
  return empty_answer(204);
}

}  // namespace redrive::lambda
