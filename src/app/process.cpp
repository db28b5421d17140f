#include "app/process.h"

#include <malloc.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/resource.h>

namespace redrive::app {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

}  // namespace

void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) spdlog::warn("cannot raise the limit on open files");
}

void bound_allocator_pauses() {
  mallopt(M_MXFAST, 0);
}

Undumpable::Undumpable() {
  if (prctl(PR_SET_DUMPABLE, 0) != 0)
    spdlog::warn("cannot protect the server's memory from other processes");
}

Undumpable::~Undumpable() {
  if (kSanitized) prctl(PR_SET_DUMPABLE, 1);
}

}  // namespace redrive::app
