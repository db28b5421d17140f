#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "net/http/message.h"

namespace redrive::s3 {

// Whether a request is for S3. A signature names its service; unsigned requests are
// recognised by headers and paths that no other API uses.
bool is_s3_request(const http::Request& request);

struct Address {
  std::string bucket;  // Empty: the service itself.
  std::string key;     // Empty: the bucket.
};

// Domains of virtual-host addresses.
struct HostNames {
  std::span<const std::string> domains;  // `queue.example` or `*.queue.example`.
  std::function<bool(const std::string&)> is_bucket;
};

// The bucket and key of a request. In path style both are in the path:
// `host/bucket/key`; in the virtual-host style the host begins with the bucket: `bucket.host/key`.
// Virtual-host style is recognised below localhost, s3.localhost and `domains`, or if the host
// begins with the name of an existing bucket.
Address address_of(std::string_view host, std::string_view path, const HostNames& names);

}  // namespace redrive::s3
