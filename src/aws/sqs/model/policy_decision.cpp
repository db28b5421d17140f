#include "aws/sqs/model/policy_decision.h"

#include <arpa/inet.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/pattern.h"
#include "base/text.h"

namespace redrive::sqs {
namespace {

using Element = simdjson::dom::element;

// Three-valued: what a part of a statement says about the question.
enum class Match { no, yes, unclear };

Match from(bool value) {
  return value ? Match::yes : Match::no;
}

Match both(Match a, Match b) {
  if (a == Match::no || b == Match::no) return Match::no;
  return a == Match::yes && b == Match::yes ? Match::yes : Match::unclear;
}

Match negate(Match match) {
  if (match == Match::unclear) return match;
  return match == Match::yes ? Match::no : Match::yes;
}

bool equals_folded(std::string_view pattern, std::string_view text) {
  return wildcard_match(to_lower(pattern), to_lower(text));
}

// The strings of a value that is one string or a list of them; nothing when it is anything else.
std::optional<std::vector<std::string_view>> strings_of(const Element& value) {
  std::vector<std::string_view> found;
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return std::vector{text};
  if (!value.is_array()) return std::nullopt;
  for (const Element item : value.get_array()) {
    if (item.get(text) != simdjson::SUCCESS) return std::nullopt;
    found.push_back(text);
  }
  return found;
}

template <class Test>
Match any_string(const Element& value, Test test) {
  const auto texts = strings_of(value);
  if (!texts) return Match::unclear;
  return from(std::ranges::any_of(*texts, test));
}

// `*`, an account, its root ARN, or a user's ARN.
bool is_caller(std::string_view principal, const PolicyQuestion& question) {
  if (principal == "*" || principal == question.caller_account) return true;
  if (principal == question.caller_arn) return true;
  const auto parts = split(principal, ':');
  return parts.size() == 6 && parts[2] == "iam" && parts[4] == question.caller_account &&
         parts[5] == "root";
}

Match match_principal(const Element& value, const PolicyQuestion& question) {
  const auto test = [&](std::string_view text) { return is_caller(text, question); };
  if (!value.is_object()) return any_string(value, test);
  Match result = Match::no;
  for (const auto& [kind, names] : value.get_object()) {
    // Callers are users, never services or federated identities.
    if (kind != "AWS") continue;
    const Match one = any_string(names, test);
    if (one != Match::no) result = one;
  }
  return result;
}

Match match_action(const Element& value, const PolicyQuestion& question) {
  const std::string name = "sqs:" + std::string(question.action);
  return any_string(value, [&](std::string_view text) { return equals_folded(text, name); });
}

Match match_resource(const Element& value, const PolicyQuestion& question) {
  return any_string(value,
                    [&](std::string_view text) { return wildcard_match(text, question.resource); });
}

// Whether an address lies in `network`, which is an address with or without /bits. Nothing when
// either cannot be read.
std::optional<bool> in_network(std::string_view address, std::string_view network) {
  const std::size_t slash = network.find('/');
  const std::string base(network.substr(0, slash));
  const std::string one(address);
  const int family = base.find(':') == std::string::npos ? AF_INET : AF_INET6;
  const int bits_all = family == AF_INET ? 32 : 128;
  const auto bits = slash == std::string_view::npos ? std::optional<int>(bits_all)
                                                    : parse_int<int>(network.substr(slash + 1));
  std::array<unsigned char, 16> a{};
  std::array<unsigned char, 16> b{};
  if (!bits || *bits < 0 || *bits > bits_all || inet_pton(family, base.c_str(), b.data()) != 1) {
    return std::nullopt;
  }
  if (inet_pton(family, one.c_str(), a.data()) != 1) return false;  // Of the other family.
  for (int bit = 0; bit < *bits; ++bit) {
    const auto at = static_cast<std::size_t>(bit / 8);
    if (((a[at] ^ b[at]) & (0x80 >> (bit % 8))) != 0) return false;
  }
  return true;
}

Match match_address(const Element& value, const PolicyQuestion& question) {
  const auto networks = strings_of(value);
  if (!networks) return Match::unclear;
  Match result = Match::no;
  for (const std::string_view network : *networks) {
    const auto inside = in_network(question.source_ip, network);
    if (!inside) return Match::unclear;
    if (*inside) result = Match::yes;
  }
  return result;
}

// The value of a condition key for this request; nothing when the key is not understood.
std::optional<std::string_view> key_value(std::string_view key, const PolicyQuestion& question) {
  const std::string name = to_lower(key);
  if (name == "aws:principalaccount") return question.caller_account;
  if (name == "aws:principalarn") return question.caller_arn;
  if (name == "aws:sourceip") return question.source_ip;
  return std::nullopt;
}

Match match_text(std::string_view key, const Element& wanted, const PolicyQuestion& question,
                 bool wildcards) {
  const auto value = key_value(key, question);
  if (!value) return Match::unclear;
  return any_string(wanted, [&](std::string_view text) {
    return wildcards ? wildcard_match(text, *value) : text == *value;
  });
}

Match match_bool(std::string_view key, const Element& wanted, const PolicyQuestion& question) {
  if (to_lower(key) != "aws:securetransport") return Match::unclear;
  bool plain = false;
  if (wanted.get(plain) == simdjson::SUCCESS) return from(plain == question.secure);
  return any_string(wanted, [&](std::string_view text) {
    return to_lower(text) == (question.secure ? "true" : "false");
  });
}

Match match_condition(std::string_view test, std::string_view key, const Element& wanted,
                      const PolicyQuestion& question) {
  if (test == "Bool") return match_bool(key, wanted, question);
  if (test == "IpAddress" || test == "NotIpAddress") {
    if (to_lower(key) != "aws:sourceip") return Match::unclear;
    const Match inside = match_address(wanted, question);
    return test == "IpAddress" ? inside : negate(inside);
  }
  if (test == "StringEquals") return match_text(key, wanted, question, false);
  if (test == "StringNotEquals") return negate(match_text(key, wanted, question, false));
  if (test == "StringLike" || test == "ArnLike" || test == "ArnEquals") {
    return match_text(key, wanted, question, true);
  }
  if (test == "StringNotLike" || test == "ArnNotLike" || test == "ArnNotEquals") {
    return negate(match_text(key, wanted, question, true));
  }
  return Match::unclear;
}

Match match_conditions(const Element& conditions, const PolicyQuestion& question) {
  if (!conditions.is_object()) return Match::unclear;
  Match result = Match::yes;
  for (const auto& [test, keys] : conditions.get_object()) {
    if (!keys.is_object()) return Match::unclear;
    for (const auto& [key, wanted] : keys.get_object()) {
      result = both(result, match_condition(test, key, wanted, question));
    }
  }
  return result;
}

struct Statement {
  std::string_view effect;
  bool has_principal = false;
  bool has_action = false;
  bool has_resource = false;
  Match match = Match::yes;
};

void read_member(Statement& statement, std::string_view name, const Element& value,
                 const PolicyQuestion& question) {
  const auto add = [&](bool& seen, Match match) {
    seen = true;
    statement.match = both(statement.match, match);
  };
  bool ignored = false;
  if (name == "Sid") return;
  if (name == "Effect" && value.get(statement.effect) == simdjson::SUCCESS) return;
  if (name == "Principal") return add(statement.has_principal, match_principal(value, question));
  if (name == "NotPrincipal") {
    return add(statement.has_principal, negate(match_principal(value, question)));
  }
  if (name == "Action") return add(statement.has_action, match_action(value, question));
  if (name == "NotAction") return add(statement.has_action, negate(match_action(value, question)));
  if (name == "Resource") return add(statement.has_resource, match_resource(value, question));
  if (name == "NotResource") {
    return add(statement.has_resource, negate(match_resource(value, question)));
  }
  if (name == "Condition") return add(ignored, match_conditions(value, question));
  add(ignored, Match::unclear);
}

PolicyVerdict verdict_of(const Element& document, const PolicyQuestion& question) {
  if (!document.is_object()) return PolicyVerdict::deny;
  Statement statement;
  for (const auto& [name, value] : document.get_object()) {
    read_member(statement, name, value, question);
  }
  const bool whole = statement.has_principal && statement.has_action && statement.has_resource;
  const Match match = whole ? statement.match : both(statement.match, Match::unclear);
  if (statement.effect == "Allow") {
    return match == Match::yes ? PolicyVerdict::allow : PolicyVerdict::silent;
  }
  return match == Match::no ? PolicyVerdict::silent : PolicyVerdict::deny;
}

}  // namespace

PolicyVerdict evaluate_policy(std::string_view policy, const PolicyQuestion& question) {
  if (policy.empty()) return PolicyVerdict::silent;
  simdjson::dom::parser parser;
  Element document;
  Element statements;
  if (parser.parse(policy.data(), policy.size()).get(document) != simdjson::SUCCESS) {
    return PolicyVerdict::deny;
  }
  if (document["Statement"].get(statements) != simdjson::SUCCESS) return PolicyVerdict::silent;
  if (!statements.is_array()) return verdict_of(statements, question);
  PolicyVerdict verdict = PolicyVerdict::silent;
  for (const Element statement : statements.get_array()) {
    const PolicyVerdict one = verdict_of(statement, question);
    if (one == PolicyVerdict::deny) return one;
    if (one == PolicyVerdict::allow) verdict = one;
  }
  return verdict;
}

}  // namespace redrive::sqs
