#include <fmt/format.h>

#include "aws/s3/call.h"
#include "base/calendar.h"
#include "base/result.h"
#include "base/xml.h"

// Operations on whole buckets.
namespace redrive::s3 {
namespace {

constexpr std::size_t kTagsMax = 50;

constexpr front::Operation kListBucket{.name = "s3:ListAllMyBuckets", .right = auth::Right::look};

void append_owner(std::string& out, std::string_view account) {
  out += "<Owner>";
  append_element(out, "ID", account);
  append_element(out, "DisplayName", account);
  out += "</Owner>";
}

Outcome<objects::BucketInfo> bucket_info(Call& call) {
  return told(call.store.bucket(call.address.bucket));
}

std::unexpected<Refusal> malformed_xml() {
  return refuse(
      400, "MalformedXML", "The XML you provided was not well-formed or is not what is expected.");
}

Outcome<objects::Pairs> parse_tags(std::string_view body) {
  const auto root = parse_xml(body);
  const XmlElement* const set = root ? root->find("TagSet") : nullptr;
  if (set == nullptr || set->children.size() > kTagsMax) return malformed_xml();
  objects::Pairs tags;
  for (const XmlElement& tag : set->children) {
    tags.emplace_back(tag.text_of("Key"), tag.text_of("Value"));
    if (tag.name != "Tag" || tags.back().first.empty()) return malformed_xml();
  }
  return tags;
}

}  // namespace

Outcome<Answer> list_buckets(Call& call) {
  std::string xml;
  append_owner(xml, call.caller.account);
  xml += "<Buckets>";
  for (const auto& bucket : call.store.buckets()) {
    if (!call.authorize(kListBucket, {.bucket = bucket.name, .key = {}})) continue;
    xml += "<Bucket>";
    append_element(xml, "Name", bucket.name);
    append_element(xml, "CreationDate", format_utc(bucket.created));
    xml += "</Bucket>";
  }
  return xml_answer("ListAllMyBucketsResult", xml += "</Buckets>");
}

// Unsigned reads below this path are for the web console.
constexpr std::string_view kReservedBucket = "console";

Outcome<Answer> create_bucket(Call& call) {
  if (call.address.bucket == kReservedBucket) {
    return refuse(400, "InvalidBucketName", "The name console is reserved for the web console.");
  }
  // The location constraint: there is only one region.
  if (!call.request.body.empty() && !parse_xml(call.request.body)) return malformed_xml();
  RETURN_IF_ERROR(
      told(call.store.create_bucket(call.address.bucket, call.now, call.caller.account)));
  return Answer{.headers = {{"Location", "/" + call.address.bucket}}};
}

Outcome<Answer> head_bucket(Call& call) {
  RETURN_IF_ERROR(bucket_info(call));
  return Answer{.content_type = "application/xml",
                .headers = {{"x-amz-bucket-region", call.caller.region}}};
}

Outcome<Answer> delete_bucket(Call& call) {
  RETURN_IF_ERROR(told(call.store.delete_bucket(call.address.bucket)));
  return Answer{.status = 204};
}

// The region of a bucket is that of the caller: there is no other to redirect to.
Outcome<Answer> bucket_location(Call& call) {
  RETURN_IF_ERROR(bucket_info(call));
  return xml_answer("LocationConstraint",
                    call.caller.region == "us-east-1" ? "" : call.caller.region);
}

Outcome<Answer> bucket_acl(Call& call) {
  const objects::BucketInfo info = TRY(bucket_info(call));
  std::string xml;
  append_owner(xml, info.owner);
  xml +=
      "<AccessControlList><Grant><Grantee xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
      "xsi:type=\"CanonicalUser\">";
  append_element(xml, "ID", info.owner);
  append_element(xml, "DisplayName", info.owner);
  xml += "</Grantee><Permission>FULL_CONTROL</Permission></Grant></AccessControlList>";
  return xml_answer("AccessControlPolicy", xml);
}

Outcome<Answer> get_bucket_tagging(Call& call) {
  const objects::BucketInfo info = TRY(bucket_info(call));
  if (info.tags.empty()) return refuse(404, "NoSuchTagSet", "The TagSet does not exist");
  std::string xml = "<TagSet>";
  for (const auto& [key, value] : info.tags) {
    xml += "<Tag>";
    append_element(xml, "Key", key);
    append_element(xml, "Value", value);
    xml += "</Tag>";
  }
  return xml_answer("Tagging", xml += "</TagSet>");
}

Outcome<Answer> put_bucket_tagging(Call& call) {
  const Upload upload = TRY(read_upload(call));
  RETURN_IF_ERROR(told(call.store.set_tags(call.address.bucket, TRY(parse_tags(upload.body())))));
  return Answer{.status = 204};
}

Outcome<Answer> delete_bucket_tagging(Call& call) {
  RETURN_IF_ERROR(told(call.store.set_tags(call.address.bucket, {})));
  return Answer{.status = 204};
}

}  // namespace redrive::s3
