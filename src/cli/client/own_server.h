#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "cli/client/failure.h"

namespace redrive::cli {

// A private server process of this binary, in memory and on a free port; stopped by the destructor.
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
