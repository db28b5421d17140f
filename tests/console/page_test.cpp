#include "console/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "console/assets.h"

namespace redrive::console {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Sent {
  std::string_view method = "GET";
  std::string_view path = "/console/";
  std::string_view query = {};
  std::vector<http::Header> headers = {};
};

http::Request request_of(const Sent& sent) {
  http::Request request;
  request.method = sent.method;
  request.path = sent.path;
  request.query = sent.query;
  request.headers = sent.headers;
  return request;
}

http::Answer ask(const Sent& sent) {
  return answer(request_of(sent));
}
bool is_for_console(const Sent& sent) {
  return is_console_request(request_of(sent));
}

std::string header_of(const http::Answer& answer, std::string_view name) {
  const auto found =
      std::ranges::find(answer.headers, name, &std::pair<std::string, std::string>::first);
  return found == answer.headers.end() ? "" : found->second;
}

std::string_view script_path() {
  const auto all = assets();
  const auto found = std::ranges::find_if(all, [](const Asset& asset) {
    return asset.path.starts_with("/console/assets/app-") && asset.path.ends_with(".js");
  });
  return found == all.end() ? std::string_view() : found->path;
}

TEST(Console, HasAllFilesByPath) {
  EXPECT_TRUE(std::ranges::is_sorted(assets(), {}, &Asset::path));
  EXPECT_FALSE(script_path().empty());
  for (const Asset& asset : assets()) {
    SCOPED_TRACE(asset.path);
    EXPECT_THAT(asset.gzip, StartsWith("\x1f\x8b"));
    EXPECT_THAT(asset.etag, StartsWith("\""));
    EXPECT_FALSE(asset.content_type.empty());
    EXPECT_EQ(&asset_for(asset.path), &asset);
  }
}

// A view's address is opened by a link or a reload as well as from the page.
TEST(Console, AnswersEveryViewWithThePage) {
  for (const char* path : {"/console/",
                           "/console/queues/orders/groups/5f0c",
                           "/console/_parts",
                           "/console/%E2%82%AC"}) {
    const auto page = ask({.path = path});
    EXPECT_EQ(page.status, 200) << path;
    EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
    EXPECT_EQ(header_of(page, "Cache-Control"), "no-cache");
    EXPECT_EQ(header_of(page, "Content-Encoding"), "gzip");
  }
}

TEST(Console, LetsBrowsersKeepWhatCannotChange) {
  const auto script = ask({.path = script_path()});
  EXPECT_EQ(script.content_type, "text/javascript; charset=utf-8");
  EXPECT_EQ(header_of(script, "Cache-Control"), "public, max-age=31536000, immutable");
}

TEST(Console, AnswersAKnownFileWithoutABody) {
  const std::string etag = header_of(ask({}), "ETag");
  const auto known = ask({.headers = {{"If-None-Match", etag}}});
  EXPECT_EQ(known.status, 304);
  EXPECT_EQ(known.body, "");
  EXPECT_EQ(header_of(known, "ETag"), etag);
  EXPECT_EQ(ask({.headers = {{"If-None-Match", "\"other\""}}}).status, 200);
}

TEST(Console, SaysHowLongTheBodyOfAHeadWouldBe) {
  const auto page = ask({});
  const auto head = ask({.method = "HEAD"});
  EXPECT_EQ(head.body, "");
  EXPECT_EQ(head.length, page.body.size());
}

TEST(Console, ForbidsEverythingThatThePageDoesNotNeed) {
  for (const auto& answer : {ask({}),
                             ask({.path = script_path()}),
                             ask({.method = "POST"}),
                             ask({.path = "/console"})}) {
    const std::string policy = header_of(answer, "Content-Security-Policy");
    EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
    EXPECT_THAT(policy, HasSubstr("frame-ancestors 'none'"));
    EXPECT_THAT(policy, HasSubstr("trusted-types 'none'"));
    EXPECT_EQ(header_of(answer, "Referrer-Policy"), "no-referrer");
    EXPECT_EQ(header_of(answer, "Cross-Origin-Opener-Policy"), "same-origin");
    EXPECT_EQ(header_of(answer, "Cross-Origin-Resource-Policy"), "same-origin");
  }
}

TEST(Console, SendsBrowsersThatOpenTheRootToThePage) {
  const http::Header html{"Accept", "text/html,application/xhtml+xml"};
  EXPECT_TRUE(is_for_console({.path = "/", .headers = {html}}));
  EXPECT_EQ(header_of(ask({.path = "/", .headers = {html}}), "Location"), "/console/");
  EXPECT_EQ(header_of(ask({.path = "/console"}), "Location"), "/console/");
  EXPECT_FALSE(is_for_console({.path = "/"}));
  EXPECT_FALSE(is_for_console({.path = "/", .headers = {{"Accept", "*/*"}}}));
  EXPECT_FALSE(is_for_console({.method = "POST", .path = "/", .headers = {html}}));
  EXPECT_FALSE(is_for_console({.path = "/", .headers = {html, {"x-amz-content-sha256", "x"}}}));
}

TEST(Console, LeavesSignedRequestsToS3) {
  EXPECT_TRUE(is_for_console({}));
  EXPECT_TRUE(is_for_console({.path = "/console"}));
  EXPECT_FALSE(is_for_console({.path = "/console-logs/2026"}));
  EXPECT_FALSE(is_for_console({.headers = {{"Authorization", "AWS4-HMAC-SHA256 Credential=…"}}}));
  EXPECT_FALSE(is_for_console({.query = "X-Amz-Signature=0"}));
}

TEST(Console, RefusesToBeWrittenTo) {
  const auto refused = ask({.method = "PUT", .path = "/console/x"});
  EXPECT_EQ(refused.status, 405);
  EXPECT_EQ(header_of(refused, "Allow"), "GET, HEAD");
}

}  // namespace
}  // namespace redrive::console
