#include "front/action_table.h"

#include <iterator>

#include "base/text.h"

namespace redrive::front {
namespace {

constexpr std::size_t kQuotedNameBytesMax = 64;

struct JsonErrorRow {
  ErrorCode code;
  int status;
  std::string_view name;
};
constexpr JsonErrorRow kJsonErrors[] = {
    {ErrorCode::invalid_parameter_value, 400, "ValidationException"},
    {ErrorCode::missing_parameter, 400, "ValidationException"},
    {ErrorCode::malformed_request, 400, "SerializationException"},
    {ErrorCode::request_too_large, 413, "RequestEntityTooLarge"},
    {ErrorCode::unknown_operation, 400, "UnknownOperationException"},
    {ErrorCode::access_denied, 400, "AccessDeniedException"},
    {ErrorCode::missing_authentication_token, 400, "MissingAuthenticationTokenException"},
    {ErrorCode::incomplete_signature, 400, "IncompleteSignatureException"},
    {ErrorCode::invalid_client_token_id, 400, "UnrecognizedClientException"},
    {ErrorCode::signature_does_not_match, 400, "InvalidSignatureException"},
    {ErrorCode::request_throttled, 400, "ThrottlingException"},
    {ErrorCode::service_unavailable, 503, "ServiceUnavailableException"},
    {ErrorCode::storage_full, 503, "ServiceUnavailableException"},
};

constexpr std::string_view kRpcPrefix = "/service/";

bool is_rpc(const http::Request& request) {
  return request.path.starts_with(kRpcPrefix) || !request.header("smithy-protocol").empty();
}

// A request with a target speaks JSON. Without one it speaks Query, if the service does.
bool is_query(const TableTraits& traits, const http::Request& request) {
  return !traits.xml_namespace.empty() && !is_rpc(request) &&
         (traits.target_prefix.empty() || request.header("x-amz-target").empty());
}

void append(std::string& out, std::string_view before, std::string_view name,
            std::string_view after) {
  out.append(before).append(name).append(after);
}

void append_error_xml(std::string& out, const TableTraits& traits, const RequestContext& context,
                      const Refusal& refusal) {
  append(out, "<ErrorResponse xmlns=\"", traits.xml_namespace, "\"><Error><Type>");
  append(out, refusal.status < 500 ? "Sender" : "Receiver", "</Type><Code>", refusal.code);
  out += "</Code><Message>";
  wire::append_xml_text(out, refusal.message);
  append(out, "</Message></Error><RequestId>", context.id, "</RequestId></ErrorResponse>");
}

void append_error_json(std::string& out, const Refusal& refusal) {
  out += "{\"__type\":";
  wire::append_json_text(out, refusal.code);
  out += ",\"message\":";
  wire::append_json_text(out, refusal.message);
  out += '}';
}

http::Answer encode_refusal(const TableTraits& traits, const RequestContext& context,
                            const Refusal& refusal) {
  const bool query = is_query(traits, context.request);
  http::Answer answer{.status = refusal.status,
                      .content_type = std::string(query ? "text/xml" : traits.json_type),
                      .headers = refusal.headers};
  query ? append_error_xml(answer.body, traits, context, refusal)
        : append_error_json(answer.body, refusal);
  return answer;
}

}  // namespace

Refusal json_refusal_of(const Error& error) {
  for (const JsonErrorRow& row : kJsonErrors) {
    if (row.code == error.code) return {row.status, row.name, error.message};
  }
  return {500, "InternalServerError", error.message};
}

Outcome<void> check_protocol(const http::Request& request) {
  if (!is_rpc(request)) return {};
  return refuse(415,
                "UnsupportedProtocol",
                "CBOR is not spoken here: use AWS JSON 1.0 or the Query protocol.");
}

std::string action_name(const TableTraits& traits, const http::Request& request) {
  if (!is_query(traits, request)) {
    std::string_view target = request.header("x-amz-target");
    if (target.starts_with(traits.target_prefix)) target.remove_prefix(traits.target_prefix.size());
    return std::string(target);  // A target of another service names no action here.
  }
  wire::Decoder decoder;
  return std::string(
      wire::find_query_parameter(decoder, request.query, request.body, "Action").value_or(""));
}

std::unexpected<Refusal> unknown_action(const TableTraits& traits, std::string_view name) {
  if (name.empty()) return refuse(400, "MissingAction", "The request names no action.");
  return std::unexpected(
      Refusal(Error{ErrorCode::unknown_operation,
                    fmt::format("Could not find operation {}: Redrive implements a subset of {}.",
                                utf8_prefix(name, kQuotedNameBytesMax),
                                traits.title.empty() ? traits.name : traits.title)}));
}

ApiTraits api_traits(const TableTraits& traits, std::vector<std::string_view> actions) {
  return {.name = traits.name,
          .scope = traits.scope,
          .actions = std::move(actions),
          .refusal_of = traits.refusal_of,
          .encode =
              [&traits](const RequestContext& context, const Refusal& refusal) {
                return encode_refusal(traits, context, refusal);
              },
          .routes_first = traits.routes_first};
}

Result<void> ActionBody::decode(const wire::Record& record, void* input) {
  const http::Request& request = context_.request;
  return is_query(traits_, request)
             ? wire::decode_query(decoder_, request.query, request.body, record, input)
             : wire::decode_json(
                   decoder_, request.padded_body(), record, input, traits_.unknown_members);
}

void ActionBody::encode(const wire::Record* record, const void* output) {
  if (!is_query(traits_, context_.request)) {
    if (record == nullptr) {
      out_ = "{}";
    } else {
      wire::encode_json(out_, *record, output);
    }
    return;
  }
  const auto out = std::back_inserter(out_);
  fmt::format_to(out, "<{}Response xmlns=\"{}\">", action_, traits_.xml_namespace);
  if (record != nullptr) {
    fmt::format_to(out, "<{}Result>", action_);
    wire::encode_xml(out_, *record, output);
    fmt::format_to(std::back_inserter(out_), "</{}Result>", action_);
  }
  fmt::format_to(std::back_inserter(out_),
                 "<ResponseMetadata><RequestId>{}</RequestId></ResponseMetadata></{}Response>",
                 context_.id,
                 action_);
}

http::Answer ActionBody::answer() && {
  const bool query = is_query(traits_, context_.request);
  return {.content_type = std::string(query ? "text/xml" : traits_.json_type),
          .body = std::move(out_)};
}

}  // namespace redrive::front
