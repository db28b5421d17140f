#include <fmt/format.h>

#include "aws/s3/call.h"
#include "base/calendar.h"
#include "base/result.h"
#include "base/text.h"

// ListObjects, both versions: they differ in how a page is continued.
namespace redrive::s3 {
namespace {

constexpr std::size_t kPageMax = 1000;

struct ListOptions {
  bool second_version = false;
  bool encoded = false;  // Keys travel with escapes, since XML cannot carry every character.
  bool with_owner = false;
  std::string after;
  std::size_t count_max = kPageMax;
};

std::unexpected<Refusal> invalid(std::string_view argument) {
  return refuse(400, "InvalidArgument", fmt::format("The argument {} is not valid.", argument));
}

Outcome<ListOptions> list_options(const Call& call) {
  ListOptions options;
  options.second_version = call.parameter_or_empty("list-type") == "2";
  options.with_owner = !options.second_version || call.parameter_or_empty("fetch-owner") == "true";
  const std::string_view encoding = call.parameter_or_empty("encoding-type");
  if (!encoding.empty() && encoding != "url") return invalid("encoding-type");
  options.encoded = encoding == "url";
  if (const auto text = call.parameter("max-keys"); text && !text->empty()) {
    const auto count = parse_int<std::size_t>(*text);
    if (!count) return invalid("max-keys");
    options.count_max = std::min(*count, kPageMax);
  }
  options.after = call.parameter_or_empty(options.second_version ? "start-after" : "marker");
  if (!options.second_version) return options;
  if (const auto token = call.parameter("continuation-token")) {
    const auto decoded = base64_decode(*token);
    if (!decoded) return invalid("continuation-token");
    options.after = *decoded;
  }
  return options;
}

class ListXml {
 public:
  ListXml(const Call& call, const ListOptions& options) : call_(call), options_(options) {}

  Answer render(const objects::Listing& listing) {
    text("Name", call_.address.bucket);
    named("Prefix", call_.parameter_or_empty("prefix"));
    if (call_.parameter("delimiter")) named("Delimiter", call_.parameter_or_empty("delimiter"));
    text("MaxKeys", std::to_string(options_.count_max));
    if (options_.encoded) text("EncodingType", "url");
    text("IsTruncated", listing.next.empty() ? "false" : "true");
    options_.second_version ? continue_second(listing) : continue_first(listing);
    for (const auto& object : listing.objects) append_object(object);
    for (const std::string& prefix : listing.prefixes) {
      xml_ += "<CommonPrefixes>";
      named("Prefix", prefix);
      xml_ += "</CommonPrefixes>";
    }
    return xml_answer("ListBucketResult", xml_);
  }

 private:
  void text(std::string_view name, std::string_view value) { append_element(xml_, name, value); }
  void named(std::string_view name, std::string_view value) {
    text(name, options_.encoded ? percent_encode(value, true) : std::string(value));
  }

  void continue_first(const objects::Listing& listing) {
    named("Marker", call_.parameter_or_empty("marker"));
    if (!listing.next.empty()) named("NextMarker", listing.next);
  }
  void continue_second(const objects::Listing& listing) {
    text("KeyCount", std::to_string(listing.objects.size() + listing.prefixes.size()));
    if (const auto after = call_.parameter("start-after")) named("StartAfter", *after);
    if (const auto token = call_.parameter("continuation-token")) text("ContinuationToken", *token);
    if (!listing.next.empty()) text("NextContinuationToken", base64_encode(listing.next));
  }

  void append_object(const objects::ObjectInfo& object) {
    xml_ += "<Contents>";
    named("Key", object.key);
    text("LastModified", format_utc(object.modified));
    text("ETag", fmt::format("\"{}\"", object.md5));
    text("Size", std::to_string(object.size));
    if (options_.with_owner) {
      xml_ += "<Owner>";
      text("ID", call_.caller.account);
      text("DisplayName", call_.caller.account);
      xml_ += "</Owner>";
    }
    xml_ += "<StorageClass>STANDARD</StorageClass></Contents>";
  }

  const Call& call_;
  const ListOptions& options_;
  std::string xml_;
};

}  // namespace

Outcome<Answer> list_objects(Call& call) {
  const ListOptions options = TRY(list_options(call));
  const objects::Listing listing =
      TRY(told(call.store.list(call.address.bucket,
                               {.prefix = call.parameter_or_empty("prefix"),
                                .delimiter = call.parameter_or_empty("delimiter"),
                                .after = options.after,
                                .count_max = options.count_max})));
  return ListXml(call, options).render(listing);
}

}  // namespace redrive::s3
