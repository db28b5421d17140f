#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "cli/failure.h"

namespace redrive::cli {

// A server of this binary's own, in memory and on a free port, that ends with this object.
class OwnServer {
 public:
  static Answer<std::unique_ptr<OwnServer>> start();
  ~OwnServer();
  OwnServer(const OwnServer&) = delete;
  OwnServer& operator=(const OwnServer&) = delete;

  const std::string& url() const { return url_; }

 private:
  OwnServer(pid_t process, std::string url) : process_(process), url_(std::move(url)) {}

  pid_t process_;
  std::string url_;
};

}  // namespace redrive::cli
