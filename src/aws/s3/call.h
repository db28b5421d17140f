#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aws/s3/address.h"
#include "aws/s3/answer.h"
#include "front/authorize.h"
#include "front/gate.h"
#include "net/http/message.h"
#include "objects/store.h"
#include "objects/uploads.h"

namespace redrive::s3 {

using Parameters = std::vector<std::pair<std::string, std::string>>;

// The query string, decoded.
Parameters parse_parameters(std::string_view query);

// One request to S3: the caller, the address, and what the operations work on.
struct Call {
  objects::Store& store;
  objects::Uploads& uploads;
  const http::Request& request;
  const front::Caller& caller;
  Address address;
  Parameters parameters;
  Timestamp now;

  // Nothing when the query string does not have it; empty when it has it without value.
  std::optional<std::string_view> parameter(std::string_view name) const;
  std::string_view parameter_or_empty(std::string_view name) const {
    return parameter(name).value_or(std::string_view());
  }
  // Whether the caller may do this to a bucket or an object in it. A bucket that does not exist is
  // the caller's to make. Every bucket that a request touches is asked about.
  Outcome<void> authorize(const front::Operation& operation, const Address& where) const;
};

// The body itself, with the digests that came with it checked, and those that stay with it.
struct Upload {
  std::string_view raw;                // The request's own body.
  std::optional<std::string> decoded;  // What was in its chunks, if it had such.
  std::vector<std::pair<std::string, std::string>> checksums;

  std::string_view body() const { return decoded ? std::string_view(*decoded) : raw; }
};
Outcome<Upload> read_upload(const Call& call);

// What the writer of an object says about it and every reader is told again.
Outcome<objects::Pairs> kept_headers(const http::Request& request);
std::string etag_of(std::string_view md5);

// Each takes a request apart and answers it.
Outcome<Answer> list_buckets(Call& call);
Outcome<Answer> create_bucket(Call& call);
Outcome<Answer> head_bucket(Call& call);
Outcome<Answer> delete_bucket(Call& call);
Outcome<Answer> bucket_location(Call& call);
Outcome<Answer> bucket_acl(Call& call);
Outcome<Answer> get_bucket_tagging(Call& call);
Outcome<Answer> put_bucket_tagging(Call& call);
Outcome<Answer> delete_bucket_tagging(Call& call);
Outcome<Answer> list_objects(Call& call);
Outcome<Answer> put_object(Call& call);
Outcome<Answer> get_object(Call& call);  // HEAD too.
Outcome<Answer> delete_object(Call& call);
Outcome<Answer> delete_objects(Call& call);
Outcome<Answer> create_multipart_upload(Call& call);
Outcome<Answer> upload_part(Call& call);
Outcome<Answer> list_parts(Call& call);
Outcome<Answer> list_multipart_uploads(Call& call);
Outcome<Answer> complete_multipart_upload(Call& call);
Outcome<Answer> abort_multipart_upload(Call& call);

}  // namespace redrive::s3
