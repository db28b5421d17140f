#include "aws/s3/routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/result.h"

namespace redrive::s3 {
namespace {

using auth::Right;

// Query parameters that select another operation.
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
  std::string_view action;
  Right right;
  Outcome<Answer> (*run)(Call& call);
};

constexpr std::array kRows = {
    Row{"GET", false, "", "ListObjects", Right::look, list_objects},
    Row{"HEAD", false, "", "HeadBucket", Right::look, head_bucket},
    Row{"PUT", false, "", "CreateBucket", Right::administer, create_bucket},
    Row{"DELETE", false, "", "DeleteBucket", Right::administer, delete_bucket},
    Row{"GET", false, "location", "GetBucketLocation", Right::look, bucket_location},
    Row{"GET", false, "acl", "GetBucketAcl", Right::look, bucket_acl},
    Row{"GET", false, "tagging", "GetBucketTagging", Right::look, get_bucket_tagging},
    Row{"PUT", false, "tagging", "PutBucketTagging", Right::administer, put_bucket_tagging},
    Row{"DELETE",
        false,
        "tagging",
        "DeleteBucketTagging",
        Right::administer,
        delete_bucket_tagging},
    Row{"POST", false, "delete", "DeleteObjects", Right::operate, delete_objects},
    Row{"GET", true, "", "GetObject", Right::look, get_object},
    Row{"HEAD", true, "", "HeadObject", Right::look, get_object},
    Row{"PUT", true, "", "PutObject", Right::operate, put_object},
    Row{"DELETE", true, "", "DeleteObject", Right::operate, delete_object},
    Row{"POST", true, "uploads", "CreateMultipartUpload", Right::operate, create_multipart_upload},
    Row{"GET", false, "uploads", "ListMultipartUploads", Right::look, list_multipart_uploads},
    Row{"PUT", true, "uploadId", "UploadPart", Right::operate, upload_part},
    Row{"GET", true, "uploadId", "ListParts", Right::look, list_parts},
    Row{"POST",
        true,
        "uploadId",
        "CompleteMultipartUpload",
        Right::operate,
        complete_multipart_upload},
    Row{"DELETE", true, "uploadId", "AbortMultipartUpload", Right::operate, abort_multipart_upload},
};

// The index after the rows: requests without one.
constexpr std::size_t kListBuckets = kRows.size();
constexpr std::size_t kGetUnset = kRows.size() + 1;

// S3's answers for settings that are not set; here they cannot be set. Terraform and other tools
// read all of them.
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

std::string_view sub_resource_of(const Parameters& parameters) {
  const auto has_name = [](const auto& parameter) { return parameter.first == "uploadId"; };
  // With partNumber, in any order.
  if (std::ranges::any_of(parameters, has_name)) return "uploadId";
  for (const auto& [name, value] : parameters) {
    const auto found = std::ranges::find(kSubResources, name);
    if (found != kSubResources.end()) return *found;
    if (name == "versionId" && value != "null") return "versions";
  }
  return {};
}

const Unset* find_unset(std::string_view sub_resource) {
  const auto found = std::ranges::find(kUnset, sub_resource, &Unset::sub_resource);
  return found == kUnset.end() ? nullptr : &*found;
}

Outcome<Answer> answer_unset(Call& call) {
  RETURN_IF_ERROR(told(call.store.bucket(call.address.bucket)));
  const Unset& unset = *find_unset(sub_resource_of(call.parameters));
  if (!unset.code.empty()) return refuse(404, unset.code, std::string(unset.text));
  const bool pays = unset.sub_resource == "requestPayment";
  return xml_answer(unset.text, pays ? "<Payer>BucketOwner</Payer>" : "");
}

// Actions whose permission has a different name.
constexpr std::pair<std::string_view, std::string_view> kPermissions[] = {
    {"ListObjects", "s3:ListBucket"},
    {"HeadBucket", "s3:ListBucket"},
    {"HeadObject", "s3:GetObject"},
    {"DeleteObjects", "s3:DeleteObject"},
    {"DeleteBucketTagging", "s3:PutBucketTagging"},
    {"CreateMultipartUpload", "s3:PutObject"},
    {"UploadPart", "s3:PutObject"},
    {"CompleteMultipartUpload", "s3:PutObject"},
    {"ListParts", "s3:ListMultipartUploadParts"},
    {"ListMultipartUploads", "s3:ListBucketMultipartUploads"},
    {"ListBuckets", "s3:ListAllMyBuckets"},
    {"GetBucketSetting", "s3:GetBucketLocation"},
};

}  // namespace

std::string_view s3_permission(std::string_view action) {
  for (const auto& [name, permission] : kPermissions) {
    if (name == action) return permission;
  }
  return {};
}

std::vector<S3Action> s3_actions() {
  std::vector<S3Action> actions;
  const auto add = [&](S3Action action) {
    action.permission = s3_permission(action.name);
    actions.push_back(action);
  };
  for (const Row& row : kRows) {
    add({row.action, {}, row.right, row.method, row.of_object, row.sub_resource});
  }
  add({"ListBuckets", {}, Right::look, "GET"});
  add({"GetBucketSetting", {}, Right::look, "GET", false, "versioning"});
  return actions;
}

std::vector<std::string_view> s3_action_names() {
  std::vector<std::string_view> names;
  for (const S3Action& action : s3_actions()) names.push_back(action.name);
  return names;
}

Outcome<std::size_t> find_s3_action(std::string_view method, const Address& address,
                                    const Parameters& parameters) {
  const std::string_view sub_resource = sub_resource_of(parameters);
  if (address.bucket.empty()) {
    if (method == "GET") return kListBuckets;
    return not_implemented(fmt::format("{} on the service itself", method));
  }
  const bool of_object = !address.key.empty();
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    const Row& row = kRows[i];
    if (row.method == method && row.of_object == of_object && row.sub_resource == sub_resource) {
      return i;
    }
  }
  if (method == "GET" && !of_object && find_unset(sub_resource) != nullptr) return kGetUnset;
  return not_implemented(sub_resource.empty() ? std::string(method)
                                              : fmt::format("{} ?{}", method, sub_resource));
}

S3Route s3_route(std::size_t action) {
  if (action == kListBuckets) return {"ListBuckets", Right::look, list_buckets};
  if (action == kGetUnset) return {"GetBucketSetting", Right::look, answer_unset};
  const Row& row = kRows[action];
  return {row.action, row.right, row.run};
}

}  // namespace redrive::s3
