#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "front/kept_document.h"
#include "net/wire/decoder.h"
#include "net/wire/encode.h"

// Roles and policies as the catalogue keeps them. They say what the keys of functions open
// (iam/role_permissions.h); they restrict no other key.

namespace redrive::iam {

using TextMap = std::vector<std::pair<std::string_view, std::string_view>>;

struct Role {
  std::string_view name;
  std::string_view id;  // AROA…
  std::string_view path;
  std::string_view description;
  std::string_view trust;  // AssumeRolePolicyDocument, as it came.
  std::int64_t session_seconds_max = 3600;
  std::int64_t created_ms = 0;
  TextMap tags;
  TextMap inline_policies;                 // Name and document.
  std::vector<std::string_view> attached;  // ARNs, in the order they came.
};
consteval auto shape_of(Role*) {
  return wire::shape(wire::required("name", &Role::name),
                     wire::required("id", &Role::id),
                     wire::required("path", &Role::path),
                     wire::optional("description", &Role::description),
                     wire::required("trust", &Role::trust),
                     wire::required("sessionSecondsMax", &Role::session_seconds_max),
                     wire::required("createdMs", &Role::created_ms),
                     wire::optional("tags", &Role::tags).each("tag"),
                     wire::optional("inlinePolicies", &Role::inline_policies).each("policy"),
                     wire::optional("attached", &Role::attached).each("arn"));
}

struct PolicyVersion {
  std::int64_t number = 0;
  std::string_view document;
  std::int64_t created_ms = 0;
};
consteval auto shape_of(PolicyVersion*) {
  return wire::shape(wire::required("number", &PolicyVersion::number),
                     wire::required("document", &PolicyVersion::document),
                     wire::required("createdMs", &PolicyVersion::created_ms));
}

struct Policy {
  std::string_view name;
  std::string_view id;  // ANPA…
  std::string_view path;
  std::string_view description;
  std::int64_t created_ms = 0;
  std::int64_t updated_ms = 0;
  std::int64_t default_version = 1;
  std::vector<PolicyVersion> versions;  // Oldest first.
  TextMap tags;
};
consteval auto shape_of(Policy*) {
  return wire::shape(wire::required("name", &Policy::name),
                     wire::required("id", &Policy::id),
                     wire::required("path", &Policy::path),
                     wire::optional("description", &Policy::description),
                     wire::required("createdMs", &Policy::created_ms),
                     wire::required("updatedMs", &Policy::updated_ms),
                     wire::required("defaultVersion", &Policy::default_version),
                     wire::required("versions", &Policy::versions).each("version"),
                     wire::optional("tags", &Policy::tags).each("tag"));
}

template <class T>
using Kept = front::KeptDocument<T>;

std::string role_arn(std::string_view account, const Role& role);
std::string policy_arn(std::string_view account, const Policy& policy);

// Those of AWS, which every account has: arn:aws:iam::aws:policy/…
bool is_aws_managed(std::string_view arn);
// The part of an ARN behind its last slash.
std::string_view name_of_arn(std::string_view arn);

}  // namespace redrive::iam
