#include "cli/client/queue_name.h"

#include <fmt/format.h>

#include "aws/sqs/model/actions.h"
#include "base/text.h"

namespace redrive::cli {

Answer<std::string> find_queue_url(Service& service, std::string_view named) {
  if (named.find("://") != std::string_view::npos) return std::string(named);
  sqs::GetQueueUrlInput input{.queue_name = named};
  if (named.starts_with("arn:")) {
    const auto parts = split(named, ':');
    if (parts.size() != 6 || parts[2] != "sqs") {
      return usage_failure(fmt::format("'{}' is not the ARN of a queue", named));
    }
    input = {.queue_name = parts[5], .queue_owner_aws_account_id = parts[4]};
  }
  auto reply = service.call<sqs::GetQueueUrl>(input);
  if (reply) return std::string((*reply)->queue_url);
  Failure failure = std::move(reply).error();
  if (failure.code == kNoSuchQueue) {
    failure.message = fmt::format("no queue {}", input.queue_name);
  }
  return std::unexpected(std::move(failure));
}

std::string_view queue_name_of(std::string_view named) {
  while (named.ends_with('/')) named.remove_suffix(1);
  return named.substr(named.find_last_of("/:") + 1);
}

bool is_fifo_name(std::string_view name) {
  return name.ends_with(".fifo");
}

}  // namespace redrive::cli
