#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "stack/node.h"

// Transforms that CloudFormation applies to a template before it reads it. Pure.

namespace redrive::stack {

inline constexpr std::string_view kSamTransform = "AWS::Serverless-2016-10-31";
inline constexpr std::string_view kLanguageExtensions = "AWS::LanguageExtensions";

// AWS::Serverless::Function becomes a function, its role, and what its events and settings need.
// What the server does not have (APIs, tables, other events) is an error that names it.
Result<Node> expand_sam(Node root);

// Fn::ForEach in resources, outputs, conditions and properties. Collections are lists, not
// references to parameters.
Result<Node> expand_for_each(Node root);

// The transforms that a template names.
std::vector<std::string> transform_names(const Node& root);
// Applies all of them in their order and removes their names.
Result<Node> apply_transforms(Node root);

}  // namespace redrive::stack
