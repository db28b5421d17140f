#include "bench/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace redrive::bench {
namespace {

struct Field {
  std::string name;
  std::string value;
  bool is_text = false;
};

std::string number(double value) {
  return fmt::format("{:.2f}", value);
}

double per(double total, double count) {
  return count == 0 ? 0 : total / count;
}

std::vector<Field> fields_of(const Options& options, const Measurement& run,
                             const std::string& machine) {
  const double elapsed = seconds(run.elapsed);
  std::vector<Field> fields = {
      {"label", options.label, true},
      {"mode", name_of(options.mode), true},
      {"connections", std::to_string(options.connections)},
      {"batch", std::to_string(options.batch)},
      {"body_bytes", std::to_string(options.body_bytes)},
      {"seconds", number(elapsed)},
      {"messages", std::to_string(run.messages)},
      {"requests_per_second", number(per(double(run.requests), elapsed))},
      {"messages_per_second", number(per(double(run.messages), elapsed))},
      {"latency_p50_us", number(microseconds(run.latencies.within(0.5)))},
      {"latency_p99_us", number(microseconds(run.latencies.within(0.99)))},
      {"latency_max_us", number(microseconds(run.latencies.max()))},
      {"generator_cpu_share", number(per(seconds(run.generator_cpu), elapsed))},
  };
  if (run.server_cpu) {
    const double cpu = microseconds(*run.server_cpu);
    fields.push_back({"server_us_per_message", number(per(cpu, double(run.messages)))});
    fields.push_back({"server_cpu_share", number(per(seconds(*run.server_cpu), elapsed))});
  }
  fields.push_back({"commit", options.commit, true});
  fields.push_back({"machine", machine, true});
  return fields;
}

// Labels come from the command line and may contain anything; characters forbidden in JSON become
// spaces.
std::string quoted(std::string_view text, std::string_view escaped_quote) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') {
      out += escaped_quote;
    } else {
      out += c == '\\' || static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out + '"';
}

std::string as_json(const std::vector<Field>& fields) {
  std::vector<std::string> members;
  for (const Field& field : fields) {
    const std::string value = field.is_text ? quoted(field.value, "\\\"") : field.value;
    members.push_back(fmt::format("\"{}\":{}", field.name, value));
  }
  return fmt::format("{{{}}}\n", fmt::join(members, ","));
}

std::string as_csv(const std::vector<Field>& fields) {
  std::vector<std::string> names;
  std::vector<std::string> values;
  for (const Field& field : fields) {
    names.push_back(field.name);
    values.push_back(field.is_text ? quoted(field.value, "\"\"") : field.value);
  }
  return fmt::format("{}\n{}\n", fmt::join(names, ","), fmt::join(values, ","));
}

std::string as_text(const std::vector<Field>& fields) {
  std::string out;
  for (const Field& field : fields) out += fmt::format("{:<22} {}\n", field.name, field.value);
  return out;
}

}  // namespace

std::string report(const Options& options, const Measurement& measurement,
                   const std::string& machine) {
  const auto fields = fields_of(options, measurement, machine);
  switch (options.format) {
    case Format::json:
      return as_json(fields);
    case Format::csv:
      return as_csv(fields);
    case Format::text:
      break;
  }
  return as_text(fields);
}

}  // namespace redrive::bench
