#include "aws/s3/answer.h"

#include <fmt/format.h>

#include <array>
#include <chrono>

#include "net/wire/encode.h"

namespace redrive::s3 {
namespace {

constexpr std::string_view kDeclaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
constexpr std::string_view kNamespace = "http://s3.amazonaws.com/doc/2006-03-01/";

struct FaultRow {
  objects::Fault fault;
  int status;
  std::string_view code;
};
using objects::Fault;
constexpr std::array kFaults = {
    FaultRow{Fault::no_such_bucket, 404, "NoSuchBucket"},
    FaultRow{Fault::no_such_key, 404, "NoSuchKey"},
    FaultRow{Fault::bucket_exists, 409, "BucketAlreadyOwnedByYou"},
    FaultRow{Fault::bucket_taken, 409, "BucketAlreadyExists"},
    FaultRow{Fault::bucket_not_empty, 409, "BucketNotEmpty"},
    FaultRow{Fault::invalid_bucket_name, 400, "InvalidBucketName"},
    FaultRow{Fault::invalid_key, 400, "KeyTooLongError"},
    FaultRow{Fault::too_large, 400, "EntityTooLarge"},
    FaultRow{Fault::no_such_upload, 404, "NoSuchUpload"},
    FaultRow{Fault::invalid_part, 400, "InvalidPart"},
    FaultRow{Fault::invalid_part_order, 400, "InvalidPartOrder"},
    FaultRow{Fault::key_exists, 412, "PreconditionFailed"},
    FaultRow{Fault::damaged, 500, "InternalError"},
    FaultRow{Fault::io, 500, "InternalError"},
    FaultRow{Fault::full, 503, "ServiceUnavailable"},
};

}  // namespace

std::unexpected<Refusal> not_implemented(std::string_view what) {
  return refuse(
      501,
      "NotImplemented",
      fmt::format("{} is not implemented: archive buckets support a subset of S3.", what));
}

Refusal refusal_of(const objects::Failure& failure) {
  for (const FaultRow& row : kFaults) {
    if (row.fault == failure.fault) return {row.status, row.code, failure.message};
  }
  return {500, "InternalError", failure.message};
}

Refusal refusal_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::signature_does_not_match:
      return {403, "SignatureDoesNotMatch", error.message};
    case ErrorCode::invalid_client_token_id:
      return {403, "InvalidAccessKeyId", error.message};
    case ErrorCode::incomplete_signature:
      return {400, "AuthorizationHeaderMalformed", error.message};
    case ErrorCode::request_throttled:
      return {503, "SlowDown", error.message};
    case ErrorCode::malformed_request:
      return {400, "InvalidRequest", error.message};
    default:
      return {403, "AccessDenied", error.message};
  }
}

void append_element(std::string& out, std::string_view name, std::string_view text) {
  out.append("<").append(name).append(">");
  wire::append_xml_text(out, text);
  out.append("</").append(name).append(">");
}

std::string document(std::string_view root, std::string_view contents) {
  return fmt::format("{}<{} xmlns=\"{}\">{}</{}>", kDeclaration, root, kNamespace, contents, root);
}

Answer xml_answer(std::string_view root, std::string_view contents) {
  return {.content_type = "application/xml", .body = document(root, contents)};
}

std::string error_document(const Refusal& refusal, std::string_view bucket, std::string_view key,
                           std::string_view request_id) {
  std::string out(kDeclaration);
  out += "<Error>";
  append_element(out, "Code", refusal.code);
  append_element(out, "Message", refusal.message);
  if (!bucket.empty()) append_element(out, "BucketName", bucket);
  if (!key.empty()) append_element(out, "Key", key);
  append_element(out, "RequestId", request_id);
  append_element(out, "HostId", request_id);
  return out += "</Error>";
}

std::string http_date(Timestamp time) {
  using namespace std::chrono;
  constexpr std::array<std::string_view, 7> kDays = {
      "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<std::string_view, 12> kMonths = {
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const sys_seconds at{seconds(time.seconds())};
  const auto day = floor<days>(at);
  const year_month_day date(day);
  const hh_mm_ss clock(at - day);
  return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT",
                     kDays[weekday(day).c_encoding()],
                     static_cast<unsigned>(date.day()),
                     kMonths[static_cast<unsigned>(date.month()) - 1],
                     static_cast<int>(date.year()),
                     clock.hours().count(),
                     clock.minutes().count(),
                     clock.seconds().count());
}

}  // namespace redrive::s3
