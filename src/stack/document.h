#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "stack/functions.h"
#include "stack/node.h"

// A CloudFormation template as the server reads it: parsed, checked, with its dependencies. Errors
// have CloudFormation's own texts and the code `usage`.

namespace redrive::stack {

inline constexpr std::size_t kResourcesMax = 500;
inline constexpr std::size_t kOutputsMax = 200;
inline constexpr std::size_t kParametersMax = 200;

// What happens to a resource when it leaves its stack.
enum class Removal : std::uint8_t { remove, retain, retain_except_on_create };

struct TemplateResource {
  std::string id;
  std::string type;
  Node properties;
  std::vector<std::string> depends_on;
  std::string condition;  // Empty: none.
  Removal deletion = Removal::remove;
  Removal replacement = Removal::remove;  // Of what an update replaces.
};

struct TemplateOutput {
  std::string name;
  Node value;
  std::string description;
  std::string condition;
  Node export_name;  // Null: not exported.
};

// A parameter as declared.
struct TemplateParameter {
  std::string name;
  std::string type;
  std::string default_value;
  bool has_default = false;
  bool no_echo = false;
  std::string description;
  Node declared;  // Its constraints.

  bool is_list() const;
  // The type of Parameter Store values that the parameter takes the name of; empty: none.
  std::string_view ssm_type() const;
};

class Document {
 public:
  // From JSON or YAML. Refuses what CloudFormation's ValidateTemplate refuses, except for unknown
  // resource types.
  static Result<Document> parse(std::string_view text);
  static Result<Document> read(Node root);

  const Node& root() const { return root_; }
  const std::vector<TemplateParameter>& parameters() const { return parameters_; }
  const std::vector<TemplateResource>& resources() const { return resources_; }
  const std::vector<TemplateOutput>& outputs() const { return outputs_; }
  const std::string& description() const { return root_["Description"].scalar(); }

  const TemplateResource* find(std::string_view id) const;
  // What acknowledgement the resources need: CAPABILITY_IAM or CAPABILITY_NAMED_IAM.
  std::set<std::string> capabilities() const;
  // The types that need it, without duplicates.
  std::vector<std::string> capability_types() const;

 private:
  Result<void> read_parameters();
  Result<void> read_resources();
  Result<void> read_outputs();
  Result<void> check_references() const;

  Node root_;
  std::vector<TemplateParameter> parameters_;
  std::vector<TemplateResource> resources_;
  std::vector<TemplateOutput> outputs_;
};

// The root of a template in JSON or YAML.
Result<Node> parse_template_text(std::string_view text);

// Values of parameters: those given and the defaults of the others, checked against the template.
using ParameterValues = std::map<std::string, std::string>;
Result<ParameterValues> complete_parameters(const Document& document, const ParameterValues& given);
// The value that Ref yields: a list for list types. `value` is the stored value for SSM types.
Node parameter_node(const TemplateParameter& parameter, const std::string& value);

// Which resources a value refers to. Branches of Fn::If that do not apply are left out if `holds`
// is given. Names that are no resources (parameters, pseudo parameters) are included.
using Holds = std::function<Result<bool>(const std::string& condition)>;
Result<std::set<std::string>> references_in(const Node& value, const Holds& holds = {});

// One step of a plan: a resource, and those of the same template that it needs.
struct Ordered {
  const TemplateResource* resource;
  std::vector<std::string> needs;
};
// The resources whose conditions hold, each after those that it depends on, otherwise in the order
// of the template. Refuses circular dependencies and references to resources that are left out.
Result<std::vector<Ordered>> in_dependency_order(const Document& document, Functions& functions);

}  // namespace redrive::stack
