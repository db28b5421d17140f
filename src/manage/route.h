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
  // Slow: its time grows with the amount of data to read or mask.
  front::Pace pace;
  Result<Document> (*run)(Call&);  // Null: the change feed answers.
  // The equivalent SQS actions: it is denied where a queue's policy denies one of these.
  std::array<std::string_view, 3> amounts_to = {};
  bool whole_server = false;  // It concerns all accounts.
  bool open = false;          // Served without credentials, to an anonymous caller.
};

using http::PathParameters;

// The route of a request. Without a route, `allowed` has the methods of the path, separated by
// commas; if that is empty too, the path is unknown.
struct Match {
  const Route* route = nullptr;
  PathParameters parameters;
  std::string allowed;
};

// The first route that matches wins, so literals must precede {names}.
Match find_route(std::span<const Route> routes, std::string_view method, std::string_view path);

}  // namespace redrive::manage
