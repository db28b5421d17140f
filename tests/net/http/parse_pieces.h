#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/http/parser.h"

// Feeds bytes to a Parser in given pieces and copies the results, so that differently split runs
// over the same bytes can be compared.
namespace redrive::http {

struct ParsedRequest {
  std::string method, target, path, query, body;
  std::vector<std::pair<std::string, std::string>> headers;
  bool keep_alive = false;
  bool http_1_0 = false;

  bool operator==(const ParsedRequest&) const = default;
};

struct ParseOutcome {
  std::vector<ParsedRequest> requests;
  int refused_with = 0;         // 0 if nothing was refused.
  bool sends_continue = false;  // Depends on the split, so it is not compared.
  std::string reason;

  bool operator==(const ParseOutcome& other) const {
    return requests == other.requests && refused_with == other.refused_with;
  }
};

inline ParsedRequest copy_of(const Request& request, const Parser& parser) {
  ParsedRequest copy{.method = std::string(request.method),
                     .target = std::string(request.target),
                     .path = std::string(request.path),
                     .query = std::string(request.query),
                     .body = std::string(request.body),
                     .keep_alive = request.keep_alive,
                     .http_1_0 = parser.http_1_0()};
  for (const Header& header : request.headers) copy.headers.emplace_back(header.name, header.value);
  return copy;
}

class PieceParser {
 public:
  explicit PieceParser(const Limits& limits) : limits_(limits) {}

  void feed(std::string_view piece) {
    if (outcome_.refused_with != 0) return;
    in_.append(piece);
    while (!in_.empty() && parse_one()) {
    }
  }
  const ParseOutcome& outcome() const { return outcome_; }

 private:
  // Returns whether another request may follow.
  bool parse_one() {
    const Parser::Status status = parser_.parse(in_, limits_, request_);
    if (status == Parser::Status::refused) {
      outcome_.refused_with = parser_.refusal().status;
      outcome_.reason = parser_.refusal().reason;
    }
    outcome_.sends_continue |= status == Parser::Status::send_continue;
    if (status != Parser::Status::complete) return false;
    outcome_.requests.push_back(copy_of(request_, parser_));
    in_.consume(parser_.request_bytes());
    parser_.reset();
    return true;
  }

  const Limits limits_;
  Parser parser_;
  Buffer in_;
  Request request_;
  ParseOutcome outcome_;
};

inline ParseOutcome parse_pieces(const std::vector<std::string_view>& pieces,
                                 const Limits& limits = {}) {
  PieceParser parser(limits);
  for (const std::string_view piece : pieces) parser.feed(piece);
  return parser.outcome();
}

}  // namespace redrive::http
