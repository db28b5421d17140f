#pragma once

#include "aws/lambda/call.h"

// One function for each operation of the Lambda API.

namespace redrive::lambda {

Outcome<Answer> create_function(Call& call);
Outcome<Answer> get_function(Call& call);
Outcome<Answer> get_function_configuration(Call& call);
Outcome<Answer> list_functions(Call& call);
Outcome<Answer> list_versions(Call& call);
Outcome<Answer> publish_function_version(Call& call);
// The part of delete_function for versions.
Outcome<Answer> delete_version(Call& call, const CalledFunction& called);
Outcome<Answer> create_alias(Call& call);
Outcome<Answer> get_alias(Call& call);
Outcome<Answer> list_aliases(Call& call);
Outcome<Answer> update_alias(Call& call);
Outcome<Answer> delete_alias(Call& call);
Outcome<Answer> update_function_code(Call& call);
Outcome<Answer> update_function_configuration(Call& call);
Outcome<Answer> delete_function(Call& call);
Outcome<Answer> get_code_signing_config(Call& call);
Outcome<Answer> get_account_settings(Call& call);

Outcome<Answer> get_concurrency(Call& call);
Outcome<Answer> put_concurrency(Call& call);
Outcome<Answer> delete_concurrency(Call& call);

Outcome<Answer> get_policy(Call& call);
Outcome<Answer> add_permission(Call& call);
Outcome<Answer> remove_permission(Call& call);

Outcome<Answer> list_tags(Call& call);
Outcome<Answer> tag_resource(Call& call);
Outcome<Answer> untag_resource(Call& call);

Outcome<Answer> invoke(Call& call);

Outcome<Answer> get_invoke_config(Call& call);
Outcome<Answer> put_invoke_config(Call& call);
Outcome<Answer> update_invoke_config(Call& call);
Outcome<Answer> delete_invoke_config(Call& call);
Outcome<Answer> list_invoke_configs(Call& call);

Outcome<Answer> create_mapping(Call& call);
Outcome<Answer> get_mapping(Call& call);
Outcome<Answer> list_mappings(Call& call);
Outcome<Answer> update_mapping(Call& call);
Outcome<Answer> delete_mapping(Call& call);

// Of the management API.
Outcome<Answer> show_logs(Call& call);
Outcome<Answer> download_code(Call& call);

}  // namespace redrive::lambda
