#include "cli/client/rest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "cli/client/service.h"

namespace redrive::cli {
namespace {

struct RefusedAnswer {
  std::string code;
  std::string message;
};

// Lambda has the error code in a header, the others in XML.
RefusedAnswer refused_answer(const http::ClientResponse& response) {
  const std::string_view type = response.header("x-amzn-errortype");
  if (!type.empty()) {
    const auto body = stack::read_json(response.body);
    const std::string message = !body                  ? ""
                                : body->has("Message") ? (*body)["Message"].scalar()
                                                       : (*body)["message"].scalar();
    return {std::string(type.substr(0, type.find(':'))), message};
  }
  const auto root = parse_xml(response.body);
  if (!root) return {};
  const XmlElement* const error = root->name == "Error" ? &*root : root->find("Error");
  if (error == nullptr) return {};
  return {std::string(error->text_of("Code")), std::string(error->text_of("Message"))};
}

Failure failure_of_rest(const http::ClientResponse& response) {
  RefusedAnswer told = refused_answer(response);
  if (told.code.empty()) told.code = fmt::format("HTTP {}", response.status);
  if (told.message.empty()) told.message = "the server gave no reason";
  return {.kind = response.status >= 500 && response.status != 501 ? Failure::Kind::busy
                                                                   : Failure::Kind::refused,
          .code = std::move(told.code),
          .message = std::move(told.message)};
}

void append_query(std::string& out, const std::string& name, const stack::Node& value) {
  if (value.is_map()) {
    for (const auto& [key, item] : value.members()) append_query(out, name + "." + key, item);
  } else if (value.is_list()) {
    std::size_t number = 0;
    for (const stack::Node& item : value.items()) {
      append_query(out, fmt::format("{}.member.{}", name, ++number), item);
    }
  } else {
    out.append("&").append(name).append("=").append(percent_encode(value.scalar(), false));
  }
}

}  // namespace

bool says_not_found(const Failure& failure) {
  constexpr std::array<std::string_view, 6> kCodes = {"ResourceNotFoundException",
                                                      "HTTP 404",
                                                      "NoSuchTagSet",
                                                      "NoSuchBucket",
                                                      "NoSuchKey",
                                                      "NoSuchEntity"};
  return std::ranges::find(kCodes, failure.code) != kCodes.end();
}

bool says_no_such_service(const Failure& failure) {
  constexpr std::array<std::string_view, 5> kCodes = {"unreadable response",
                                                      "InvalidAction",
                                                      "NotImplemented",
                                                      "UnknownOperationException",
                                                      "HTTP 405"};
  return says_not_found(failure) || std::ranges::find(kCodes, failure.code) != kCodes.end();
}

Answer<std::string> RestClient::send(Request request) {
  std::string_view base = endpoint_.path;
  while (base.ends_with('/')) base.remove_suffix(1);
  const std::string target = fmt::format("{}{}", base, request.path);
  http::ClientRequest composed{.method = std::move(request.method),
                               .url = endpoint_.url_of(target),
                               .headers = {{"Host", endpoint_.host}},
                               .body = std::move(request.body),
                               .ca_bundle = endpoint_.ca_bundle,
                               .verify_tls = endpoint_.verify_tls};
  if (!request.content_type.empty()) {
    composed.headers.emplace_back("Content-Type", request.content_type);
  }
  if (endpoint_.credentials) {
    add_signature(composed, endpoint_, target, request.service, clock_.wall());
  }
  auto response = transport_->send(composed);
  if (!response) {
    return std::unexpected(Failure{
        .kind = Failure::Kind::network, .code = "network", .message = response.error().message});
  }
  if (response->status / 100 != 2) return std::unexpected(failure_of_rest(*response));
  return std::move(response->body);
}

Answer<stack::Node> RestClient::lambda(std::string method, std::string path,
                                       const stack::Node& body) {
  const std::string text = TRY(send({.method = std::move(method),
                                     .path = std::move(path),
                                     .service = "lambda",
                                     .content_type = "application/json",
                                     .body = body.is_null() ? "" : body.json()}));
  if (text.empty()) return stack::Node();
  auto answer = stack::read_json(text);
  if (answer) return *std::move(answer);
  // A server without functions treats the path as an object or a page.
  return std::unexpected(Failure{.kind = Failure::Kind::refused,
                                 .code = "unreadable response",
                                 .message = "the server does not seem to support the Lambda API"});
}

Answer<std::string> RestClient::s3(std::string method, std::string path, std::string body) {
  const bool has_body = !body.empty();
  return send({.method = std::move(method),
               .path = std::move(path),
               .service = "s3",
               .content_type = has_body ? "application/xml" : "",
               .body = std::move(body)});
}

Answer<XmlElement> RestClient::query(std::string_view service, std::string_view version,
                                     std::string_view action, const stack::Node& members) {
  std::string form = fmt::format("Action={}&Version={}", action, version);
  for (const auto& [name, value] : members.members()) append_query(form, name, value);
  const std::string text = TRY(send({.method = "POST",
                                     .path = "/",
                                     .service = std::string(service),
                                     .content_type = "application/x-www-form-urlencoded",
                                     .body = std::move(form)}));
  auto root = parse_xml(text);
  if (root) return *std::move(root);
  return std::unexpected(Failure{.kind = Failure::Kind::refused,
                                 .code = "unreadable response",
                                 .message = "the server responds in another protocol"});
}

}  // namespace redrive::cli
