#include <fmt/format.h>

#include "aws/s3/call.h"
#include "base/calendar.h"
#include "base/result.h"
#include "base/text.h"
#include "base/xml.h"

// Multipart uploads. Their ETag is the MD5 of the whole object, as for every object here.
namespace redrive::s3 {
namespace {

constexpr std::size_t kPartsMax = 10'000;

objects::Upload named_upload(const Call& call) {
  return {.id = std::string(call.parameter_or_empty("uploadId")),
          .bucket = call.address.bucket,
          .key = call.address.key,
          .content_type = {},
          .headers = {},
          .begun = {}};
}

void append_upload(std::string& xml, const objects::Upload& upload) {
  append_element(xml, "Bucket", upload.bucket);
  append_element(xml, "Key", upload.key);
  append_element(xml, "UploadId", upload.id);
}

Outcome<std::vector<objects::UploadPart>> parse_parts(std::string_view body) {
  const auto root = parse_xml(body);
  if (!root || root->name != "CompleteMultipartUpload" || root->children.size() > kPartsMax) {
    return refuse(400, "MalformedXML", "The XML you provided was not well-formed.");
  }
  std::vector<objects::UploadPart> parts;
  for (const XmlElement& part : root->children) {
    const auto number = parse_int<std::uint32_t>(part.text_of("PartNumber"));
    if (part.name != "Part" || !number) {
      return refuse(400, "MalformedXML", "The XML you provided is not a list of parts.");
    }
    std::string_view etag = part.text_of("ETag");
    while (etag.starts_with('"')) etag.remove_prefix(1);
    while (etag.ends_with('"')) etag.remove_suffix(1);
    parts.push_back({.number = *number, .size = 0, .md5 = std::string(etag)});
  }
  return parts;
}

}  // namespace

Outcome<Answer> create_multipart_upload(Call& call) {
  RETURN_IF_ERROR(told(call.store.bucket(call.address.bucket)));
  objects::Upload upload = named_upload(call);
  upload.content_type = call.request.header("content-type");
  upload.headers = TRY(kept_headers(call.request));
  upload.begun = call.now;
  std::string xml;
  append_upload(xml, call.uploads.begin(std::move(upload)));
  return xml_answer("InitiateMultipartUploadResult", xml);
}

Outcome<Answer> upload_part(Call& call) {
  if (!call.request.header("x-amz-copy-source").empty()) return not_implemented("UploadPartCopy");
  const auto number = parse_int<std::uint32_t>(call.parameter_or_empty("partNumber"));
  if (!number) return refuse(400, "InvalidArgument", "Part number must be an integer.");
  const Upload upload = TRY(read_upload(call));
  const auto part = TRY(told(call.uploads.put(named_upload(call), *number, upload.body())));
  Answer answer{.headers = {{"ETag", etag_of(part.md5)}}};
  for (const auto& checksum : upload.checksums) answer.headers.push_back(checksum);
  return answer;
}

Outcome<Answer> list_parts(Call& call) {
  const auto [upload, parts] = TRY(told(call.uploads.show(named_upload(call))));
  std::string xml;
  append_upload(xml, upload);
  append_element(xml, "IsTruncated", "false");
  for (const objects::UploadPart& part : parts) {
    xml += "<Part>";
    append_element(xml, "PartNumber", std::to_string(part.number));
    append_element(xml, "LastModified", format_utc(upload.begun));
    append_element(xml, "ETag", etag_of(part.md5));
    append_element(xml, "Size", std::to_string(part.size));
    xml += "</Part>";
  }
  return xml_answer("ListPartsResult", xml);
}

Outcome<Answer> list_multipart_uploads(Call& call) {
  RETURN_IF_ERROR(told(call.store.bucket(call.address.bucket)));
  std::string xml;
  append_element(xml, "Bucket", call.address.bucket);
  append_element(xml, "IsTruncated", "false");
  for (const objects::Upload& upload : call.uploads.of_bucket(call.address.bucket)) {
    xml += "<Upload>";
    append_element(xml, "Key", upload.key);
    append_element(xml, "UploadId", upload.id);
    append_element(xml, "Initiated", format_utc(upload.begun));
    xml += "</Upload>";
  }
  return xml_answer("ListMultipartUploadsResult", xml);
}

Outcome<Answer> complete_multipart_upload(Call& call) {
  const Upload request = TRY(read_upload(call));
  const auto parts = TRY(parse_parts(request.body()));
  const objects::Upload named = named_upload(call);
  const auto whole = TRY(told(call.uploads.join(named, parts)));
  const auto info = TRY(told(call.store.put(call.address.bucket,
                                            {.key = whole.upload.key,
                                             .body = whole.body,
                                             .content_type = whole.upload.content_type,
                                             .headers = whole.upload.headers,
                                             .modified = call.now})));
  // Fails if the upload was completed or aborted meanwhile, which is fine.
  static_cast<void>(call.uploads.drop(named).has_value());
  std::string xml;
  append_element(xml, "Location", fmt::format("/{}/{}", call.address.bucket, info.key));
  append_element(xml, "Bucket", call.address.bucket);
  append_element(xml, "Key", info.key);
  append_element(xml, "ETag", etag_of(info.md5));
  return xml_answer("CompleteMultipartUploadResult", xml);
}

Outcome<Answer> abort_multipart_upload(Call& call) {
  RETURN_IF_ERROR(told(call.uploads.drop(named_upload(call))));
  return Answer{.status = 204};
}

}  // namespace redrive::s3
