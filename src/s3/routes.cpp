#include "s3/routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/result.h"

namespace redrive::s3 {
namespace {

using auth::Right;

// Parameters that make another operation of a request.
constexpr std::array<std::string_view, 33> kSubResources = {"accelerate",
                                                            "acl",
                                                            "analytics",
                                                            "attributes",
                                                            "cors",
                                                            "delete",
                                                            "encryption",
                                                            "intelligent-tiering",
                                                            "inventory",
                                                            "legal-hold",
                                                            "lifecycle",
                                                            "location",
                                                            "logging",
                                                            "metrics",
                                                            "notification",
                                                            "object-lock",
                                                            "ownershipControls",
                                                            "partNumber",
                                                            "policy",
                                                            "policyStatus",
                                                            "publicAccessBlock",
                                                            "replication",
                                                            "requestPayment",
                                                            "restore",
                                                            "retention",
                                                            "select",
                                                            "tagging",
                                                            "torrent",
                                                            "uploadId",
                                                            "uploads",
                                                            "versioning",
                                                            "versions",
                                                            "website"};

struct Row {
  std::string_view method;
  bool of_object;
  std::string_view sub_resource;
  S3Route route;
};

constexpr std::array kRows = {
    Row{"GET", false, "", {Right::look, list_objects}},
    Row{"HEAD", false, "", {Right::look, head_bucket}},
    Row{"PUT", false, "", {Right::administer, create_bucket}},
    Row{"DELETE", false, "", {Right::administer, delete_bucket}},
    Row{"GET", false, "location", {Right::look, bucket_location}},
    Row{"GET", false, "acl", {Right::look, bucket_acl}},
    Row{"GET", false, "tagging", {Right::look, get_bucket_tagging}},
    Row{"PUT", false, "tagging", {Right::administer, put_bucket_tagging}},
    Row{"DELETE", false, "tagging", {Right::administer, delete_bucket_tagging}},
    Row{"POST", false, "delete", {Right::operate, delete_objects}},
    Row{"GET", true, "", {Right::look, get_object}},
    Row{"HEAD", true, "", {Right::look, get_object}},
    Row{"PUT", true, "", {Right::operate, put_object}},
    Row{"DELETE", true, "", {Right::operate, delete_object}},
    Row{"POST", true, "uploads", {Right::operate, create_multipart_upload}},
    Row{"GET", false, "uploads", {Right::look, list_multipart_uploads}},
    Row{"PUT", true, "uploadId", {Right::operate, upload_part}},
    Row{"GET", true, "uploadId", {Right::look, list_parts}},
    Row{"POST", true, "uploadId", {Right::operate, complete_multipart_upload}},
    Row{"DELETE", true, "uploadId", {Right::operate, abort_multipart_upload}},
};

// What S3 answers about settings that nobody made; here nobody can. Terraform and the console of
// many tools ask for all of them.
struct Unset {
  std::string_view sub_resource;
  std::string_view code;  // Empty: 200 and an empty document.
  std::string_view text;  // The message, or the document's root.
};
constexpr std::array kUnset = {
    Unset{"policy", "NoSuchBucketPolicy", "The bucket policy does not exist"},
    Unset{"cors", "NoSuchCORSConfiguration", "The CORS configuration does not exist"},
    Unset{"website",
          "NoSuchWebsiteConfiguration",
          "The specified bucket does not have a website configuration"},
    Unset{
        "lifecycle", "NoSuchLifecycleConfiguration", "The lifecycle configuration does not exist"},
    Unset{"replication",
          "ReplicationConfigurationNotFoundError",
          "The replication configuration was not found"},
    Unset{"encryption",
          "ServerSideEncryptionConfigurationNotFoundError",
          "The server side encryption configuration was not found"},
    Unset{"object-lock",
          "ObjectLockConfigurationNotFoundError",
          "Object Lock configuration does not exist for this bucket"},
    Unset{"publicAccessBlock",
          "NoSuchPublicAccessBlockConfiguration",
          "The public access block configuration was not found"},
    Unset{"ownershipControls",
          "OwnershipControlsNotFoundError",
          "The bucket ownership controls were not found"},
    Unset{"versioning", "", "VersioningConfiguration"},
    Unset{"accelerate", "", "AccelerateConfiguration"},
    Unset{"logging", "", "BucketLoggingStatus"},
    Unset{"notification", "", "NotificationConfiguration"},
    Unset{"requestPayment", "", "RequestPaymentConfiguration"},
};

std::string_view sub_resource_of(const Call& call) {
  if (call.parameter("uploadId")) return "uploadId";  // With partNumber, in any order.
  for (const auto& [name, value] : call.parameters) {
    const auto found = std::ranges::find(kSubResources, name);
    if (found != kSubResources.end()) return *found;
    if (name == "versionId" && value != "null") return "versions";
  }
  return {};
}

const Unset* find_unset(const Call& call) {
  const auto found = std::ranges::find(kUnset, sub_resource_of(call), &Unset::sub_resource);
  return found == kUnset.end() ? nullptr : &*found;
}

Outcome<Answer> answer_unset(Call& call) {
  CHECK(told(call.store.bucket(call.address.bucket)));
  const Unset& unset = *find_unset(call);
  if (!unset.code.empty()) return refuse(404, unset.code, std::string(unset.text));
  const bool pays = unset.sub_resource == "requestPayment";
  return xml_answer(unset.text, pays ? "<Payer>BucketOwner</Payer>" : "");
}

}  // namespace

Outcome<S3Route> find_s3_route(const Call& call) {
  const std::string_view method = call.request.method;
  const std::string_view sub_resource = sub_resource_of(call);
  if (call.address.bucket.empty()) {
    if (method == "GET") return S3Route{Right::look, list_buckets};
    return not_implemented(fmt::format("{} on the service itself", method));
  }
  const bool of_object = !call.address.key.empty();
  for (const Row& row : kRows) {
    if (row.method == method && row.of_object == of_object && row.sub_resource == sub_resource) {
      return row.route;
    }
  }
  if (method == "GET" && !of_object && find_unset(call) != nullptr) {
    return S3Route{Right::look, answer_unset};
  }
  return not_implemented(sub_resource.empty() ? std::string(method)
                                              : fmt::format("{} ?{}", method, sub_resource));
}

}  // namespace redrive::s3
