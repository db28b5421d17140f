#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "aws/iam/answer.h"
#include "aws/iam/entities.h"
#include "aws/iam/form.h"
#include "core/engine/engine.h"
#include "front/gate.h"
#include "net/auth/access_key.h"

namespace redrive::iam {

// One request on its way through this room: who asks, for what, and the result being written.
struct Call {
  engine::Engine& engine;
  const Form& form;
  const front::Caller& caller;
  Xml out;

  const std::string& account() const { return caller.account; }
  // Whether a list may show a role or policy of this name.
  bool sees(std::string_view name) const {
    return caller.key == nullptr || caller.key->role == auth::Role::scoped ||
           caller.key->covers(name);
  }
};

// Each takes a request apart and writes its result.
Outcome<void> create_role(Call& call);
Outcome<void> get_role(Call& call);
Outcome<void> list_roles(Call& call);
Outcome<void> update_role(Call& call);
Outcome<void> update_assume_role_policy(Call& call);
Outcome<void> delete_role(Call& call);
Outcome<void> tag_role(Call& call);
Outcome<void> untag_role(Call& call);
Outcome<void> list_role_tags(Call& call);
Outcome<void> list_instance_profiles_for_role(Call& call);
Outcome<void> put_role_policy(Call& call);
Outcome<void> get_role_policy(Call& call);
Outcome<void> delete_role_policy(Call& call);
Outcome<void> list_role_policies(Call& call);
Outcome<void> attach_role_policy(Call& call);
Outcome<void> detach_role_policy(Call& call);
Outcome<void> list_attached_role_policies(Call& call);
Outcome<void> create_policy(Call& call);
Outcome<void> get_policy(Call& call);
Outcome<void> delete_policy(Call& call);
Outcome<void> list_policies(Call& call);
Outcome<void> list_entities_for_policy(Call& call);
Outcome<void> tag_policy(Call& call);
Outcome<void> untag_policy(Call& call);
Outcome<void> list_policy_tags(Call& call);
Outcome<void> create_policy_version(Call& call);
Outcome<void> get_policy_version(Call& call);
Outcome<void> list_policy_versions(Call& call);
Outcome<void> delete_policy_version(Call& call);
Outcome<void> set_default_policy_version(Call& call);
Outcome<void> get_caller_identity(Call& call);
Outcome<void> refuse_to_assume(Call& call);

// Shared by several of them.

enum class Access { read, change };
// The role that RoleName names, in turn; what `work` made of it is recorded when it is a change.
Outcome<void> with_role(Call& call, Access access,
                        const std::function<Outcome<void>(engine::Turn&, Role&)>& work);
// The policy of this account that PolicyArn names.
Outcome<void> with_policy(Call& call, Access access,
                          const std::function<Outcome<void>(engine::Turn&, Policy&)>& work);
// Visits every role, or policy, of the account in the order of their names, until `visit` says no.
// Not in turn.
void for_each_role(engine::Engine& engine, std::string_view account,
                   const std::function<bool(Role&)>& visit);
void for_each_policy(engine::Engine& engine, std::string_view account,
                     const std::function<bool(Policy&)>& visit);
// What the catalogue calls a role. A policy goes by its ARN.
std::string role_entry(std::string_view account, std::string_view name);
Outcome<void> put_role(engine::Turn& turn, std::string_view account, const Role& role);
Outcome<void> put_policy(engine::Turn& turn, std::string_view account, const Policy& policy);

// Name and path as IAM allows them; the path is / when nobody said.
Outcome<std::string> entity_name(const Form& form, std::string_view parameter,
                                 std::size_t size_max);
Outcome<std::string> entity_path(const Form& form);
// A policy's text must be a JSON object. What it says is not looked at.
Outcome<std::string> policy_text(const Form& form, std::string_view parameter);
// A prefix and 17 characters of chance.
std::string entity_id(std::string_view prefix, IdSource& ids);
void set_tags(TextMap& tags, const Tags& given);
Outcome<void> add_tags(TextMap& tags, const Tags& given);
void remove_tags(TextMap& tags, const std::vector<std::string>& keys);
void write_tags(Xml& out, const TextMap& tags);
// How many roles each policy is attached to; of those that are attached to any. Not in turn.
using Attachments = std::map<std::string, std::int64_t, std::less<>>;
Attachments count_attachments(engine::Engine& engine, std::string_view account);
std::int64_t attachments_of(const Attachments& attachments, std::string_view arn);

// A page of a list by names: what is asked for, and how it ends.
struct PageRequest {
  std::string path_prefix;
  std::string after;  // The last name of the page before.
  std::int64_t size = 100;
};
Outcome<PageRequest> page_request(const Form& form);
void write_page_end(Xml& out, std::string_view next_marker);

}  // namespace redrive::iam
