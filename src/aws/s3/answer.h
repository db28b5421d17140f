#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "front/refusal.h"
#include "net/http/answer.h"
#include "objects/failure.h"

namespace redrive::s3 {

using http::Answer;

using front::Outcome;
using front::Refusal;
using front::refuse;

std::unexpected<Refusal> not_implemented(std::string_view what);
Refusal refusal_of(const objects::Failure& failure);
Refusal refusal_of(const Error& error);

// The value of a result of the objects module, or its failure as a refusal of S3.
template <class T>
Outcome<T> told(objects::Outcome<T> outcome) {
  if (!outcome) return std::unexpected(refusal_of(outcome.error()));
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return *std::move(outcome);
  }
}

// <name>text</name>, with escapes.
void append_element(std::string& out, std::string_view name, std::string_view text);
// A whole document: its declaration, and the root element in S3's namespace around `contents`.
std::string document(std::string_view root, std::string_view contents);
Answer xml_answer(std::string_view root, std::string_view contents);
// The document of an error, which has no namespace.
std::string error_document(const Refusal& refusal, std::string_view bucket, std::string_view key,
                           std::string_view request_id);

// Sun, 06 Nov 1994 08:49:37 GMT
std::string http_date(Timestamp time);

}  // namespace redrive::s3
