#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/client/rest.h"
#include "cli/client/session.h"
#include "stack/plan.h"

namespace redrive::cli {

// A server as seen by `redrive apply`: the current state of a stack's resources, and the calls that
// change it. Uses only standard calls of SQS, Lambda, S3 and CloudWatch, and the management API for
// dead-letter policies.
class StackSite {
 public:
  explicit StackSite(Session& session)
      : session_(session), rest_(session.endpoint, session.world.connect(), session.world.clock) {}

  // The caller's account.
  Answer<std::string> account();

  // Removes what the server does not support from the stack, with a note for each.
  Answer<void> leave_out_unknown(stack::Stack& stack);
  // Packs the code of every function and adds its digest to the properties.
  Answer<void> pack_code(stack::Stack& stack);
  // Existing resources that the stack names, and everything else that it created earlier.
  Answer<std::vector<stack::Actual>> look(const stack::Stack& stack);

  Answer<void> perform(const stack::PlanItem& item);

 private:
  using Actuals = std::vector<stack::Actual>;

  Answer<bool> has_functions();
  Answer<bool> has_alarms();
  Answer<void> look_at_buckets(const stack::Stack& stack, Actuals& out);
  Answer<void> look_at_queues(const stack::Stack& stack, Actuals& out);
  Answer<stack::Node> dead_letter_policy(std::string_view method, const std::string& queue,
                                         const stack::Node& body = {});
  Answer<void> look_at_functions(const stack::Stack& stack, Actuals& out);
  Answer<void> look_at_invocation(const stack::Actual& function, Actuals& out);
  Answer<void> look_at_mappings(const stack::Stack& stack, Actuals& out);
  Answer<void> look_at_alarms(const stack::Stack& stack, Actuals& out);
  Answer<stack::Tags> lambda_tags(const std::string& arn);

  Answer<void> perform_bucket(const stack::PlanItem& item);
  Answer<void> perform_queue(const stack::PlanItem& item);
  Answer<void> perform_function(const stack::PlanItem& item);
  Answer<void> create_function(const stack::PlanItem& item);
  Answer<void> change_function(const stack::PlanItem& item);
  Answer<void> set_concurrency(const std::string& name, const stack::Node& value);
  Answer<void> perform_invocation(const stack::PlanItem& item);
  Answer<void> perform_mapping(const stack::PlanItem& item);
  Answer<void> perform_alarm(const stack::PlanItem& item);
  Answer<void> tag_lambda(const std::string& arn, const stack::PlanItem& item);
  stack::Node code_of(const stack::Resource& function) const;

  Session& session_;
  RestClient rest_;
  std::map<std::string, std::string> packages_;  // Zips, by function name.
};

}  // namespace redrive::cli
