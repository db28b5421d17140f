#include "aws/ssm/service.h"

namespace redrive::ssm {
namespace {

using auth::Right;

constexpr front::Action<Call> kActions[] = {
    front::action<get_parameter>("GetParameter", Right::look),
    front::action<get_parameters>("GetParameters", Right::look),
    front::action<get_parameters_by_path>("GetParametersByPath", Right::look),
    front::action<put_parameter>("PutParameter", Right::operate),
    front::action<delete_parameter>("DeleteParameter", Right::operate),
    front::action<delete_parameters>("DeleteParameters", Right::operate),
};

constexpr std::string_view kScope[] = {"ssm"};

const front::TableTraits kTraits{.name = "ssm",
                                 .scope = {.scopes = kScope},
                                 .refusal_of = front::json_refusal_of,
                                 .target_prefix = "AmazonSSM.",
                                 .json_type = "application/x-amz-json-1.1"};

}  // namespace

bool names_ssm(const http::Request& request) {
  return request.header("x-amz-target").starts_with(kTraits.target_prefix);
}

std::span<const front::Action<Call>> actions() {
  return kActions;
}

Service::Service(const Parts& parts, const front::Gate& gate, front::Observers observers,
                 front::Offload offload)
    : parts_(parts),
      api_(kTraits, kActions,
           [this](front::ActionCall call) {
             return Call{std::move(call), parts_};
           },
           {.gate = gate,
            .observers = std::move(observers),
            .offload = std::move(offload),
            .recorded = [&engine = parts_.engine] { return engine.appended(); }}) {}

}  // namespace redrive::ssm
