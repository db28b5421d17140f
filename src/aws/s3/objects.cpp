#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "aws/s3/byte_range.h"
#include "aws/s3/call.h"
#include "base/calendar.h"
#include "base/pattern.h"
#include "base/result.h"
#include "base/text.h"
#include "base/xml.h"
#include "front/masking.h"

// Single objects, and the deletion of many.
namespace redrive::s3 {
namespace {

constexpr std::string_view kMetadataPrefix = "x-amz-meta-";
constexpr std::string_view kChecksumPrefix = "x-amz-checksum-";
constexpr std::size_t kMetadataBytesMax = 8u << 10;
constexpr std::size_t kDeletedMax = 1000;
constexpr front::Operation kDeleteObject{.name = "s3:DeleteObject", .right = auth::Right::operate};
constexpr std::string_view kDefaultType = "binary/octet-stream";
// Stored with the object and returned with it.
constexpr std::array<std::string_view, 5> kKeptHeaders = {
    "cache-control", "content-disposition", "content-encoding", "content-language", "expires"};

// `aws-chunked` describes the transfer, not the object.
std::string without_chunking(std::string_view encodings) {
  std::string kept;
  for (std::string_view one : split(encodings, ',')) {
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    if (one.empty() || iequals(one, "aws-chunked")) continue;
    if (!kept.empty()) kept += ", ";
    kept += one;
  }
  return kept;
}

// `<prefix>/Nov-16-2026/<seconds>_<MessageId>.json`, as archive::archive_key names them.
bool is_archived_letter(std::string_view key) {
  constexpr std::string_view kEnd = ".json";
  constexpr std::size_t kDayBytes = 11;
  constexpr std::size_t kIdBytes = 36;
  const auto parts = split(key, '/');
  const std::string_view name = parts.back();
  if (parts.size() < 2 || parts[parts.size() - 2].size() != kDayBytes) return false;
  return name.ends_with(kEnd) && name.size() > kIdBytes + kEnd.size() &&
         name[name.size() - kEnd.size() - kIdBytes - 1] == '_';
}

Outcome<Address> copy_source(std::string_view header) {
  std::string source = percent_decode(header.substr(0, header.find("?versionId")), false);
  if (source.starts_with('/')) source.erase(0, 1);
  const std::size_t slash = source.find('/');
  if (slash == std::string::npos || slash + 1 == source.size()) {
    return refuse(400, "InvalidArgument", "Copy Source must mention the source bucket and key.");
  }
  return Address{.bucket = source.substr(0, slash), .key = source.substr(slash + 1)};
}

Outcome<Answer> copy_object(Call& call, std::string_view header) {
  const Address source = TRY(copy_source(header));
  RETURN_IF_ERROR(call.authorize(front::kGetObject, source));
  const objects::ObjectFile file = TRY(told(call.store.get(source.bucket, source.key)));
  const std::string body = TRY(told(file.read(0, file.info().size)));
  objects::NewObject object{.key = call.address.key,
                            .body = body,
                            .content_type = file.info().content_type,
                            .headers = file.info().headers,
                            .modified = call.now};
  if (iequals(call.request.header("x-amz-metadata-directive"), "REPLACE")) {
    object.headers = TRY(kept_headers(call.request));
    object.content_type = call.request.header("content-type");
  }
  const auto info = TRY(told(call.store.put(call.address.bucket, object)));
  std::string xml;
  append_element(xml, "LastModified", format_utc(info.modified));
  append_element(xml, "ETag", etag_of(info.md5));
  return xml_answer("CopyObjectResult", xml);
}

bool names_etag(std::string_view list, std::string_view md5) {
  if (list == "*") return true;
  for (std::string_view one : split(list, ',')) {
    while (one.starts_with(' ')) one.remove_prefix(1);
    if (one.starts_with("W/")) one.remove_prefix(2);
    if (one == etag_of(md5) || one == md5) return true;
  }
  return false;
}

std::vector<std::pair<std::string, std::string>> object_headers(const objects::ObjectInfo& info,
                                                                bool with_checksums) {
  std::vector<std::pair<std::string, std::string>> headers = {
      {"ETag", etag_of(info.md5)},
      {"Last-Modified", http_date(info.modified)},
      {"Accept-Ranges", "bytes"}};
  for (const auto& [name, value] : info.headers) {
    if (with_checksums || !name.starts_with(kChecksumPrefix)) headers.emplace_back(name, value);
  }
  return headers;
}

// Presigned links can override response headers.
void override_headers(const Call& call, Answer& answer) {
  constexpr std::array<std::string_view, 5> kOverrides = {"response-cache-control",
                                                          "response-content-disposition",
                                                          "response-content-encoding",
                                                          "response-content-language",
                                                          "response-expires"};
  const auto usable = [](std::string_view value) {
    return std::ranges::none_of(value, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  };
  if (const auto type = call.parameter("response-content-type"); type && usable(*type)) {
    answer.content_type = *type;
  }
  for (const std::string_view name : kOverrides) {
    const auto value = call.parameter(name);
    if (!value || !usable(*value)) continue;
    const std::string_view header = name.substr(std::string_view("response-").size());
    std::erase_if(answer.headers, [&](const auto& one) { return one.first == header; });
    answer.headers.emplace_back(header, *value);
  }
}

// Fills in the body, or its length alone.
Outcome<void> fill_body(const Call& call, const objects::ObjectFile& file, const ByteRange& range,
                        Answer& answer) {
  if (call.request.method == "HEAD") {
    answer.length = range.bytes;
    return {};
  }
  answer.body = TRY(told(file.read(range.offset, range.bytes)));
  return {};
}

std::string describe(const Refusal& refusal, std::string_view key) {
  std::string xml = "<Error>";
  append_element(xml, "Key", key);
  append_element(xml, "Code", refusal.code);
  append_element(xml, "Message", refusal.message);
  return xml += "</Error>";
}

}  // namespace

std::string etag_of(std::string_view md5) {
  return fmt::format("\"{}\"", md5);
}

Outcome<objects::Pairs> kept_headers(const http::Request& request) {
  objects::Pairs kept;
  std::size_t metadata_bytes = 0;
  for (const auto& header : request.headers) {
    const std::string name = to_lower(header.name);
    std::string value(header.value);
    const bool metadata = name.starts_with(kMetadataPrefix);
    if (metadata) metadata_bytes += name.size() - kMetadataPrefix.size() + value.size();
    if (name == "content-encoding") value = without_chunking(value);
    if (value.empty() && !metadata) continue;
    if (metadata || std::ranges::find(kKeptHeaders, name) != kKeptHeaders.end()) {
      kept.emplace_back(name, std::move(value));
    }
  }
  if (metadata_bytes <= kMetadataBytesMax) return kept;
  return refuse(
      400, "MetadataTooLarge", "Your metadata headers exceed the maximum allowed metadata size.");
}

Outcome<Answer> put_object(Call& call) {
  if (const auto source = call.request.header("x-amz-copy-source"); !source.empty()) {
    return copy_object(call, source);
  }
  const Upload upload = TRY(read_upload(call));
  objects::NewObject object{.key = call.address.key,
                            .body = upload.body(),
                            .content_type = std::string(call.request.header("content-type")),
                            .headers = TRY(kept_headers(call.request)),
                            .modified = call.now,
                            .only_if_absent = call.request.header("if-none-match") == "*"};
  std::ranges::copy(upload.checksums, std::back_inserter(object.headers));
  const auto info = TRY(told(call.store.put(call.address.bucket, object)));
  Answer answer{.headers = {{"ETag", etag_of(info.md5)}}};
  std::ranges::copy(upload.checksums, std::back_inserter(answer.headers));
  return answer;
}

Outcome<Answer> get_object(Call& call) {
  const bool reads = call.request.method != "HEAD";
  if (reads && front::is_always_masked(call.caller) && is_archived_letter(call.address.key)) {
    return refuse(403,
                  "AccessDenied",
                  "An archived message may contain secrets, which the role reader must not see.");
  }
  const objects::ObjectFile file = TRY(told(call.store.get(call.address.bucket, call.address.key)));
  const objects::ObjectInfo& info = file.info();
  const std::string_view wanted = call.request.header("if-match");
  if (!wanted.empty() && !names_etag(wanted, info.md5)) {
    return refuse(412, "PreconditionFailed", "At least one of the preconditions did not hold.");
  }
  const std::string_view known = call.request.header("if-none-match");
  if (!known.empty() && names_etag(known, info.md5)) {
    return Answer{.status = 304, .headers = object_headers(info, false)};
  }
  const RangeChoice choice = choose_range(call.request.header("range"), info.size);
  if (choice.unsatisfiable) {
    Refusal refusal(416, "InvalidRange", "The requested range is not satisfiable");
    refusal.headers.emplace_back("Content-Range", fmt::format("bytes */{}", info.size));
    return std::unexpected(std::move(refusal));
  }
  const bool checked = iequals(call.request.header("x-amz-checksum-mode"), "ENABLED");
  Answer answer{
      .status = choice.partial ? 206 : 200,
      .content_type = info.content_type.empty() ? std::string(kDefaultType) : info.content_type,
      .headers = object_headers(info, checked && !choice.partial)};
  if (choice.partial) {
    answer.headers.emplace_back("Content-Range",
                                fmt::format("bytes {}-{}/{}",
                                            choice.range.offset,
                                            choice.range.offset + choice.range.bytes - 1,
                                            info.size));
  }
  override_headers(call, answer);
  // An HTML object has the origin of the APIs: without the sandbox its scripts could call them on
  // behalf of the user that opens it.
  answer.headers.emplace_back("Content-Security-Policy", "sandbox");
  RETURN_IF_ERROR(fill_body(call, file, choice.range, answer));
  return answer;
}

Outcome<Answer> delete_object(Call& call) {
  RETURN_IF_ERROR(told(call.store.remove(call.address.bucket, call.address.key)));
  return Answer{.status = 204};
}

Outcome<Answer> delete_objects(Call& call) {
  const Upload upload = TRY(read_upload(call));
  const auto root = parse_xml(upload.body());
  if (!root || root->name != "Delete" || root->children.size() > kDeletedMax + 1) {
    return refuse(400, "MalformedXML", "The XML you provided was not well-formed.");
  }
  RETURN_IF_ERROR(told(call.store.bucket(call.address.bucket)));
  const bool quiet = root->text_of("Quiet") == "true";
  std::string xml;
  for (const XmlElement& object : root->children) {
    if (object.name != "Object") continue;
    const std::string key(object.text_of("Key"));
    auto done = call.authorize(kDeleteObject, {.bucket = call.address.bucket, .key = key});
    if (done) done = told(call.store.remove(call.address.bucket, key));
    if (!done) {
      xml += describe(done.error(), key);
    } else if (!quiet) {
      xml += "<Deleted>";
      append_element(xml, "Key", key);
      xml += "</Deleted>";
    }
  }
  return xml_answer("DeleteResult", xml);
}

}  // namespace redrive::s3
