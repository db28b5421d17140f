#pragma once

#include <optional>
#include <string_view>

#include "net/auth/access_key.h"
#include "tests/authorization/world.h"

namespace redrive::authorization {

// What a request is about, which says whom it is refused to.
enum class About {
  queue,  // Named in the request: keys for other names, other accounts and denials count.
  function,
  bucket,
  alarm,   // By its name within the caller's account: other accounts cannot even name it.
  metric,  // Of a queue, by its name within the caller's account.
  role,
  parameter,
  own_name,  // Makes something in the caller's account: other accounts make their own.
  mapping,
  account,  // A list or a setting of the caller's account: shows only what the key may see.
  server,   // All accounts together: for keys without patterns of the server's own account.
  caller,   // About the caller alone: always allowed.
};

struct Row {
  Api api;
  std::string_view action;           // As the API's own table calls it.
  std::optional<auth::Right> right;  // None: any authenticated caller.
  About about;
  std::string_view method;
  std::string_view path;  // Of REST APIs.
  std::string_view body = {};
  std::optional<auth::Right> also = {};  // A second right that is needed.
  bool hides = false;                    // What the caller may not know of is not found, instead of
                                         // denied.
};

// A field of a request that names something which the server will use in the caller's name.
struct FieldRow {
  Api api;
  std::string_view action;
  std::string_view field;
  std::string_view targets;  // Which kinds it takes: q(ueue), f(unction), b(ucket), n(ame of queue)
  std::string_view method;
  std::string_view path;
  std::string_view body;  // With {target}, and {handle} or {key} of a message in `a-dlq`.
};

}  // namespace redrive::authorization
