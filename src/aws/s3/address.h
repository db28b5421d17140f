#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "net/http/message.h"

namespace redrive::s3 {

// Whether a request is for S3. One port serves several APIs: a signature says which it is for; what
// is not signed is told apart by what the others never send.
bool is_s3_request(const http::Request& request);

struct Address {
  std::string bucket;  // Empty: the service itself.
  std::string key;     // Empty: the bucket.
};

// What may stand behind a bucket's name in a host.
struct HostNames {
  std::span<const std::string> domains;  // `queue.example` or `*.queue.example`.
  std::function<bool(const std::string&)> is_bucket;
};

// Which bucket and key a request is about. In the path style both stand in the path:
// `host/bucket/key`; in the virtual-host style the host begins with the bucket: `bucket.host/key`.
// The host counts as the latter below localhost, s3.localhost and the domains named, or when it
// begins with the name of a bucket that exists.
Address address_of(std::string_view host, std::string_view path, const HostNames& names);

}  // namespace redrive::s3
