#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "core/journal/files.h"

namespace redrive::sim {

// A directory in memory that behaves as badly as a real one may.
//
// Every file has bytes as programs see them and bytes as on disk; sync() makes the second equal to
// the first. A crash keeps a random part of what was not synced: each sector of 512 bytes is as it
// was, or as some write since left it, independently of its neighbours, so that a write may be torn
// anywhere and a later one may survive an earlier one. Creations, renames and removals since the
// last sync_directory() survive as a prefix or as a subset. Equal seeds give equal crashes.
//
// Handles opened before a crash fail afterwards. Thread-safe.
class FaultyFiles final : public journal::Files {
 public:
  FaultyFiles();
  ~FaultyFiles() override;

  Result<std::vector<std::string>> list() override;
  Result<std::unique_ptr<journal::File>> open(const std::string& name) override;
  Result<std::unique_ptr<journal::File>> create(const std::string& name) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> exchange(const std::string& from, const std::string& to) override;
  Result<void> remove(const std::string& name) override;
  Result<void> sync_directory() override;
  std::string path(const std::string& name) const override;

  // The machine loses power and comes back. Requested faults are cancelled.
  void crash(IdSource& chance);

  // After `operations` more modifying calls, every call fails, as if the machine stood still: the
  // moment to crash() it. With 0 immediately.
  void stop_after(std::uint64_t operations);
  // The number of modifying calls so far, including failed ones.
  std::uint64_t operations() const;

  void fail_sync_after(std::uint64_t syncs);  // That many more file syncs succeed, the next fails.
  void fail_reads(bool failing);
  // How many more bytes the files may grow by; nullopt: unlimited. Removing a file frees its bytes.
  void limit_space(std::optional<std::uint64_t> bytes);

  // Runs `work` in the middle of the next sync of a file: earlier writes are on their way to the
  // disk, and what `work` does is not part of the sync. Once; called without a lock.
  void during_next_sync(std::function<void()> work);

  // Changes the bytes on disk unnoticed.
  void flip_bit(const std::string& name, std::uint64_t offset, unsigned bit);
  void put(const std::string& name, std::string bytes);  // Durable immediately.
  void erase(const std::string& name);                   // Likewise for removing.

  // What programs would read; nullopt if the file does not exist.
  std::optional<std::string> bytes(const std::string& name) const;

 private:
  struct Node;
  class OpenFile;
  using Names = std::map<std::string, std::shared_ptr<Node>>;

  // A change to the directory that is not durable yet. An empty `from` is a creation, an empty `to`
  // a removal. An exchange gives `other` the old name.
  struct NameChange {
    std::string from;
    std::string to;
    std::shared_ptr<Node> node;
    std::shared_ptr<Node> other = nullptr;
  };

  // Called with mutex_ held.
  Result<void> count_operation(std::string_view what, const std::string& name);
  Result<void> check_running(const std::string& name) const;
  Result<void> take_space(std::uint64_t bytes, const std::string& name);
  Result<void> grow(Node& node, std::uint64_t size, const std::string& name);
  std::unique_ptr<journal::File> handle(const std::string& name, std::shared_ptr<Node> node);
  void give_space_back(const std::string& name);
  static void apply(Names& names, const NameChange& change);
  void crash_names(IdSource& chance);
  std::function<void()> take_during_sync();

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  Names names_;
  Names durable_names_;
  std::vector<NameChange> name_changes_;
  std::uint64_t generation_ = 0;  // Number of crashes.
  std::uint64_t operations_ = 0;
  std::optional<std::uint64_t> stop_at_;
  std::optional<std::uint64_t> syncs_left_;
  bool failing_reads_ = false;
  std::optional<std::uint64_t> space_;
  std::function<void()> during_sync_;
};

}  // namespace redrive::sim
