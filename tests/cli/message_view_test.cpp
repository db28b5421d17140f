#include "cli/client/message_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace redrive::cli {
namespace {

documents::Attempt attempt(std::string_view at, std::string_view error, std::int64_t company = 0) {
  documents::Attempt made{.received_at = at, .end = "failed", .error_type = error};
  if (company > 1) {
    made.company = company;
    made.shared = true;
  }
  return made;
}

TEST(TellingAttempt, IsTheLastThatFailedAlone) {
  documents::Message message;
  EXPECT_EQ(telling_attempt(message), nullptr);
  message.attempts = {attempt("1", "Shared", 10)};
  EXPECT_EQ(telling_attempt(message)->error_type, "Shared");
  message.attempts = {attempt("1", "First"), attempt("2", "Own"), attempt("3", "Shared", 10)};
  EXPECT_EQ(telling_attempt(message)->error_type, "Own");
  message.attempts.push_back(attempt("4", ""));
  EXPECT_EQ(telling_attempt(message)->error_type, "Own");
}

TEST(TellingAttempt, IsOneSinceTheLastRedriveIfThereIsOne) {
  documents::Message message;
  message.attempts = {attempt("1", "Own"), attempt("3", "Shared", 10)};
  message.events = {{.at = "2", .what = "redriven"}};
  EXPECT_EQ(telling_attempt(message)->error_type, "Shared");
}

TEST(Attempts, SayInWhatCompanyTheyFailed) {
  std::ostringstream out;
  std::ostringstream err;
  std::istringstream in;
  const Terminal terminal{.in = in, .out = out, .err = err};
  documents::Message message;
  message.attempts_total = 1;
  message.attempts = {attempt("1", "KeyError", 10)};
  EXPECT_THAT(readable_attempts(terminal, message),
              testing::HasSubstr("failed in a batch of 10, not run alone: KeyError"));
}

}  // namespace
}  // namespace redrive::cli
