#include "net/http/parser.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/net/http/parse_pieces.h"

namespace redrive::http {
namespace {

using namespace std::string_literals;

// Small, so that a table row can reach each limit.
const Limits kLimits{
    .target_bytes_max = 64, .head_bytes_max = 512, .headers_max = 6, .body_bytes_max = 100};

std::string repeated(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

// Whole, one byte at a time, and split in two at every position.
void expect_same_for_all_cuts(const std::string& bytes) {
  const std::string_view view = bytes;
  const ParseOutcome whole = parse_pieces({view}, kLimits);
  std::vector<std::string_view> singles;
  for (std::size_t i = 0; i < view.size(); ++i) {
    singles.push_back(view.substr(i, 1));
    EXPECT_EQ(parse_pieces({view.substr(0, i), view.substr(i)}, kLimits), whole) << "cut at " << i;
  }
  EXPECT_EQ(parse_pieces(singles, kLimits), whole) << "byte by byte";
}

struct ServedCase {
  const char* name;
  std::string bytes;
  std::vector<ParsedRequest> requests;
};

const ServedCase kServed[] = {
    {"get",
     "GET /a/b?c=d&e=?f HTTP/1.1\r\nHost: h\r\n\r\n",
     {{.method = "GET",
       .target = "/a/b?c=d&e=?f",
       .path = "/a/b",
       .query = "c=d&e=?f",
       .headers = {{"Host", "h"}},
       .keep_alive = true}}},
    {"values are trimmed, names kept as sent",
     "GET / HTTP/1.1\r\nhOsT:\t h\t \r\nX-Empty:\r\nX-In:  a \t b  \r\nX-High: \xc3\xa9\r\n\r\n",
     {{.method = "GET",
       .target = "/",
       .path = "/",
       .headers = {{"hOsT", "h"}, {"X-Empty", ""}, {"X-In", "a \t b"}, {"X-High", "\xc3\xa9"}},
       .keep_alive = true}}},
    {"names may hold every character of a token, in whatever place",
     "GET / HTTP/1.1\r\nHost: h\r\nA_name!of#twenty$and'more*+.^`|~-0: v\r\n_: w\r\n\r\n",
     {{.method = "GET",
       .target = "/",
       .path = "/",
       .headers = {{"Host", "h"}, {"A_name!of#twenty$and'more*+.^`|~-0", "v"}, {"_", "w"}},
       .keep_alive = true}}},
    {"content length",
     "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello",
     {{.method = "POST",
       .target = "/",
       .path = "/",
       .body = "hello",
       .headers = {{"Host", "h"}, {"Content-Length", "5"}},
       .keep_alive = true}}},
    {"content length with zeros in front",
     "POST / HTTP/1.1\r\nHost: h\r\ncontent-length: 0000000000000000000000002\r\n\r\nhi",
     {{.method = "POST",
       .target = "/",
       .path = "/",
       .body = "hi",
       .headers = {{"Host", "h"}, {"content-length", "0000000000000000000000002"}},
       .keep_alive = true}}},
    {"chunked, with extensions and trailers",
     "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n"
     "5\r\nhello\r\n0006;sig=\"x y\";z\r\n world\r\n00\r\nX-Sum: 1\r\nY: 2\r\n\r\n",
     {{.method = "POST",
       .target = "/",
       .path = "/",
       .body = "hello world",
       .headers = {{"Host", "h"}, {"Transfer-Encoding", "Chunked"}},
       .keep_alive = true}}},
    {"pipelined, the second behind a chunked body",
     "POST /1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
     "POST /2 HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx"
     "GET /3 HTTP/1.1\r\nHost: h\r\n\r\n",
     {{.method = "POST",
       .target = "/1",
       .path = "/1",
       .body = "abc",
       .headers = {{"Host", "h"}, {"Transfer-Encoding", "chunked"}},
       .keep_alive = true},
      {.method = "POST",
       .target = "/2",
       .path = "/2",
       .body = "x",
       .headers = {{"Host", "h"}, {"Content-Length", "1"}},
       .keep_alive = true},
      {.method = "GET",
       .target = "/3",
       .path = "/3",
       .headers = {{"Host", "h"}},
       .keep_alive = true}}},
    {"absolute form",
     "GET http://example.com:80/p?q HTTP/1.1\r\nHost: h\r\n\r\n"
     "GET HTTPS://example.com?q HTTP/1.1\r\nHost: h\r\n\r\n",
     {{.method = "GET",
       .target = "http://example.com:80/p?q",
       .path = "/p",
       .query = "q",
       .headers = {{"Host", "h"}},
       .keep_alive = true},
      {.method = "GET",
       .target = "HTTPS://example.com?q",
       .path = "/",
       .query = "q",
       .headers = {{"Host", "h"}},
       .keep_alive = true}}},
    {"asterisk form",
     "OPTIONS * HTTP/1.1\r\nHost:\r\n\r\n",
     {{.method = "OPTIONS",
       .target = "*",
       .path = "*",
       .headers = {{"Host", ""}},
       .keep_alive = true}}},
    {"an empty line before the request",
     "\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
     {{.method = "GET",
       .target = "/",
       .path = "/",
       .headers = {{"Host", "h"}},
       .keep_alive = true}}},
    {"connection: close among others",
     "GET / HTTP/1.1\r\nHost: h\r\nConnection: x, Close ,y\r\n\r\n",
     {{.method = "GET",
       .target = "/",
       .path = "/",
       .headers = {{"Host", "h"}, {"Connection", "x, Close ,y"}}}}},
    {"HTTP/1.0 closes",
     "GET / HTTP/1.0\r\n\r\n",
     {{.method = "GET", .target = "/", .path = "/", .http_1_0 = true}}},
    {"HTTP/1.0 that keeps alive",
     "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n",
     {{.method = "GET",
       .target = "/",
       .path = "/",
       .headers = {{"Connection", "Keep-Alive"}},
       .keep_alive = true,
       .http_1_0 = true}}},
    {"incomplete", "GET / HTTP/1.1\r\nHost: h\r\n\r", {}},
};

TEST(Parser, ServesWhatIsWellFormedHoweverItIsCut) {
  for (const ServedCase& served : kServed) {
    SCOPED_TRACE(served.name);
    const ParseOutcome outcome = parse_pieces({served.bytes}, kLimits);
    EXPECT_EQ(outcome.refused_with, 0) << outcome.reason;
    EXPECT_EQ(outcome.requests, served.requests);
    expect_same_for_all_cuts(served.bytes);
  }
}

struct RefusedCase {
  const char* name;
  std::string bytes;
  int status;
};

std::string get_with(const std::string& headers) {
  return "GET / HTTP/1.1\r\nHost: h\r\n" + headers + "\r\n\r\n";
}
std::string post_chunks(const std::string& chunks) {
  return "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks;
}

const RefusedCase kRefused[] = {
    {"two lengths", get_with("Content-Length: 1\r\nContent-Length: 1"), 400},
    {"list of lengths", get_with("Content-Length: 1, 1"), 400},
    {"signed length", get_with("Content-Length: +1"), 400},
    {"negative length", get_with("Content-Length: -1"), 400},
    {"hexadecimal length", get_with("Content-Length: 0x1"), 400},
    {"empty length", get_with("Content-Length:"), 400},
    {"length and coding", get_with("Content-Length: 1\r\nTransfer-Encoding: chunked"), 400},
    {"coding and length", get_with("Transfer-Encoding: gzip\r\nContent-Length: 1"), 400},
    {"two codings", get_with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"), 400},
    {"empty coding", get_with("Transfer-Encoding:"), 400},
    {"coding in 1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
    {"unknown coding", get_with("Transfer-Encoding: gzip"), 400},
    {"coding below chunked", get_with("Transfer-Encoding: gzip, chunked"), 400},
    {"coding above chunked", get_with("Transfer-Encoding: chunked, gzip"), 400},
    {"chunked twice", get_with("Transfer-Encoding: chunked, chunked"), 400},
    {"identity coding", get_with("Transfer-Encoding: identity"), 400},
    {"coding with a prefix", get_with("Transfer-Encoding: xchunked"), 400},
    {"coding in quotes", get_with("Transfer-Encoding: \"chunked\""), 400},
    {"coding with a vertical tab", get_with("Transfer-Encoding: \vchunked"), 400},
    {"different lengths", get_with("Content-Length: 1\r\nContent-Length: 2"), 400},
    {"space within a length", get_with("Content-Length: 1 1"), 400},
    {"fractional length", get_with("Content-Length: 1.0"), 400},
    {"space before the length's colon", get_with("Content-Length : 1"), 400},
    {"host with a space", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400},
    {"list of hosts", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", 400},
    {"host with a path", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400},
    {"host with a user", "GET / HTTP/1.1\r\nHost: u@h\r\n\r\n", 400},
    {"user in an absolute target", "GET http://u@h/ HTTP/1.1\r\nHost: h\r\n\r\n", 400},
    {"absolute target without a host", "GET http:///p HTTP/1.1\r\nHost: h\r\n\r\n", 400},
    {"no host", "GET / HTTP/1.1\r\nAccept: x\r\n\r\n", 400},
    {"two hosts", get_with("Host: i"), 400},
    {"unknown expectation", get_with("Expect: miracles"), 417},
    {"bare LF after the request line", "GET / HTTP/1.1\nHost: h\r\n\r\n", 400},
    {"bare LF after a header", "GET / HTTP/1.1\r\nHost: h\nA: b\r\n\r\n", 400},
    {"bare LF as the empty line", "GET / HTTP/1.1\r\nHost: h\r\n\n", 400},
    {"bare CR in a value", get_with("A: b\rc"), 400},
    {"bare CR as a line", "GET / HTTP/1.1\r\nHost: h\r\n\rA: b\r\n\r\n", 400},
    {"folded line", get_with("A: b\r\n c"), 400},
    {"folded line with a tab", get_with("A: b\r\n\tc"), 400},
    {"space before the colon", get_with("A : b"), 400},
    {"no colon", get_with("A"), 400},
    {"empty name", get_with(": b"), 400},
    {"name that is no token", get_with("A(b): c"), 400},
    {"long name that is no token", get_with("A-name-of-twenty-one_@: c"), 400},
    {"name beyond ASCII", get_with("A-name-of-n\xc3\xb6rds: c"), 400},
    {"NUL in a value", get_with("A: b\0c"s), 400},
    {"NUL in a name", get_with("A\0: c"s), 400},
    {"control byte in a value", get_with("A: \x01"), 400},
    {"DEL in a value", get_with("A: \x7f"), 400},
    {"method that is no token", "GE(T / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
    {"no method", " / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
    {"endless method", std::string(33, 'G'), 400},
    {"two empty lines in front", "\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
    {"no target", "GET  HTTP/1.1\r\nHost: h\r\n\r\n", 400},
    {"two spaces before the version", "GET /  HTTP/1.1\r\nHost: h\r\n\r\n", 400},
    {"HTTP/0.9", "GET /\r\n", 400},
    {"tab in the request line", "GET\t/ HTTP/1.1\r\nHost: h\r\n\r\n", 400},
    {"high byte in the target", "GET /\xc3\xa9 HTTP/1.1\r\nHost: h\r\n\r\n", 400},
    {"fragment in the target", "GET /a#b HTTP/1.1\r\nHost: h\r\n\r\n", 400},
    {"target without slash", "GET a HTTP/1.1\r\nHost: h\r\n\r\n", 400},
    {"authority form", "CONNECT h:80 HTTP/1.1\r\nHost: h\r\n\r\n", 400},
    {"other scheme", "GET ftp://h/ HTTP/1.1\r\nHost: h\r\n\r\n", 400},
    {"lower-case version", "GET / http/1.1\r\nHost: h\r\n\r\n", 400},
    {"long version", "GET / HTTP/1.10\r\nHost: h\r\n\r\n", 400},
    {"HTTP/2", "PRI * HTTP/2.0\r\n\r\n", 505},
    {"HTTP/1.2", "GET / HTTP/1.2\r\nHost: h\r\n\r\n", 505},
    {"long target", "GET /" + std::string(64, 'a'), 414},
    {"long head", get_with("A: " + std::string(512, 'b')), 431},
    {"many headers", get_with("A: 1\r\nA: 2\r\nA: 3\r\nA: 4\r\nA: 5\r\nA: 6"), 431},
    {"large body", get_with("Content-Length: 101"), 413},
    {"body beyond numbers", get_with("Content-Length: 99999999999999999999999"), 413},
    {"chunk without size", post_chunks("\r\n"), 400},
    {"chunk size that is no number", post_chunks("x\r\n"), 400},
    {"chunk size with a prefix", post_chunks("0x5\r\nhello\r\n"), 400},
    {"chunk size with a space", post_chunks("5 \r\nhello\r\n"), 400},
    {"chunk size too long", post_chunks("0000000000000005\r\n"), 400},
    {"chunk line with bare LF", post_chunks("5\nhello\r\n"), 400},
    {"chunk extension with bare CR", post_chunks("5;a\rb\r\nhello\r\n"), 400},
    {"endless chunk extension", post_chunks("5;" + std::string(1100, 'x')), 400},
    {"chunk longer than its size", post_chunks("5\r\nhellos\r\n"), 400},
    {"chunk ended by bare LF", post_chunks("5\r\nhello\n0\r\n\r\n"), 400},
    {"chunks too large in sum", post_chunks("32\r\n" + std::string(50, 'a') + "\r\n33\r\n"), 413},
    {"malformed trailer", post_chunks("0\r\nA b\r\n\r\n"), 400},
    {"endless trailers", post_chunks("0\r\nA: " + std::string(600, 'b')), 431},
    {"endless short trailers", post_chunks("0\r\n" + repeated("A: b\r\n", 200)), 431},
};

TEST(Parser, RefusesWhatIsMalformedHoweverItIsCut) {
  for (const RefusedCase& refused : kRefused) {
    SCOPED_TRACE(refused.name);
    const ParseOutcome outcome = parse_pieces({refused.bytes}, kLimits);
    EXPECT_EQ(outcome.refused_with, refused.status) << outcome.reason;
    EXPECT_TRUE(outcome.requests.empty());
    expect_same_for_all_cuts(refused.bytes);
  }
}

// Requests before the malformed bytes are still served.
TEST(Parser, ServesTheRequestsBeforeARefusedOne) {
  const std::string bytes = get_with("A: 1") + get_with("A : 1");
  const ParseOutcome outcome = parse_pieces({bytes}, kLimits);
  EXPECT_EQ(outcome.requests.size(), 1u);
  EXPECT_EQ(outcome.refused_with, 400);
  expect_same_for_all_cuts(bytes);
}

TEST(Parser, AcceptsExactlyItsLimits) {
  const std::string frame = "GET / HTTP/1.1\r\nHost: h\r\nA: \r\n\r\n";
  const std::string head =
      get_with("A: " + std::string(kLimits.head_bytes_max - frame.size(), 'b'));
  const struct {
    const char* name;
    std::string bytes;
  } cases[] = {
      {"head", head},
      {"headers", get_with("A: 1\r\nA: 2\r\nA: 3\r\nA: 4\r\nA: 5")},
      {"target", "GET /" + std::string(63, 'a') + " HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"body", get_with("Content-Length: 100") + std::string(100, 'x')},
      {"chunks", post_chunks("64\r\n" + std::string(100, 'x') + "\r\n0\r\n\r\n")},
      {"method", std::string(32, 'M') + " / HTTP/1.1\r\nHost: h\r\n\r\n"},
  };
  ASSERT_EQ(head.size(), kLimits.head_bytes_max);
  for (const auto& exact : cases) {
    SCOPED_TRACE(exact.name);
    EXPECT_EQ(parse_pieces({exact.bytes}, kLimits).requests.size(), 1u);
    expect_same_for_all_cuts(exact.bytes);
  }
}

// The larger limit applies to uploads only.
TEST(Parser, UploadsHaveALimitOfTheirOwn) {
  Limits limits = kLimits;
  limits.upload_bytes_max = 200;
  const auto refused_with = [&](std::string_view start, std::size_t bytes) {
    const std::string request =
        fmt::format("{} HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n{}",
                    start,
                    bytes,
                    std::string(bytes, 'x'));
    return parse_pieces({request}, limits).refused_with;
  };
  for (const char* start : {"PUT /bucket/key", "POST /2015-03-31/functions"}) {
    EXPECT_EQ(refused_with(start, 200), 0) << start;
    EXPECT_EQ(refused_with(start, 201), 413) << start;
  }
  for (const char* start : {"POST /", "POST /000000000000/orders", "POST /2015-03-31"}) {
    EXPECT_EQ(refused_with(start, 101), 413) << start;
  }
}

TEST(Parser, AsksForTheBodyOnlyWhenTheClientWaits) {
  const std::string head = get_with("Expect: 100-Continue\r\nContent-Length: 2");
  EXPECT_TRUE(parse_pieces({head}).sends_continue);
  EXPECT_TRUE(parse_pieces({head, "o", "k"}).sends_continue);
  EXPECT_FALSE(parse_pieces({head + "o"}).sends_continue);
  EXPECT_FALSE(parse_pieces({head + "ok"}).sends_continue);
  EXPECT_FALSE(parse_pieces({get_with("Expect: 100-continue")}).sends_continue);
  EXPECT_FALSE(
      parse_pieces({"POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n"})
          .sends_continue);
}

// Many tiny chunks must not need more memory than the body they carry.
TEST(Parser, KeepsNoChunkFraming) {
  const Limits limits;
  Parser parser;
  Request request;
  Buffer in;
  in.append(post_chunks(""));
  const std::size_t head_bytes = in.size();
  std::size_t body_bytes = 0;
  for (int i = 0; i < 1000; ++i) {
    in.append("1;some=extension\r\nx\r\n");
    ++body_bytes;
    ASSERT_EQ(parser.parse(in, limits, request), Parser::Status::need_more);
    ASSERT_EQ(in.size(), head_bytes + body_bytes);
    ASSERT_GT(parser.bytes_useful(limits), in.size());
  }
  in.append("0\r\n\r\n");
  ASSERT_EQ(parser.parse(in, limits, request), Parser::Status::complete);
  EXPECT_EQ(request.body, std::string(1000, 'x'));
}

// Proxies send the absolute form, which takes precedence over Host.
TEST(Parser, TellsHowTheClientCallsUs) {
  const std::pair<const char*, const char*> cases[] = {
      {"GET / HTTP/1.1\r\nHost: localhost:9324\r\n\r\n", "localhost:9324"},
      {"GET / HTTP/1.1\r\nHost: [::1]:9324\r\n\r\n", "[::1]:9324"},
      {"GET http://a.example:80/p HTTP/1.1\r\nHost: b.example\r\n\r\n", "a.example:80"},
      {"GET / HTTP/1.0\r\n\r\n", ""},
  };
  for (const auto& [bytes, host] : cases) {
    SCOPED_TRACE(bytes);
    Parser parser;
    Request request{.host = "of the request before"};
    Buffer in;
    in.append(bytes);
    ASSERT_EQ(parser.parse(in, {}, request), Parser::Status::complete);
    EXPECT_EQ(request.host, host);
  }
}

TEST(Parser, FindsHeadersInAnyCase) {
  Parser parser;
  Request request;
  Buffer in;
  in.append(get_with("X-Amz-Target: first\r\nx-amz-target: second"));
  ASSERT_EQ(parser.parse(in, {}, request), Parser::Status::complete);
  EXPECT_EQ(request.header("x-AMZ-target"), "first");
  EXPECT_EQ(request.header("absent"), "");
}

}  // namespace
}  // namespace redrive::http
