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

// One request to S3: the caller, the address, and the dependencies of the operations.
struct Call {
  objects::Store& store;
  objects::Uploads& uploads;
  const http::Request& request;
  const front::Caller& caller;
  Address address;
  Parameters parameters;
  Timestamp now;

  // Nothing if the query string does not have it; empty if it has no value.
  std::optional<std::string_view> parameter(std::string_view name) const;
  std::string_view parameter_or_empty(std::string_view name) const {
    return parameter(name).value_or(std::string_view());
  }
  // Whether the caller may perform the operation on a bucket or an object in it. Any caller with
  // the right may create a bucket. Called for every bucket of a request.
  Outcome<void> authorize(const front::Operation& operation, const Address& where) const;
};

// The body, after its digests were checked, and the digests that are stored with the object.
struct Upload {
  std::string_view raw;                // The request's own body.
  std::optional<std::string> decoded;  // The contents of its chunks, if it was chunked.
  std::vector<std::pair<std::string, std::string>> checksums;

  std::string_view body() const { return decoded ? std::string_view(*decoded) : raw; }
};
Outcome<Upload> read_upload(const Call& call);

// Headers that are stored with an object and returned with it.
Outcome<objects::Pairs> kept_headers(const http::Request& request);
std::string etag_of(std::string_view md5);

// The operations.
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
