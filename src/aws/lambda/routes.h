#pragma once

#include <span>
#include <string_view>

#include "aws/lambda/call.h"
#include "net/auth/access_key.h"

namespace redrive::lambda {

// One line of the table in routes.cpp.
struct Route {
  std::string_view method;
  // Literal segments, and {names} that stand for one segment each.
  std::string_view pattern;
  std::string_view operation;  // As Lambda calls it.
  auth::Right right;           // What the caller's role must allow, on a server with keys.
  Outcome<Answer> (*run)(Call&);

  // Whether the audit log records it.
  bool audited() const { return right == auth::Right::operate || right == auth::Right::administer; }
};

struct Match {
  const Route* route = nullptr;  // Null: no route has this path and method.
  std::size_t index = 0;         // Of operation_names().
  PathParameters parameters;
};

std::span<const Route> routes();
// The operations, with Lambda's names.
std::vector<std::string_view> operation_names();

Match find_route(std::string_view method, std::string_view path);

// Paths of this API: /2015-03-31/functions and similar, /_redrive/v1/functions.
bool is_lambda_path(std::string_view path);
inline constexpr std::string_view kManagementPrefix = "/_redrive/v1/functions/";

}  // namespace redrive::lambda
