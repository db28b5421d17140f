#pragma once

#include "aws/lambda/call.h"
#include "manage/documents/functions.h"

namespace redrive::lambda {

// Code that is on disk, or lies in a directory of somebody's own.
struct PlacedCode {
  CodeStore::Stored stored;
  std::string directory;
  std::string source_kms_key_arn = {};

  void give_to(functions::Function& function) const;
};

// Takes code from where a request says it is.
Outcome<PlacedCode> place_code(Call& call, const documents::Code& code);

}  // namespace redrive::lambda
