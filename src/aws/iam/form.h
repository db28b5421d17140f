#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aws/iam/answer.h"

namespace redrive::iam {

using Tags = std::map<std::string, std::string>;

// The parameters of a request, decoded; the last of several values wins.
class Form {
 public:
  // Parameters of the body come after, and so win over, those of the query string.
  static Outcome<Form> parse(std::string_view query, std::string_view body);

  // Empty when it is not there.
  std::string_view text(std::string_view name) const;
  std::optional<std::string_view> find(std::string_view name) const;
  // Refuses when it is missing or empty.
  Outcome<std::string> required(std::string_view name) const;
  Outcome<std::int64_t> number(std::string_view name, std::int64_t otherwise, std::int64_t min,
                               std::int64_t max) const;
  // Tags.member.N.Key and .Value.
  Outcome<Tags> tags() const;
  // name.member.N
  std::vector<std::string> list(std::string_view name) const;
  // Everything, as a JSON object for the audit log.
  std::string json() const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace redrive::iam
