#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "net/wire/shape.h"

// The documents of the Lambda API about functions. Members that Lambda does not have are marked.

namespace redrive::documents {

using Texts = std::vector<std::string_view>;
using TextMap = std::vector<std::pair<std::string_view, std::string_view>>;

struct Environment {
  TextMap variables;
};
consteval auto shape_of(Environment*) {
  return wire::shape(wire::optional("Variables", &Environment::variables).each("entry").always());
}

struct DeadLetterConfig {
  std::optional<std::string_view> target_arn;
};
consteval auto shape_of(DeadLetterConfig*) {
  return wire::shape(wire::optional("TargetArn", &DeadLetterConfig::target_arn));
}

struct EphemeralStorage {
  std::int64_t size = 512;
};
consteval auto shape_of(EphemeralStorage*) {
  return wire::shape(wire::optional("Size", &EphemeralStorage::size));
}

struct TracingConfig {
  std::string_view mode;
};
consteval auto shape_of(TracingConfig*) {
  return wire::shape(wire::optional("Mode", &TracingConfig::mode));
}

struct SnapStart {
  std::string_view apply_on;
  std::string_view optimization_status;
};
consteval auto shape_of(SnapStart*) {
  return wire::shape(wire::optional("ApplyOn", &SnapStart::apply_on),
                     wire::optional("OptimizationStatus", &SnapStart::optimization_status));
}

struct VpcConfig {
  Texts subnet_ids;
  Texts security_group_ids;
};
consteval auto shape_of(VpcConfig*) {
  return wire::shape(
      wire::optional("SubnetIds", &VpcConfig::subnet_ids).each("member"),
      wire::optional("SecurityGroupIds", &VpcConfig::security_group_ids).each("member"));
}

struct LoggingConfig {
  std::optional<std::string_view> log_format;
  std::optional<std::string_view> application_log_level;
  std::optional<std::string_view> system_log_level;
  std::optional<std::string_view> log_group;
};
consteval auto shape_of(LoggingConfig*) {
  using Self = LoggingConfig;
  return wire::shape(wire::optional("LogFormat", &Self::log_format),
                     wire::optional("ApplicationLogLevel", &Self::application_log_level),
                     wire::optional("SystemLogLevel", &Self::system_log_level),
                     wire::optional("LogGroup", &Self::log_group));
}

struct RuntimeVersionConfig {
  std::optional<std::string_view> runtime_version_arn;
};
consteval auto shape_of(RuntimeVersionConfig*) {
  return wire::shape(
      wire::optional("RuntimeVersionArn", &RuntimeVersionConfig::runtime_version_arn));
}

// Code that a function has or had, and that can still be invoked with the qualifier `@Version`.
struct KeptCode {
  std::string_view version;  // The first digits of the SHA-256, in hexadecimal.
  std::string_view code_sha256;
  std::int64_t code_size = 0;
  std::string_view deployed_at;
};
consteval auto shape_of(KeptCode*) {
  return wire::shape(wire::required("Version", &KeptCode::version),
                     wire::required("CodeSha256", &KeptCode::code_sha256),
                     wire::required("CodeSize", &KeptCode::code_size),
                     wire::required("DeployedAt", &KeptCode::deployed_at));
}

struct FunctionConfiguration {
  std::string_view function_name;
  std::string_view function_arn;
  std::string_view runtime;
  std::string_view role;
  std::string_view handler;
  std::int64_t code_size = 0;
  std::string_view code_sha256;
  std::string_view description;
  std::int64_t timeout = 0;
  std::int64_t memory_size = 0;
  std::string_view last_modified;
  std::string_view version;
  std::string_view package_type;
  Texts architectures;
  EphemeralStorage ephemeral_storage;
  TracingConfig tracing_config;
  SnapStart snap_start;
  std::optional<Environment> environment;
  std::optional<DeadLetterConfig> dead_letter_config;
  LoggingConfig logging_config;
  std::optional<std::string_view> kms_key_arn;
  std::optional<RuntimeVersionConfig> runtime_version_config;
  Texts layers;
  std::string_view revision_id;
  std::string_view state;
  std::optional<std::string_view>
      state_reason;  // A warning for the owner: another interpreter version.
  std::string_view last_update_status;
  Texts command;  // Ours, like the next two.
  std::string_view url;
  std::string_view directory;
  std::vector<KeptCode> kept_code;  // Ours, of $LATEST: the newest last.
};
consteval auto shape_of(FunctionConfiguration*) {
  using Out = FunctionConfiguration;
  return wire::shape(wire::required("FunctionName", &Out::function_name),
                     wire::required("FunctionArn", &Out::function_arn),
                     wire::optional("Runtime", &Out::runtime),
                     wire::optional("Role", &Out::role),
                     wire::optional("Handler", &Out::handler),
                     wire::optional("CodeSize", &Out::code_size),
                     wire::optional("CodeSha256", &Out::code_sha256),
                     wire::required("Description", &Out::description),
                     wire::optional("Timeout", &Out::timeout),
                     wire::optional("MemorySize", &Out::memory_size),
                     wire::optional("LastModified", &Out::last_modified),
                     wire::optional("Version", &Out::version),
                     wire::optional("PackageType", &Out::package_type),
                     wire::optional("Architectures", &Out::architectures).each("member"),
                     wire::optional("EphemeralStorage", &Out::ephemeral_storage),
                     wire::optional("TracingConfig", &Out::tracing_config),
                     wire::optional("SnapStart", &Out::snap_start),
                     wire::optional("Environment", &Out::environment),
                     wire::optional("DeadLetterConfig", &Out::dead_letter_config),
                     wire::optional("LoggingConfig", &Out::logging_config),
                     wire::optional("KMSKeyArn", &Out::kms_key_arn),
                     wire::optional("RuntimeVersionConfig", &Out::runtime_version_config),
                     wire::optional("Layers", &Out::layers).each("member").always(),
                     wire::optional("RevisionId", &Out::revision_id),
                     wire::optional("State", &Out::state),
                     wire::optional("StateReason", &Out::state_reason),
                     wire::optional("LastUpdateStatus", &Out::last_update_status),
                     wire::optional("Command", &Out::command).each("member"),
                     wire::optional("Url", &Out::url),
                     wire::optional("Directory", &Out::directory),
                     wire::optional("KeptCode", &Out::kept_code).each("member"));
}

struct CodeLocation {
  std::string_view repository_type;
  std::string_view location;
  std::optional<std::string_view> source_kms_key_arn;
};
consteval auto shape_of(CodeLocation*) {
  return wire::shape(wire::required("RepositoryType", &CodeLocation::repository_type),
                     wire::required("Location", &CodeLocation::location),
                     wire::optional("SourceKMSKeyArn", &CodeLocation::source_kms_key_arn));
}

struct Concurrency {
  std::optional<std::int64_t> reserved;
};
consteval auto shape_of(Concurrency*) {
  return wire::shape(wire::optional("ReservedConcurrentExecutions", &Concurrency::reserved));
}

struct FunctionDocument {
  FunctionConfiguration configuration;
  CodeLocation code;
  TextMap tags;
  std::optional<Concurrency> concurrency;
};
consteval auto shape_of(FunctionDocument*) {
  using Out = FunctionDocument;
  return wire::shape(wire::required("Configuration", &Out::configuration),
                     wire::optional("Code", &Out::code),
                     wire::optional("Tags", &Out::tags).each("entry").always(),
                     wire::optional("Concurrency", &Out::concurrency));
}

struct FunctionList {
  std::vector<FunctionConfiguration> functions;
  std::optional<std::string_view> next_marker;
};
consteval auto shape_of(FunctionList*) {
  return wire::shape(wire::optional("Functions", &FunctionList::functions).each("member").always(),
                     wire::optional("NextMarker", &FunctionList::next_marker));
}

struct VersionList {
  std::vector<FunctionConfiguration> versions;
};
consteval auto shape_of(VersionList*) {
  return wire::shape(wire::optional("Versions", &VersionList::versions).each("member").always());
}

// Where code comes from: the bytes themselves, an object in a bucket of this server, or (not in
// Lambda) a directory of the server's machine.
struct Code {
  std::optional<wire::Blob> zip_file;
  std::optional<std::string_view> s3_bucket;
  std::optional<std::string_view> s3_key;
  std::optional<std::string_view> image_uri;
  std::optional<std::string_view> source_kms_key_arn;
  std::optional<std::string_view> directory;
};
consteval auto shape_of(Code*) {
  return wire::shape(wire::optional("ZipFile", &Code::zip_file),
                     wire::optional("S3Bucket", &Code::s3_bucket),
                     wire::optional("S3Key", &Code::s3_key),
                     wire::optional("ImageUri", &Code::image_uri),
                     wire::optional("SourceKMSKeyArn", &Code::source_kms_key_arn),
                     wire::optional("Directory", &Code::directory));
}

// What CreateFunction and UpdateFunctionConfiguration take. Absent members stay unchanged.
struct FunctionSettings {
  std::optional<std::string_view> function_name;
  std::optional<Code> code;
  std::optional<std::string_view> description;
  std::optional<std::string_view> runtime;
  std::optional<std::string_view> handler;
  std::optional<std::string_view> role;
  std::optional<std::int64_t> timeout;
  std::optional<std::int64_t> memory_size;
  std::optional<Environment> environment;
  std::optional<DeadLetterConfig> dead_letter_config;
  std::optional<EphemeralStorage> ephemeral_storage;
  std::optional<TracingConfig> tracing_config;
  std::optional<VpcConfig> vpc_config;
  std::optional<SnapStart> snap_start;
  std::optional<LoggingConfig> logging_config;
  std::optional<std::string_view> kms_key_arn;
  std::optional<RuntimeVersionConfig> runtime_version_config;
  Texts architectures;
  Texts layers;
  TextMap tags;
  std::optional<std::string_view> package_type;
  std::optional<std::string_view> revision_id;
  std::optional<bool> publish;  // CreateFunction only.
  Texts command;                // Ours, like the next.
  std::optional<std::string_view> url;
};
consteval auto shape_of(FunctionSettings*) {
  using In = FunctionSettings;
  return wire::shape(wire::optional("FunctionName", &In::function_name),
                     wire::optional("Code", &In::code),
                     wire::optional("Description", &In::description),
                     wire::optional("Runtime", &In::runtime),
                     wire::optional("Handler", &In::handler),
                     wire::optional("Role", &In::role),
                     wire::optional("Timeout", &In::timeout),
                     wire::optional("MemorySize", &In::memory_size),
                     wire::optional("Environment", &In::environment),
                     wire::optional("DeadLetterConfig", &In::dead_letter_config),
                     wire::optional("EphemeralStorage", &In::ephemeral_storage),
                     wire::optional("TracingConfig", &In::tracing_config),
                     wire::optional("VpcConfig", &In::vpc_config),
                     wire::optional("SnapStart", &In::snap_start),
                     wire::optional("LoggingConfig", &In::logging_config),
                     wire::optional("KMSKeyArn", &In::kms_key_arn),
                     wire::optional("RuntimeVersionConfig", &In::runtime_version_config),
                     wire::optional("Architectures", &In::architectures).each("member"),
                     wire::optional("Layers", &In::layers).each("member"),
                     wire::optional("Tags", &In::tags).each("entry"),
                     wire::optional("PackageType", &In::package_type),
                     wire::optional("RevisionId", &In::revision_id),
                     wire::optional("Publish", &In::publish),
                     wire::optional("Command", &In::command).each("member"),
                     wire::optional("Url", &In::url));
}

// What PublishVersion takes.
struct PublishInput {
  std::optional<std::string_view> code_sha256;
  std::optional<std::string_view> description;
  std::optional<std::string_view> revision_id;
};
consteval auto shape_of(PublishInput*) {
  return wire::shape(wire::optional("CodeSha256", &PublishInput::code_sha256),
                     wire::optional("Description", &PublishInput::description),
                     wire::optional("RevisionId", &PublishInput::revision_id));
}

struct AliasDocument {
  std::string_view alias_arn;
  std::string_view name;
  std::string_view function_version;
  std::string_view description;
  std::string_view revision_id;
};
consteval auto shape_of(AliasDocument*) {
  using Out = AliasDocument;
  return wire::shape(wire::required("AliasArn", &Out::alias_arn),
                     wire::required("Name", &Out::name),
                     wire::required("FunctionVersion", &Out::function_version),
                     wire::required("Description", &Out::description),
                     wire::required("RevisionId", &Out::revision_id));
}

struct AliasList {
  std::vector<AliasDocument> aliases;
};
consteval auto shape_of(AliasList*) {
  return wire::shape(wire::optional("Aliases", &AliasList::aliases).each("member").always());
}

// What CreateAlias and UpdateAlias take.
struct AliasInput {
  std::optional<std::string_view> name;
  std::optional<std::string_view> function_version;
  std::optional<std::string_view> description;
  std::optional<std::string_view> revision_id;
};
consteval auto shape_of(AliasInput*) {
  using In = AliasInput;
  return wire::shape(wire::optional("Name", &In::name),
                     wire::optional("FunctionVersion", &In::function_version),
                     wire::optional("Description", &In::description),
                     wire::optional("RevisionId", &In::revision_id));
}

// What UpdateFunctionCode takes.
struct CodeUpdate {
  std::optional<wire::Blob> zip_file;
  std::optional<std::string_view> s3_bucket;
  std::optional<std::string_view> s3_key;
  std::optional<std::string_view> image_uri;
  std::optional<std::string_view> source_kms_key_arn;
  std::optional<std::string_view> directory;  // Ours.
  Texts architectures;
  bool dry_run = false;
  bool publish = false;
  std::optional<std::string_view> revision_id;
};
consteval auto shape_of(CodeUpdate*) {
  using In = CodeUpdate;
  return wire::shape(wire::optional("ZipFile", &In::zip_file),
                     wire::optional("S3Bucket", &In::s3_bucket),
                     wire::optional("S3Key", &In::s3_key),
                     wire::optional("ImageUri", &In::image_uri),
                     wire::optional("SourceKMSKeyArn", &In::source_kms_key_arn),
                     wire::optional("Directory", &In::directory),
                     wire::optional("Architectures", &In::architectures).each("member"),
                     wire::optional("DryRun", &In::dry_run),
                     wire::optional("Publish", &In::publish),
                     wire::optional("RevisionId", &In::revision_id));
}

struct TagList {
  TextMap tags;
};
consteval auto shape_of(TagList*) {
  return wire::shape(wire::optional("Tags", &TagList::tags).each("entry").always());
}

// The log of a function in the management API.
struct LogLine {
  std::int64_t number = 0;
  std::string_view at;
  std::string_view request_id;
  std::string_view text;
};
consteval auto shape_of(LogLine*) {
  return wire::shape(wire::required("number", &LogLine::number),
                     wire::required("at", &LogLine::at),
                     wire::optional("requestId", &LogLine::request_id),
                     wire::required("text", &LogLine::text).sensitive());
}

inline constexpr std::size_t kLogPageLines = 1000;  // Where there are more.

struct LogPage {
  std::vector<LogLine> lines;
};
consteval auto shape_of(LogPage*) {
  return wire::shape(wire::optional("lines", &LogPage::lines).each("line").always());
}

}  // namespace redrive::documents
