#include "sim/faulty_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace redrive::sim {
namespace {

constexpr std::uint64_t kSectorBytes = 512;

std::unexpected<Error> io_error(std::string_view what, const std::string& path) {
  return fail(ErrorCode::storage_io, fmt::format("{}: {}", path, what));
}

// What a crash does to a group of independent things.
enum class Fate { all_lost, all_kept, mixed };

Fate draw_fate(IdSource& chance) {
  return static_cast<Fate>(chance.bits() % 3);
}

bool coin(IdSource& chance) {
  return chance.bits() >> 63;
}

}  // namespace

struct FaultyFiles::Node {
  std::string bytes;    // As programs see them.
  std::string durable;  // As on disk.
  // The contents of each sector since the last sync, oldest first. A sector that extends beyond the
  // end of the file is as short as the file was then.
  std::map<std::uint64_t, std::vector<std::string>> unsynced;

  void write(std::uint64_t offset, std::string_view data) {
    std::memcpy(bytes.data() + offset, data.data(), data.size());
    note(offset, data.size());
  }

  void note(std::uint64_t offset, std::uint64_t size) {
    if (size == 0) return;
    const std::uint64_t last = (offset + size - 1) / kSectorBytes;
    for (std::uint64_t sector = offset / kSectorBytes; sector <= last; ++sector) {
      unsynced[sector].push_back(bytes.substr(sector * kSectorBytes, kSectorBytes));
    }
  }

  void sync() {
    for (const auto& [sector, versions] : unsynced) store(sector, versions.back());
    unsynced.clear();
    durable.resize(bytes.size());
  }

  void store(std::uint64_t sector, const std::string& version) {
    const std::uint64_t at = sector * kSectorBytes;
    durable.resize(std::max<std::uint64_t>(durable.size(), at + version.size()));
    std::copy(version.begin(), version.end(), durable.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void crash(IdSource& chance) {
    const Fate fate = draw_fate(chance);
    for (const auto& [sector, versions] : unsynced) {
      if (fate == Fate::all_lost || (fate == Fate::mixed && coin(chance))) continue;
      const std::size_t survivor =
          fate == Fate::all_kept ? versions.size() - 1 : chance.bits() % versions.size();
      store(sector, versions[survivor]);
    }
    if (fate == Fate::all_kept) durable.resize(bytes.size());
    unsynced.clear();
    bytes = durable;
  }
};

class FaultyFiles::OpenFile final : public journal::File {
 public:
  OpenFile(FaultyFiles& files, std::string name, std::shared_ptr<Node> node)
      : files_(files),
        name_(std::move(name)),
        node_(std::move(node)),
        generation_(files.generation_) {}

  Result<std::size_t> read(std::uint64_t offset, char* out, std::size_t size) override {
    const std::lock_guard lock(files_.mutex_);
    RETURN_IF_ERROR(check());
    if (files_.failing_reads_) return io_error("reading failed", files_.path(name_));
    if (offset >= node_->bytes.size()) return 0;
    return node_->bytes.copy(out, size, offset);
  }

  Result<void> write(std::uint64_t offset, std::span<const std::string_view> parts) override {
    std::string bytes;
    for (const std::string_view part : parts) bytes += part;
    const std::lock_guard lock(files_.mutex_);
    RETURN_IF_ERROR(check());
    RETURN_IF_ERROR(files_.count_operation("writing", name_));
    RETURN_IF_ERROR(files_.grow(*node_, offset + bytes.size(), name_));
    node_->write(offset, bytes);
    return {};
  }

  Result<void> write_zeros(std::uint64_t offset, std::uint64_t size) override {
    return File::write(offset, std::string(size, '\0'));
  }

  Result<void> sync() override {
    if (const auto work = files_.take_during_sync()) work();
    const std::lock_guard lock(files_.mutex_);
    RETURN_IF_ERROR(check());
    RETURN_IF_ERROR(files_.count_operation("syncing", name_));
    if (files_.syncs_left_ && (*files_.syncs_left_)-- == 0) {
      files_.syncs_left_.reset();
      return io_error("syncing failed", files_.path(name_));
    }
    node_->sync();
    return {};
  }

  Result<std::uint64_t> size() override {
    const std::lock_guard lock(files_.mutex_);
    RETURN_IF_ERROR(check());
    return node_->bytes.size();
  }

  Result<void> reserve(std::uint64_t bytes) override {
    const std::lock_guard lock(files_.mutex_);
    RETURN_IF_ERROR(check());
    RETURN_IF_ERROR(files_.count_operation("reserving", name_));
    return files_.grow(*node_, bytes, name_);
  }

 private:
  Result<void> check() const {
    if (generation_ != files_.generation_) {
      return io_error("opened before the crash", files_.path(name_));
    }
    return files_.check_running(name_);
  }

  FaultyFiles& files_;
  const std::string name_;
  const std::shared_ptr<Node> node_;
  const std::uint64_t generation_;
};

FaultyFiles::FaultyFiles() = default;
FaultyFiles::~FaultyFiles() = default;

Result<std::vector<std::string>> FaultyFiles::list() {
  const std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(check_running(""));
  std::vector<std::string> out;
  for (const auto& [name, node] : names_) out.push_back(name);
  return out;
}

Result<std::unique_ptr<journal::File>> FaultyFiles::open(const std::string& name) {
  const std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(check_running(name));
  const auto found = names_.find(name);
  if (found == names_.end()) return io_error("there is no such file", path(name));
  return handle(name, found->second);
}

Result<std::unique_ptr<journal::File>> FaultyFiles::create(const std::string& name) {
  const std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(count_operation("creating", name));
  give_space_back(name);
  const auto node = std::make_shared<Node>();
  name_changes_.push_back({.to = name, .node = node});
  apply(names_, name_changes_.back());
  return handle(name, node);
}

Result<void> FaultyFiles::rename(const std::string& from, const std::string& to) {
  const std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(count_operation("renaming", from));
  if (!names_.contains(from)) return io_error("there is no such file", path(from));
  give_space_back(to);
  name_changes_.push_back({.from = from, .to = to, .node = names_.at(from)});
  apply(names_, name_changes_.back());
  return {};
}

Result<void> FaultyFiles::exchange(const std::string& from, const std::string& to) {
  const std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(count_operation("exchanging", from));
  if (!names_.contains(from)) return io_error("there is no such file", path(from));
  if (!names_.contains(to)) return io_error("there is no such file", path(to));
  name_changes_.push_back(
      {.from = from, .to = to, .node = names_.at(from), .other = names_.at(to)});
  apply(names_, name_changes_.back());
  return {};
}

Result<void> FaultyFiles::remove(const std::string& name) {
  const std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(count_operation("removing", name));
  if (!names_.contains(name)) return io_error("there is no such file", path(name));
  give_space_back(name);
  name_changes_.push_back({.from = name, .node = names_.at(name)});
  apply(names_, name_changes_.back());
  return {};
}

Result<void> FaultyFiles::sync_directory() {
  const std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(count_operation("syncing", ""));
  durable_names_ = names_;
  name_changes_.clear();
  return {};
}

std::string FaultyFiles::path(const std::string& name) const {
  return "simulated/" + name;
}

std::unique_ptr<journal::File> FaultyFiles::handle(const std::string& name,
                                                   std::shared_ptr<Node> node) {
  return std::make_unique<OpenFile>(*this, name, std::move(node));
}

// A change whose file is not under its old name, because an earlier change was lost, is lost too.
void FaultyFiles::apply(Names& names, const NameChange& change) {
  if (!change.from.empty()) {
    const auto found = names.find(change.from);
    if (found == names.end() || found->second != change.node) return;
    names.erase(found);
  }
  if (change.other) names[change.from] = change.other;
  if (!change.to.empty()) names[change.to] = change.node;
}

void FaultyFiles::crash(IdSource& chance) {
  const std::lock_guard lock(mutex_);
  crash_names(chance);
  for (const auto& [name, node] : names_) node->crash(chance);
  ++generation_;
  stop_at_.reset();
  syncs_left_.reset();
  failing_reads_ = false;
  during_sync_ = {};
}

void FaultyFiles::crash_names(IdSource& chance) {
  // Most file systems keep a prefix of the changes; none guarantees it.
  const bool in_order = coin(chance);
  const std::size_t kept = chance.bits() % (name_changes_.size() + 1);
  for (std::size_t i = 0; i < name_changes_.size(); ++i) {
    if (in_order ? i < kept : coin(chance)) apply(durable_names_, name_changes_[i]);
  }
  name_changes_.clear();
  names_ = durable_names_;
}

void FaultyFiles::stop_after(std::uint64_t operations) {
  const std::lock_guard lock(mutex_);
  stop_at_ = operations_ + operations;
}

std::uint64_t FaultyFiles::operations() const {
  const std::lock_guard lock(mutex_);
  return operations_;
}

void FaultyFiles::fail_sync_after(std::uint64_t syncs) {
  const std::lock_guard lock(mutex_);
  syncs_left_ = syncs;
}

void FaultyFiles::fail_reads(bool failing) {
  const std::lock_guard lock(mutex_);
  failing_reads_ = failing;
}

void FaultyFiles::limit_space(std::optional<std::uint64_t> bytes) {
  const std::lock_guard lock(mutex_);
  space_ = bytes;
}

void FaultyFiles::during_next_sync(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  during_sync_ = std::move(work);
}

std::function<void()> FaultyFiles::take_during_sync() {
  const std::lock_guard lock(mutex_);
  return std::exchange(during_sync_, {});
}

void FaultyFiles::flip_bit(const std::string& name, std::uint64_t offset, unsigned bit) {
  const std::lock_guard lock(mutex_);
  Node& node = *names_.at(name);
  assert(node.unsynced.empty() && offset < node.bytes.size());
  const auto mask = static_cast<char>(1u << bit);
  node.bytes[offset] = static_cast<char>(node.bytes[offset] ^ mask);
  node.durable[offset] = node.bytes[offset];
}

void FaultyFiles::put(const std::string& name, std::string bytes) {
  const std::lock_guard lock(mutex_);
  const auto node = std::make_shared<Node>();
  node->bytes = node->durable = std::move(bytes);
  names_[name] = durable_names_[name] = node;
}

void FaultyFiles::erase(const std::string& name) {
  const std::lock_guard lock(mutex_);
  names_.erase(name);
  durable_names_.erase(name);
}

std::optional<std::string> FaultyFiles::bytes(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = names_.find(name);
  if (found == names_.end()) return std::nullopt;
  return found->second->bytes;
}

Result<void> FaultyFiles::count_operation(std::string_view what, const std::string& name) {
  if (auto running = check_running(name); !running) {
    return io_error(fmt::format("{} failed: the machine stands still", what), path(name));
  }
  ++operations_;
  return {};
}

Result<void> FaultyFiles::check_running(const std::string& name) const {
  if (!stop_at_ || operations_ < *stop_at_) return {};
  return io_error("the machine stands still", path(name));
}

Result<void> FaultyFiles::grow(Node& node, std::uint64_t size, const std::string& name) {
  if (size <= node.bytes.size()) return {};
  RETURN_IF_ERROR(take_space(size - node.bytes.size(), name));
  node.bytes.resize(size);  // Unwritten zeros: whether the length survives a crash is random.
  return {};
}

Result<void> FaultyFiles::take_space(std::uint64_t bytes, const std::string& name) {
  if (!space_) return {};
  if (bytes > *space_) {
    return fail(ErrorCode::storage_full, fmt::format("{}: no space left", path(name)));
  }
  *space_ -= bytes;
  return {};
}

void FaultyFiles::give_space_back(const std::string& name) {
  const auto found = names_.find(name);
  if (space_ && found != names_.end()) *space_ += found->second->bytes.size();
}

}  // namespace redrive::sim
