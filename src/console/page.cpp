#include "console/page.h"

#include "console/assets.h"

namespace redrive::console {
namespace {

constexpr std::string_view kRoot = "/console";

// Scripts, styles and requests of this origin only; no inline script or style, no HTML from texts
// (Trusted Types), no frame around the page.
constexpr std::string_view kContentSecurityPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for "
    "'script'; "
    "trusted-types 'none'";

std::vector<std::pair<std::string, std::string>> common_headers() {
  return {{"Content-Security-Policy", std::string(kContentSecurityPolicy)},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Opener-Policy", "same-origin"},
          {"Cross-Origin-Resource-Policy", "same-origin"}};
}

bool is_read(const http::Request& request) {
  return request.method == "GET" || request.method == "HEAD";
}

bool is_below_root(std::string_view path) {
  return path.starts_with(kRoot) && (path.size() == kRoot.size() || path[kRoot.size()] == '/');
}

bool is_signed(const http::Request& request) {
  return !request.header("authorization").empty() ||
         !request.header("x-amz-content-sha256").empty() ||
         request.query.find("X-Amz-") != std::string_view::npos ||
         request.query.find("AWSAccessKeyId=") != std::string_view::npos;
}

// A browser that opens the server's address. Clients of S3 list buckets there, without asking for a
// page.
bool opens_root(const http::Request& request) {
  return is_read(request) && request.path == "/" && request.query.empty() &&
         request.header("accept").find("text/html") != std::string_view::npos;
}

// Whether If-None-Match names the file that the client would get.
bool is_known(std::string_view if_none_match, std::string_view etag) {
  return if_none_match == "*" || if_none_match.find(etag) != std::string_view::npos;
}

http::Answer redirect() {
  http::Answer answer{.status = 302, .headers = common_headers()};
  answer.headers.emplace_back("Location", "/console/");
  answer.headers.emplace_back("Vary", "Accept");
  return answer;
}

http::Answer not_allowed() {
  http::Answer answer{.status = 405,
                      .content_type = "text/plain; charset=utf-8",
                      .headers = common_headers(),
                      .body = "The console is read with GET and HEAD.\n"};
  answer.headers.emplace_back("Allow", "GET, HEAD");
  return answer;
}

}  // namespace

bool is_console_request(const http::Request& request) {
  if (is_below_root(request.path)) return !is_signed(request);
  return opens_root(request) && !is_signed(request);
}

http::Answer answer(const http::Request& request) {
  if (!is_read(request)) return not_allowed();
  if (request.path == "/" || request.path == kRoot) return redirect();
  const Asset& asset = asset_for(request.path);
  http::Answer answer{.headers = common_headers()};
  answer.headers.emplace_back("ETag", asset.etag);
  answer.headers.emplace_back("Cache-Control",
                              asset.hashed ? "public, max-age=31536000, immutable" : "no-cache");
  if (is_known(request.header("if-none-match"), asset.etag)) {
    answer.status = 304;
    return answer;
  }
  answer.content_type = asset.content_type;
  answer.headers.emplace_back("Content-Encoding", "gzip");
  if (request.method == "HEAD") {
    answer.length = asset.gzip.size();
  } else {
    answer.body = asset.gzip;
  }
  return answer;
}

void handle(http::Exchange& exchange) {
  const http::Request& request = exchange.request();
  http::append_answer(exchange.out(), answer(request), {}, request.keep_alive);
  exchange.reply(0);
}

}  // namespace redrive::console
