#include "cli/client/command.h"

#include <fmt/format.h>

#include "cli/client/endpoint.h"

namespace redrive::cli {
namespace {

void add_common_options(Verb verb, CommonOptions& options) {
  verb.option("--endpoint-url",
              options.client.endpoint_url,
              fmt::format("Server URL (default {})", kDefaultEndpointUrl))
      .group("Connection");
  verb.option("--region", options.client.region, "AWS region (default us-east-1)")
      .group("Connection");
  verb.option(
          "--profile", options.client.profile, "Profile in ~/.aws/config and ~/.aws/credentials")
      .group("Connection");
  verb.flag("--no-sign-request", options.no_sign_request, "Do not sign requests")
      .group("Connection");
  verb.option("--ca-bundle", options.ca_bundle, "PEM file of trusted certificate authorities")
      .value_name("FILE")
      .group("Connection");
  verb.flag("--no-verify-ssl", options.no_verify_ssl, "Do not verify the server's certificate")
      .group("Connection");
  verb.flag("--json", options.json, "Print JSON, one document per line");
}

Answer<Session> open(World& world, const CommonOptions& options, const std::string& queue) {
  Endpoint endpoint = TRY(resolve_endpoint(options, world.environment, queue));
  return Session{.world = world,
                 .json = options.json,
                 .endpoint = endpoint,
                 .service = Service(endpoint, world.connect(), world.clock)};
}

}  // namespace

int report(const Failure& failure, const std::string& verb, Terminal& terminal) {
  if (failure.kind == Failure::Kind::reported) return failure.exit_code;
  terminal.out.flush();
  if (failure.kind == Failure::Kind::usage) {
    terminal.err << fmt::format(
        "redrive: {}\nTry: {} --help\n", harmless_lines(failure.message), verb);
    return 2;
  }
  // With a code it is a response, which may quote untrusted text: restrict it to one line.
  const bool answered = !failure.code.empty();
  const std::string code = answered ? harmless(failure.code) + ": " : "";
  terminal.err << fmt::format(
      "redrive: {}{}\n",
      code,
      answered ? harmless(failure.message) : harmless_lines(failure.message));
  return 1;
}

void Commands::attach(Verb verb, Run run, QueueNamed queue_named) {
  auto options = std::make_shared<CommonOptions>();
  add_common_options(verb, *options);
  attach_offline(verb, [options, run, queue_named](World& world) -> Answer<void> {
    Session session = TRY(open(world, *options, queue_named()));
    return run(session);
  });
}

void Commands::attach_offline(Verb verb, std::function<Answer<void>(World&)> run) {
  verb.runs([&world = world_, &exit_code = exit_code_, verb, run] {
    const auto done = run(world);
    exit_code = done ? 0 : report(done.error(), verb.full_name(), world.terminal);
    world.terminal.out.flush();
  });
}

}  // namespace redrive::cli
