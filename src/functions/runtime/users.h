#pragma once

#include <filesystem>
#include <optional>

#include "net/http/poller.h"

namespace redrive::runtime {

// Directory of files by which the servers of a machine agree on who uses which user id: one per
// user in use, locked by its server. A server in another network namespace sees the same files, and
// may see the same processes.
std::filesystem::path user_claims_directory();

// A user id that no other server runs processes as, while this object lives. Its file is removed
// with it; if the server is killed, the file remains, unlocked.
class BorrowedUser {
 public:
  BorrowedUser(unsigned id, std::filesystem::path path, http::Descriptor claim)
      : id_(id), path_(std::move(path)), claim_(std::move(claim)) {}
  ~BorrowedUser();
  BorrowedUser(BorrowedUser&&) noexcept = default;
  BorrowedUser& operator=(BorrowedUser&&) = delete;

  unsigned id() const { return id_; }

 private:
  unsigned id_;
  std::filesystem::path path_;
  http::Descriptor claim_;
};

// The first user in the range that is not claimed, by this server or another, and that has no
// processes.
std::optional<BorrowedUser> borrow_user(const std::filesystem::path& claims, unsigned first,
                                        unsigned count);

// Kills what a killed server left behind: processes of users in the range whose claim exists but is
// not locked. Processes of a user without a claim may not belong to a function and are left alone.
void end_stray_processes(const std::filesystem::path& claims, unsigned first, unsigned count);
// Kills everything that runs as that user; returns when nothing is left, or after a number of
// attempts.
void end_processes_of_user(unsigned user);
// The same for the session led by this process.
void end_processes_of_session(int leader);

}  // namespace redrive::runtime
