#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "front/pipeline.h"
#include "net/auth/access_key.h"
#include "net/http/path_pattern.h"

namespace redrive::manage {

class Call;

// What a route answers with: 200 and this.
struct Document {
  std::string_view content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};
};

// One line of the table in routes.cpp.
struct Route {
  std::string_view method;
  // Literal segments, and {names} that stand for one segment each: /_redrive/v1/queues/{queue}.
  std::string_view pattern;
  std::string_view operation;  // As docs/openapi.yaml calls it.
  auth::Right right;           // What the caller's role must allow, on a server with keys.
  // Slow: its time grows with what there is to look at or to mask.
  front::Pace pace;
  Result<Document> (*run)(Call&);  // Null: the change feed answers.
  // What it amounts to in terms of SQS: it is denied where a queue's policy denies one of these.
  std::array<std::string_view, 3> amounts_to = {};
  bool whole_server = false;  // It is about all accounts together.
  bool open = false;          // Served without credentials, to an anonymous caller.
};

using http::PathParameters;

// Where a request leads. Without a route, `allowed` has the methods that the path does take, comma
// between them; when that is empty too, there is nothing at this path.
struct Match {
  const Route* route = nullptr;
  PathParameters parameters;
  std::string allowed;
};

// The first route that fits wins, so a literal stands before a {name} in its place.
Match find_route(std::span<const Route> routes, std::string_view method, std::string_view path);

}  // namespace redrive::manage
