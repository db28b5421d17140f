#pragma once

#include "aws/lambda/call.h"
#include "manage/documents/functions.h"

namespace redrive::lambda {

// How Lambda tells of a function. Points into the function, which must stay, and into the call.
documents::FunctionConfiguration describe(Call& call, const functions::Function& function);

// 2026-01-01T12:00:00.000+0000
std::string lambda_time(Timestamp time);

// Applies what a request sets, or tells why not. Code is for others.
Outcome<void> apply_settings(const documents::FunctionSettings& settings,
                             functions::Function& function);
// What must be true of a function whatever was set before.
Outcome<void> check_function(const functions::Function& function);

}  // namespace redrive::lambda
