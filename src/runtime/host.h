#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "runtime/invoker.h"
#include "runtime/spawn.h"
#include "runtime/users.h"

namespace redrive::runtime {

// What one process has of the disk, under the scratch directory. `task` is where code is shown when
// the server may mount; nobody but root writes there.
struct Place {
  std::filesystem::path directory;
  std::filesystem::path tmp() const { return directory / "tmp"; }
  std::filesystem::path task() const { return directory / "task"; }
};

// The machine as functions will find it: which user they become, what can be hidden from them,
// where the interpreters are. Found out once, by trying.
class Host {
 public:
  static Result<Host> examine(InvokerOptions options);

  const InvokerOptions& options() const { return options_; }
  bool is_root() const { return root_; }
  // Where users are borrowed; empty when there is no place for it.
  const std::filesystem::path& user_claims() const { return user_claims_; }
  bool can_mount() const { return mounts_; }
  bool has_bubblewrap() const { return !bubblewrap_.empty(); }
  const std::string& bubblewrap() const { return bubblewrap_; }
  std::string isolation() const;
  // Bubblewrap may be removed while the server runs. Then functions run without it, and the log
  // says so once, unless a sandbox is required.
  Result<void> check_bubblewrap();

  // Where the bootstraps lie.
  std::filesystem::path runtime_directory() const { return options_.scratch / "runtime"; }
  // A new place, its temporary directory owned by the user.
  Result<Place> make_place(std::optional<unsigned> user);
  // Where a process finds its code: in its place, or where it lies.
  std::filesystem::path code_path(const std::filesystem::path& code, const Place& place) const;
  // Copies code into the place when there is no other way for the functions' user to read it.
  Result<void> bring_code(const std::filesystem::path& code, const Place& place) const;
  // The program for a runtime such as python3.11; empty when there is none on the machine.
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
  std::map<std::string, std::string> interpreters_;  // Those looked for.
};

// The program for a runtime such as python3.11: of that version, or else any python3; empty when
// the machine has none. `for_everybody`: one that other users may read.
std::string find_interpreter(const std::string& runtime, bool for_everybody);

// The arguments of bubblewrap that every sandbox begins with: a read-only system, processes and
// devices of its own, the network shared.
std::vector<std::string> sandbox_arguments(const std::string& bubblewrap);

}  // namespace redrive::runtime
