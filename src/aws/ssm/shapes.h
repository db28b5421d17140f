#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "net/wire/shape.h"

// What travels: the inputs and outputs of the actions.

namespace redrive::ssm {

using Names = std::vector<std::string_view>;

struct Parameter {
  std::string_view name;
  std::string_view type;
  std::string_view value;
  std::int64_t version = 0;
  std::string_view selector;  // `:3`, as the request had it.
  double last_modified = 0;   // Seconds since 1970.
  std::string_view arn;
  std::string_view data_type = "text";
};
consteval auto shape_of(Parameter*) {
  return wire::shape(wire::required("Name", &Parameter::name),
                     wire::required("Type", &Parameter::type),
                     wire::required("Value", &Parameter::value).content(),
                     wire::required("Version", &Parameter::version),
                     wire::optional("Selector", &Parameter::selector),
                     wire::required("LastModifiedDate", &Parameter::last_modified),
                     wire::required("ARN", &Parameter::arn),
                     wire::required("DataType", &Parameter::data_type));
}
using Parameters = std::vector<Parameter>;

struct GetParameterInput {
  std::string_view name;
  bool with_decryption = false;
};
consteval auto shape_of(GetParameterInput*) {
  using In = GetParameterInput;
  return wire::shape(wire::required("Name", &In::name).filled(),
                     wire::optional("WithDecryption", &In::with_decryption));
}
struct GetParameterOutput {
  Parameter parameter;
};
consteval auto shape_of(GetParameterOutput*) {
  return wire::shape(wire::required("Parameter", &GetParameterOutput::parameter));
}

struct GetParametersInput {
  Names names;
  bool with_decryption = false;
};
consteval auto shape_of(GetParametersInput*) {
  using In = GetParametersInput;
  return wire::shape(wire::required("Names", &In::names).each("member"),
                     wire::optional("WithDecryption", &In::with_decryption));
}
struct GetParametersOutput {
  Parameters parameters;
  Names invalid;
};
consteval auto shape_of(GetParametersOutput*) {
  using Out = GetParametersOutput;
  return wire::shape(wire::optional("Parameters", &Out::parameters).each("member").always(),
                     wire::optional("InvalidParameters", &Out::invalid).each("member").always());
}

struct GetParametersByPathInput {
  std::string_view path;
  bool recursive = false;
  bool with_decryption = false;
  std::optional<std::int32_t> max_results;
  std::string_view next_token;
};
consteval auto shape_of(GetParametersByPathInput*) {
  using In = GetParametersByPathInput;
  return wire::shape(
      wire::required("Path", &In::path).filled(),
      wire::optional("Recursive", &In::recursive),
      wire::optional("WithDecryption", &In::with_decryption),
      wire::optional("MaxResults", &In::max_results).between(1, 10, "Must be from 1 to 10."),
      wire::optional("NextToken", &In::next_token));
}
struct GetParametersByPathOutput {
  Parameters parameters;
  std::string_view next_token;
};
consteval auto shape_of(GetParametersByPathOutput*) {
  using Out = GetParametersByPathOutput;
  return wire::shape(wire::optional("Parameters", &Out::parameters).each("member").always(),
                     wire::optional("NextToken", &Out::next_token));
}

struct PutParameterInput {
  std::string_view name;
  std::string_view value;
  std::string_view type;  // Empty: that of the parameter which is overwritten.
  bool overwrite = false;
  std::optional<std::string_view> description;
  std::string_view key_id;
  std::string_view tier;
  std::string_view data_type;
};
consteval auto shape_of(PutParameterInput*) {
  using In = PutParameterInput;
  return wire::shape(wire::required("Name", &In::name).filled(),
                     wire::required("Value", &In::value).filled().content(),
                     wire::optional("Type", &In::type),
                     wire::optional("Overwrite", &In::overwrite),
                     wire::optional("Description", &In::description),
                     wire::optional("KeyId", &In::key_id),
                     wire::optional("Tier", &In::tier),
                     wire::optional("DataType", &In::data_type));
}
struct PutParameterOutput {
  std::int64_t version = 0;
  std::string_view tier;
};
consteval auto shape_of(PutParameterOutput*) {
  return wire::shape(wire::required("Version", &PutParameterOutput::version),
                     wire::required("Tier", &PutParameterOutput::tier));
}

struct DeleteParameterInput {
  std::string_view name;
};
consteval auto shape_of(DeleteParameterInput*) {
  return wire::shape(wire::required("Name", &DeleteParameterInput::name).filled());
}

struct DeleteParametersInput {
  Names names;
};
consteval auto shape_of(DeleteParametersInput*) {
  return wire::shape(wire::required("Names", &DeleteParametersInput::names).each("member"));
}
struct DeleteParametersOutput {
  Names deleted;
  Names invalid;
};
consteval auto shape_of(DeleteParametersOutput*) {
  using Out = DeleteParametersOutput;
  return wire::shape(wire::optional("DeletedParameters", &Out::deleted).each("member").always(),
                     wire::optional("InvalidParameters", &Out::invalid).each("member").always());
}

}  // namespace redrive::ssm
