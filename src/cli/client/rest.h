#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/xml.h"
#include "cli/client/endpoint.h"
#include "cli/client/failure.h"
#include "cli/client/transport.h"
#include "stack/node.h"

namespace redrive::cli {

// Client for the services besides SQS: Lambda in JSON, S3 and the Query services (IAM, STS,
// CloudWatch) in XML. For one thread.
class RestClient {
 public:
  struct Request {
    std::string method = "GET";
    std::string path = "/";  // Encoded; may have a query string.
    std::string service;     // Signing scope: lambda, s3, sts, monitoring.
    std::string content_type;
    std::string body;
  };

  RestClient(Endpoint endpoint, std::unique_ptr<Transport> transport, const Clock& clock)
      : endpoint_(std::move(endpoint)), transport_(std::move(transport)), clock_(clock) {}

  // Returns the response's body. A failure has the service's error code, or "HTTP 404" if there is
  // none.
  Answer<std::string> send(Request request);

  // Lambda. Null if the response has no body.
  Answer<stack::Node> lambda(std::string method, std::string path, const stack::Node& body = {});
  Answer<std::string> s3(std::string method, std::string path, std::string body = {});
  // `Action=…&Version=…` and the members of a map; lists as Name.member.N.
  Answer<XmlElement> query(std::string_view service, std::string_view version,
                           std::string_view action, const stack::Node& members = {});

 private:
  Endpoint endpoint_;
  std::unique_ptr<Transport> transport_;
  const Clock& clock_;
};

// Whether the failure means that the resource does not exist.
bool says_not_found(const Failure& failure);
// Whether the failure means that the server lacks the service.
bool says_no_such_service(const Failure& failure);

}  // namespace redrive::cli
