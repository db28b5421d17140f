#pragma once

#include "aws/lambda/call.h"
#include "manage/documents/functions.h"

namespace redrive::lambda {

// The document that Lambda returns for a function. Points into the function and the call.
documents::FunctionConfiguration describe(Call& call, const functions::Function& function);

// 2026-01-01T12:00:00.000+0000
std::string lambda_time(Timestamp time);

// Applies the settings of a request, except for code.
Outcome<void> apply_settings(const documents::FunctionSettings& settings,
                             functions::Function& function);
// Checks the resulting function.
Outcome<void> check_function(const functions::Function& function);

}  // namespace redrive::lambda
