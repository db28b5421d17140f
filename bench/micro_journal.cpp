// Cost of appending a record of 1 KiB: in memory only, and written to files without waiting for the
// disk. The wait is the disk's cost; bench/run measures it.

#include <benchmark/benchmark.h>

#include <cassert>
#include <filesystem>
#include <memory>
#include <string>

#include "core/journal/journal.h"
#include "core/journal/posix_files.h"

namespace {

namespace fs = std::filesystem;
using redrive::Result;
using namespace redrive::journal;

constexpr std::size_t kRecordBytes = 1024;
constexpr std::uint64_t kRecordsPerWrite = 64;          // A busy group commit.
constexpr std::uint64_t kRecordsPerCheckpoint = 32768;  // About 32 MiB: one segment.

// Files whose sync does nothing, so that only our own work is measured.
class UnsyncedFile final : public File {
 public:
  explicit UnsyncedFile(std::unique_ptr<File> file) : file_(std::move(file)) {}
  Result<std::size_t> read(std::uint64_t offset, char* out, std::size_t size) override {
    return file_->read(offset, out, size);
  }
  Result<void> write(std::uint64_t offset, std::span<const std::string_view> parts) override {
    return file_->write(offset, parts);
  }
  Result<void> write_zeros(std::uint64_t offset, std::uint64_t size) override {
    return file_->write_zeros(offset, size);
  }
  Result<void> sync() override { return {}; }
  Result<std::uint64_t> size() override { return file_->size(); }
  Result<void> reserve(std::uint64_t bytes) override { return file_->reserve(bytes); }

 private:
  std::unique_ptr<File> file_;
};

class UnsyncedFiles final : public Files {
 public:
  explicit UnsyncedFiles(Files& files) : files_(files) {}
  Result<std::vector<std::string>> list() override { return files_.list(); }
  Result<std::unique_ptr<File>> open(const std::string& name) override {
    return std::make_unique<UnsyncedFile>(TRY(files_.open(name)));
  }
  Result<std::unique_ptr<File>> create(const std::string& name) override {
    return std::make_unique<UnsyncedFile>(TRY(files_.create(name)));
  }
  Result<void> rename(const std::string& from, const std::string& to) override {
    return files_.rename(from, to);
  }
  Result<void> remove(const std::string& name) override { return files_.remove(name); }
  Result<void> sync_directory() override { return {}; }
  std::string path(const std::string& name) const override { return files_.path(name); }

 private:
  Files& files_;
};

// A directory below the working directory, which is on a real disk where /tmp may not be.
class Directory {
 public:
  Directory() : path_(fs::current_path() / "redrive-micro-journal") { fs::remove_all(path_); }
  ~Directory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

// Lets the journal reuse its segments, like checkpoints in the server.
void checkpoint(Journal& journal) {
  const std::string_view nothing = "checkpoint";
  const Sequence begin = journal.append_checkpoint_begin(std::span(&nothing, 1)).sequence;
  journal.append_checkpoint_end(std::span(&nothing, 1));
  const bool whole = journal.sync_once() && journal.set_checkpoint(begin);
  assert(whole);
  for (auto more = journal.housekeep(); more && *more; more = journal.housekeep()) {
  }
}

void append_all(benchmark::State& state, Journal& journal) {
  const std::string record(kRecordBytes, 'x');
  std::uint64_t appended = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(journal.append(record));
    ++appended;
    if (appended % kRecordsPerWrite == 0) benchmark::DoNotOptimize(journal.sync_once());
    if (appended % kRecordsPerCheckpoint == 0) checkpoint(journal);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kRecordBytes));
}

void journal_append_memory(benchmark::State& state) {
  const auto journal = memory_journal({});
  append_all(state, *journal);
}
BENCHMARK(journal_append_memory);

void journal_append_files_unsynced(benchmark::State& state) {
  const Directory directory;
  const auto real = PosixFiles::open(directory.path(), OpenMode::create);
  if (!real) return state.SkipWithError(real.error().message.c_str());
  UnsyncedFiles files(**real);
  Recovered recovered;
  const auto replay = [](Sequence, Location, std::string_view) -> Result<void> { return {}; };
  const auto journal = open_journal(files, {}, replay, recovered);
  if (!journal) return state.SkipWithError(journal.error().message.c_str());
  append_all(state, **journal);
}
BENCHMARK(journal_append_files_unsynced);

}  // namespace
