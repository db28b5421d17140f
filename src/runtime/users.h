#pragma once

#include <filesystem>
#include <optional>

#include "http/poller.h"

namespace redrive::runtime {

// The files through which the servers of a machine agree on who runs functions as which user: one
// for each user in use, locked by its server. A server in another network namespace sees the same
// files, and may see the same processes.
std::filesystem::path user_claims_directory();

// A user that no other server runs processes as, for as long as this lives. Its file is removed
// with it, and stays behind, unlocked, when its server is killed.
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

// The first user of the range that is not borrowed, by this server or another, and that nothing
// runs as.
std::optional<BorrowedUser> borrow_user(const std::filesystem::path& claims, unsigned first,
                                        unsigned count);

// Kills what a server that was killed left behind: processes of users of the range whose claim is
// there and not held. Processes of a user without a claim are not known to be of a function, and
// are left alone.
void end_stray_processes(const std::filesystem::path& claims, unsigned first, unsigned count);
// Kills what still runs as that user; returns when nothing does, or nothing helps.
void end_processes_of_user(unsigned user);
// The same for the session that this process led.
void end_processes_of_session(int leader);

}  // namespace redrive::runtime
