#pragma once

#include "aws/lambda/call.h"
#include "manage/documents/functions.h"

namespace redrive::lambda {

// Code in the code store, or in a directory that the caller named.
struct PlacedCode {
  CodeStore::Stored stored;
  std::string directory;
  std::string source_kms_key_arn = {};

  void give_to(functions::Function& function) const;
};

// Stores the code of a request.
Outcome<PlacedCode> place_code(Call& call, const documents::Code& code);

}  // namespace redrive::lambda
