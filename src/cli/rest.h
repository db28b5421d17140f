#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/xml.h"
#include "cli/endpoint.h"
#include "cli/failure.h"
#include "cli/transport.h"
#include "stack/node.h"

namespace redrive::cli {

// The services beside SQS, as standard clients use them: Lambda in JSON, S3 and the Query services
// (IAM, STS, CloudWatch) in XML. For one thread.
class RestClient {
 public:
  struct Request {
    std::string method = "GET";
    std::string path = "/";  // Encoded; may have a query string.
    std::string service;     // What the signature is scoped to: lambda, s3, sts, monitoring.
    std::string content_type;
    std::string body;
  };

  RestClient(Endpoint endpoint, std::unique_ptr<Transport> transport, const Clock& clock)
      : endpoint_(std::move(endpoint)), transport_(std::move(transport)), clock_(clock) {}

  // The answer's body. A failure carries the service's own code, or "HTTP 404" where it gave none.
  Answer<std::string> send(Request request);

  // Lambda. Null when the answer has no body.
  Answer<stack::Node> lambda(std::string method, std::string path, const stack::Node& body = {});
  Answer<std::string> s3(std::string method, std::string path, std::string body = {});
  // `Action=…&Version=…` and the members of a map: lists as Name.member.N.
  Answer<XmlElement> query(std::string_view service, std::string_view version,
                           std::string_view action, const stack::Node& members = {});

 private:
  Endpoint endpoint_;
  std::unique_ptr<Transport> transport_;
  const Clock& clock_;
};

// Whether this says that the thing asked for is not there.
bool says_not_found(const Failure& failure);
// Whether this says that the server does not have the service at all.
bool says_no_such_service(const Failure& failure);

}  // namespace redrive::cli
