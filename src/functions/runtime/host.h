#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "functions/runtime/invoker.h"
#include "functions/runtime/spawn.h"
#include "functions/runtime/users.h"

namespace redrive::runtime {

// A process's directory below the scratch directory. `task` is where its code is mounted, if the
// server can mount; only root may write there.
struct Place {
  std::filesystem::path directory;
  std::filesystem::path tmp() const { return directory / "tmp"; }
  std::filesystem::path task() const { return directory / "task"; }
};

// The machine's capabilities for running functions: users, mounts, sandbox, interpreters.
// Determined once, by trying.
class Host {
 public:
  static Result<Host> examine(InvokerOptions options);

  const InvokerOptions& options() const { return options_; }
  bool is_root() const { return root_; }
  // Directory for claims on users; empty if there is none.
  const std::filesystem::path& user_claims() const { return user_claims_; }
  bool can_mount() const { return mounts_; }
  bool has_bubblewrap() const { return !bubblewrap_.empty(); }
  const std::string& bubblewrap() const { return bubblewrap_; }
  std::string isolation() const;
  // Bubblewrap may be uninstalled while the server runs. Functions then run without it, with one
  // log message, unless a sandbox is required.
  Result<void> check_bubblewrap();

  // Directory of the bootstraps.
  std::filesystem::path runtime_directory() const { return options_.scratch / "runtime"; }
  // Creates a directory for a process, with a temporary directory owned by the user.
  Result<Place> make_place(std::optional<unsigned> user);
  // Where a process sees its code: mounted or copied into its directory, or the original path.
  std::filesystem::path code_path(const std::filesystem::path& code, const Place& place) const;
  // Copies the code if the function's user could not read it otherwise.
  Result<void> bring_code(const std::filesystem::path& code, const Place& place) const;
  // The program for a runtime such as python3.11; empty if not installed.
  std::string interpreter(const std::string& runtime);

 private:
  explicit Host(InvokerOptions options) : options_(std::move(options)) {}

  Result<void> prepare_scratch();
  Result<void> try_user();
  void try_mounts();
  void try_bubblewrap();
  bool must_copy(const std::filesystem::path& code) const;
  bool runs(SpawnRequest request) const;
  bool user_can_see(const std::filesystem::path& path) const;

  InvokerOptions options_;
  bool root_ = false;
  std::filesystem::path user_claims_;
  bool mounts_ = false;
  std::string bubblewrap_;
  std::uint64_t places_ = 0;
  std::map<std::string, std::string> interpreters_;  // Cache of lookups.
};

// The program for a runtime such as python3.11: that version, or else any python3; empty if there
// is none. `for_everybody`: readable by other users.
std::string find_interpreter(const std::string& runtime, bool for_everybody);

// Common arguments of every bubblewrap sandbox: read-only system, own processes and devices, shared
// network.
std::vector<std::string> sandbox_arguments(const std::string& bubblewrap);

}  // namespace redrive::runtime
