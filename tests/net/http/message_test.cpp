#include "net/http/message.h"

#include <gtest/gtest.h>

namespace redrive::http {
namespace {

std::string respond(const ResponseHead& head, std::string_view body) {
  std::string out = "before";  // A response may be appended to others.
  const std::size_t mark = begin_response(out, head);
  out.append(body);
  end_response(out, mark);
  return out;
}

TEST(Response, IsWrittenWithItsLength) {
  const Header headers[] = {{.name = "X-A", .value = "1"}, {.name = "X-B", .value = "2"}};
  const struct {
    const char* name;
    ResponseHead head;
    std::string body;
    std::string expected;
  } cases[] = {
      {"plain", {}, "hello", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"},
      {"empty", {}, "", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
      {"all parts",
       {.status = 404, .content_type = "text/plain", .headers = headers, .keep_alive = false},
       "no such page",
       "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nX-A: 1\r\nX-B: 2\r\n"
       "Connection: close\r\nContent-Length: 12\r\n\r\nno such page"},
      {"no content", {.status = 204}, "", "HTTP/1.1 204 No Content\r\n\r\n"},
      {"unknown status", {.status = 599}, "", "HTTP/1.1 599 Unknown\r\nContent-Length: 0\r\n\r\n"},
      {"long body",
       {},
       std::string(123456, 'x'),
       "HTTP/1.1 200 OK\r\nContent-Length: 123456\r\n\r\n" + std::string(123456, 'x')},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.name);
    EXPECT_EQ(respond(one.head, one.body), "before" + one.expected);
  }
}

}  // namespace
}  // namespace redrive::http
