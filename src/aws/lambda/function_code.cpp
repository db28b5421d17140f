#include "aws/lambda/function_code.h"

#include <fmt/format.h>

#include <filesystem>

#include "aws/lambda/catalogue.h"
#include "aws/lambda/configuration.h"
#include "aws/lambda/operations.h"
#include "base/result.h"

namespace redrive::lambda {
namespace {

// The server then runs files of that directory, so only local callers may name one.
Outcome<PlacedCode> place_directory(const Call& call, std::string_view directory) {
  if (!call.parts.directories) {
    return invalid(
        "A Directory is for development: it is accepted only by servers without keys on a loopback "
        "address.");
  }
  const std::filesystem::path path(directory);
  std::error_code error;
  if (!path.is_absolute() || !std::filesystem::is_directory(path, error)) {
    return invalid(fmt::format("{} is not the absolute path of a directory.", directory));
  }
  return PlacedCode{.stored = {}, .directory = path.lexically_normal().string()};
}

Outcome<std::string> read_object(const Call& call, const documents::Code& code) {
  const std::string bucket(*code.s3_bucket);
  RETURN_IF_ERROR(call.authorize_objects(front::kGetObject, bucket));
  const auto missing = [](const objects::Failure& failure) {
    return invalid(
        fmt::format("Error occurred while GetObject. S3 Error Code: {}. S3 Error "
                    "Message: {}",
                    failure.fault == objects::Fault::no_such_bucket ? "NoSuchBucket" : "NoSuchKey",
                    failure.message));
  };
  if (call.parts.buckets == nullptr || !code.s3_key) return invalid("Please provide an S3Key.");
  auto file = call.parts.buckets->get(bucket, *code.s3_key);
  if (!file) return missing(file.error());
  auto bytes = file->read(0, file->info().size);
  if (!bytes) return missing(bytes.error());
  return *std::move(bytes);
}

}  // namespace

void PlacedCode::give_to(functions::Function& function) const {
  function.code_sha256 = stored.sha256;
  function.code_size = stored.size;
  function.directory = directory;
  function.source_kms_key_arn = source_kms_key_arn;
}

Outcome<PlacedCode> place_code(Call& call, const documents::Code& code) {
  if (code.directory) return place_directory(call, *code.directory);
  if (code.image_uri) {
    return invalid("Container images are not supported by this server: use a zip.");
  }
  std::string object;
  if (!code.zip_file && code.s3_bucket) object = TRY(read_object(call, code));
  const std::string_view zip = code.zip_file ? code.zip_file->bytes : std::string_view(object);
  if (zip.empty()) return invalid("Please provide a source for function code.");
  CodeStore::Stored stored = TRY(told<CodeStore::Stored>(call.parts.functions.code().put(zip)));
  call.code_pin = stored.pin;
  return PlacedCode{.stored = std::move(stored),
                    .directory = {},
                    .source_kms_key_arn = std::string(code.source_kms_key_arn.value_or(""))};
}

Outcome<Answer> update_function_code(Call& call) {
  const CalledFunction called = TRY(call.function());
  TRY(find_function(call, called));
  const auto input = TRY(call.body<documents::CodeUpdate>());
  const std::string revision(input.revision_id.value_or(""));
  const PlacedCode code = TRY(place_code(call,
                                         {.zip_file = input.zip_file,
                                          .s3_bucket = input.s3_bucket,
                                          .s3_key = input.s3_key,
                                          .image_uri = input.image_uri,
                                          .source_kms_key_arn = input.source_kms_key_arn,
                                          .directory = input.directory}));
  const auto change = [&](functions::Function& function) -> Outcome<void> {
    if (!revision.empty() && revision != function.revision) return stale_revision();
    code.give_to(function);
    if (!input.architectures.empty()) function.architecture = input.architectures.front();
    return {};
  };
  if (input.dry_run) {
    functions::Function function = TRY(find_function(call, called));
    RETURN_IF_ERROR(change(function));
    return json_answer(200, describe(call, function));
  }
  functions::Function function = TRY(change_function(call, called, change));
  if (input.publish) function = TRY(publish_version(call, called, ""));
  return json_answer(200, describe(call, function));
}

Outcome<Answer> download_code(Call& call) {
  const functions::Function function = TRY(called_function(call));
  if (function.code_sha256.empty()) return not_found("The function was not deployed from a zip.");
  return Answer{
      .content_type = "application/zip",
      .body = TRY(told<std::string>(call.parts.functions.code().zip(function.code_sha256)))};
}

}  // namespace redrive::lambda
