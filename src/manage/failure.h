#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace redrive::manage {

// How the management API says no.
struct Failure {
  int status = 500;
  std::string_view code;  // The names are those of SQS where it has one.
  std::string message;
  std::string allowed;  // The Allow header of a 405.
};

Failure failure_of(const Error& error);
Failure no_such_path(std::string_view path);
Failure method_not_allowed(std::string_view method, std::string allowed);

// {"error": {"code": "...", "message": "..."}}
void append_failure(std::string& out, const Failure& failure);

}  // namespace redrive::manage
