#include "aws/lambda/routes.h"

#include <algorithm>
#include <array>

#include "aws/lambda/operations.h"
#include "base/text.h"

namespace redrive::lambda {
namespace {

using auth::Right;

constexpr Route kRoutes[] = {
    {"POST", "/2015-03-31/functions", "CreateFunction", Right::administer, create_function},
    {"GET", "/2015-03-31/functions", "ListFunctions", Right::look, list_functions},
    {"GET", "/2015-03-31/functions/{function}", "GetFunction", Right::look, get_function},
    {"DELETE",
     "/2015-03-31/functions/{function}",
     "DeleteFunction",
     Right::administer,
     delete_function},
    {"GET",
     "/2015-03-31/functions/{function}/configuration",
     "GetFunctionConfiguration",
     Right::look,
     get_function_configuration},
    {"PUT",
     "/2015-03-31/functions/{function}/configuration",
     "UpdateFunctionConfiguration",
     Right::administer,
     update_function_configuration},
    {"PUT",
     "/2015-03-31/functions/{function}/code",
     "UpdateFunctionCode",
     Right::administer,
     update_function_code},
    {"GET",
     "/2015-03-31/functions/{function}/versions",
     "ListVersionsByFunction",
     Right::look,
     list_versions},
    {"GET",
     "/2020-06-30/functions/{function}/code-signing-config",
     "GetFunctionCodeSigningConfig",
     Right::look,
     get_code_signing_config},
    {"GET",
     "/2016-08-19/account-settings",
     "GetAccountSettings",
     Right::look,
     get_account_settings},
    {"GET",
     "/2019-09-30/functions/{function}/concurrency",
     "GetFunctionConcurrency",
     Right::look,
     get_concurrency},
    {"PUT",
     "/2017-10-31/functions/{function}/concurrency",
     "PutFunctionConcurrency",
     Right::operate,
     put_concurrency},
    {"DELETE",
     "/2017-10-31/functions/{function}/concurrency",
     "DeleteFunctionConcurrency",
     Right::operate,
     delete_concurrency},
    {"GET", "/2015-03-31/functions/{function}/policy", "GetPolicy", Right::look, get_policy},
    {"POST",
     "/2015-03-31/functions/{function}/policy",
     "AddPermission",
     Right::administer,
     add_permission},
    {"DELETE",
     "/2015-03-31/functions/{function}/policy/{statement}",
     "RemovePermission",
     Right::administer,
     remove_permission},
    {"POST",
     "/2015-03-31/functions/{function}/versions",
     "PublishVersion",
     Right::administer,
     publish_function_version},
    {"POST",
     "/2015-03-31/functions/{function}/aliases",
     "CreateAlias",
     Right::administer,
     create_alias},
    {"GET", "/2015-03-31/functions/{function}/aliases", "ListAliases", Right::look, list_aliases},
    {"GET", "/2015-03-31/functions/{function}/aliases/{alias}", "GetAlias", Right::look, get_alias},
    {"PUT",
     "/2015-03-31/functions/{function}/aliases/{alias}",
     "UpdateAlias",
     Right::administer,
     update_alias},
    {"DELETE",
     "/2015-03-31/functions/{function}/aliases/{alias}",
     "DeleteAlias",
     Right::administer,
     delete_alias},
    {"GET", "/2017-03-31/tags/{arn}", "ListTags", Right::look, list_tags},
    {"POST", "/2017-03-31/tags/{arn}", "TagResource", Right::operate, tag_resource},
    {"DELETE", "/2017-03-31/tags/{arn}", "UntagResource", Right::operate, untag_resource},
    {"POST", "/2015-03-31/functions/{function}/invocations", "Invoke", Right::send, invoke},
    {"GET",
     "/2019-09-25/functions/{function}/event-invoke-config",
     "GetFunctionEventInvokeConfig",
     Right::look,
     get_invoke_config},
    {"PUT",
     "/2019-09-25/functions/{function}/event-invoke-config",
     "PutFunctionEventInvokeConfig",
     Right::operate,
     put_invoke_config},
    {"POST",
     "/2019-09-25/functions/{function}/event-invoke-config",
     "UpdateFunctionEventInvokeConfig",
     Right::operate,
     update_invoke_config},
    {"DELETE",
     "/2019-09-25/functions/{function}/event-invoke-config",
     "DeleteFunctionEventInvokeConfig",
     Right::operate,
     delete_invoke_config},
    {"GET",
     "/2019-09-25/functions/{function}/event-invoke-config/list",
     "ListFunctionEventInvokeConfigs",
     Right::look,
     list_invoke_configs},
    {"POST",
     "/2015-03-31/event-source-mappings",
     "CreateEventSourceMapping",
     Right::operate,
     create_mapping},
    {"GET",
     "/2015-03-31/event-source-mappings",
     "ListEventSourceMappings",
     Right::look,
     list_mappings},
    {"GET",
     "/2015-03-31/event-source-mappings/{mapping}",
     "GetEventSourceMapping",
     Right::look,
     get_mapping},
    {"PUT",
     "/2015-03-31/event-source-mappings/{mapping}",
     "UpdateEventSourceMapping",
     Right::operate,
     update_mapping},
    {"DELETE",
     "/2015-03-31/event-source-mappings/{mapping}",
     "DeleteEventSourceMapping",
     Right::operate,
     delete_mapping},
    {"GET", "/_redrive/v1/functions/{function}/logs", "ShowLogs", Right::look, show_logs},
    {"GET", "/_redrive/v1/functions/{function}/code", "DownloadCode", Right::look, download_code},
};

// 2015-03-31
bool is_version(std::string_view text) {
  if (text.size() != 10 || !text.starts_with("20") || text[4] != '-' || text[7] != '-')
    return false;
  return std::ranges::count_if(text, [](char c) { return c >= '0' && c <= '9'; }) == 8;
}

}  // namespace

std::span<const Route> routes() {
  return kRoutes;
}

std::vector<std::string_view> operation_names() {
  std::vector<std::string_view> names;
  for (const Route& route : kRoutes) names.push_back(route.operation);
  return names;
}

Match find_route(std::string_view method, std::string_view path) {
  if (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  for (std::size_t i = 0; i < std::size(kRoutes); ++i) {
    if (kRoutes[i].method != method) continue;
    if (auto parameters = http::fit_path(kRoutes[i].pattern, path))
      return {&kRoutes[i], i, *std::move(parameters)};
  }
  return {};
}

bool is_lambda_path(std::string_view path) {
  if (path.starts_with(kManagementPrefix)) return true;
  // Each operation of Lambda begins with the date of its version, known here or not.
  return path.size() >= 12 && path[0] == '/' && path[11] == '/' && is_version(path.substr(1, 10));
}

}  // namespace redrive::lambda
