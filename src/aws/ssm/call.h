#pragma once

#include <string>
#include <string_view>

#include "aws/ssm/sealer.h"
#include "aws/ssm/shapes.h"
#include "core/engine/engine.h"
#include "front/action_table.h"

namespace redrive::ssm {

using front::Outcome;

// What the actions work on.
struct Parts {
  engine::Engine& engine;
  Sealer& sealer;
};

struct Call : front::ActionCall {
  const Parts& parts;
};

// A parameter as a request names it: `db`, `/app/db`, `/app/db:3` or an ARN.
struct Address {
  std::string account;
  std::string region;
  std::string name;
  std::string selector = {};  // `:3`; empty: the newest version.

  std::string arn() const { return resource().arn(); }
  front::Resource resource() const;
  // What the catalogue calls it, and what its sealed value is bound to.
  std::string entry() const;
};
Outcome<Address> parse_address(const front::Caller& caller, std::string_view text);
// The names that a new parameter may have.
Outcome<void> check_new_name(std::string_view name);
// A path of GetParametersByPath, with a slash at its end.
Outcome<std::string> parse_path(std::string_view path);

Outcome<GetParameterOutput> get_parameter(Call& call, const GetParameterInput& input);
Outcome<GetParametersOutput> get_parameters(Call& call, const GetParametersInput& input);
Outcome<GetParametersByPathOutput> get_parameters_by_path(Call& call,
                                                          const GetParametersByPathInput& input);
Outcome<PutParameterOutput> put_parameter(Call& call, const PutParameterInput& input);
Outcome<void> delete_parameter(Call& call, const DeleteParameterInput& input);
Outcome<DeleteParametersOutput> delete_parameters(Call& call, const DeleteParametersInput& input);

// What the audit log records. Values stay out of it.
front::AuditNote audit_note(const PutParameterInput& input);
front::AuditNote audit_note(const DeleteParameterInput& input);
front::AuditNote audit_note(const DeleteParametersInput& input);

}  // namespace redrive::ssm
