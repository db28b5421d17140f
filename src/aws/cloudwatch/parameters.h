#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace redrive::cloudwatch {

// What a request says, flat as in Query: `Dimensions.member.1.Name`. JSON is brought to the same
// form, so that each action is written once.
class Parameters {
 public:
  static Result<Parameters> from_form(std::string_view query, std::string_view body);
  static Result<Parameters> from_json(std::string_view body);

  // Nothing when it is absent; an empty text is there.
  std::optional<std::string> find(const std::string& name) const;
  std::string text(const std::string& name) const { return find(name).value_or(""); }
  Result<std::string> required(const std::string& name) const;
  Result<std::optional<std::int64_t>> integer(const std::string& name) const;
  Result<std::optional<double>> number(const std::string& name) const;
  Result<std::optional<bool>> flag(const std::string& name) const;
  // A moment: ISO 8601, or seconds since 1970 with a fraction.
  Result<std::optional<Timestamp>> time(const std::string& name) const;
  // The prefixes of a list's items, in order: `Dimensions.member.1`, ...
  std::vector<std::string> items(const std::string& list) const;
  // The values of a list of texts.
  std::vector<std::string> texts(const std::string& list) const;

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace redrive::cloudwatch
