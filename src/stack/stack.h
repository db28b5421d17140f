#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "stack/node.h"

namespace redrive::stack {

using Tags = std::map<std::string, std::string>;

// The kinds of resources, in order of creation; removal is in reverse.
enum class Kind : std::uint8_t { bucket, queue, function, invoke_config, mapping, alarm };
std::string_view kind_name(Kind kind);

// Among the properties of a queue, besides its SQS attributes: its dead-letter policy, a document
// of the management API.
inline constexpr std::string_view kDeadLetters = "DeadLetters";

// Where a function's code comes from.
struct Code {
  enum class From : std::uint8_t {
    text,       // One file, inline in the template.
    path,       // A zip, or a file or directory to be packed.
    bucket,     // An object on the server.
    directory,  // Not copied: the server runs it in place.
  };
  From from = From::text;
  std::string text;            // For From::text.
  std::filesystem::path path;  // For From::path and From::directory.
  std::string bucket_name;     // For From::bucket, like the next.
  std::string key;
};

// A wanted resource.
struct Resource {
  Kind kind;
  std::string id;  // Its id in the file.
  // Its name on the server. For a mapping: the queue's ARN and the function's name.
  std::string name;
  // As in its API: the attributes of a queue (all texts), the members of CreateFunction,
  // CreateEventSourceMapping, PutMetricAlarm.
  Node properties = Node::map();
  Tags tags;
  std::optional<Code> code;

  std::string title() const;  // For display: "queue orders".
};

struct Stack {
  std::string name;
  std::vector<Resource> resources;
  std::vector<std::string> notes;  // What was left out, and why.
};

// Context that a file does not contain.
struct Surroundings {
  std::string stack_name;
  std::string account;
  std::string region;
  std::string endpoint;             // http://127.0.0.1:9324, for queue URLs.
  std::filesystem::path directory;  // Directory of the file: code is relative to it.
  std::map<std::string, std::string> parameters;

  std::string arn(std::string_view service, std::string_view rest) const;
  std::string queue_arn(std::string_view name) const { return arn("sqs", name); }
  std::string queue_url(std::string_view name) const;
  std::string function_arn(std::string_view name) const;
};

// A CloudFormation template, including those of SAM and the CDK, with its functions resolved and
// its resources translated. Unsupported resources become notes. `assets` is the CDK's asset
// manifest, or null.
Result<Stack> read_template(const Node& root, const Node& assets, const Surroundings& around);
// Redrive's own format, from a TOML document. Server settings in the same file are ignored.
Result<Stack> read_topology(const Node& root, const Surroundings& around);
Result<Node> read_toml(std::string_view text);

// Sorts queues after their dead-letter queues, and everything else by kind. Refuses duplicate names
// and dead-letter cycles.
Result<void> put_in_order(Stack& stack);

// The name of a mapping.
std::string mapping_name(std::string_view queue_arn, std::string_view function_name);
std::string_view last_part(std::string_view arn);

}  // namespace redrive::stack
