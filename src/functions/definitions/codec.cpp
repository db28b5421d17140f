#include "functions/definitions/codec.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <concepts>
#include <type_traits>

#include "net/wire/encode.h"

namespace redrive::functions {
namespace {

namespace dom = simdjson::dom;

// One list of members for both directions: `Fields` is a writer or a reader.

template <class Fields>
void members(Fields& fields, FunctionId& id) {
  fields("account", id.account);
  fields("region", id.region);
  fields("name", id.name);
}

template <class Fields>
void members(Fields& fields, CodeRecord& code) {
  fields("sha256", code.sha256);
  fields("size", code.size);
  fields("runtime", code.runtime);
  fields("handler", code.handler);
  fields("deployed", code.deployed_wall);
}

template <class Fields>
void members(Fields& fields, Function& function) {
  fields("id", function.id);
  fields("description", function.description);
  fields("runtime", function.runtime);
  fields("handler", function.handler);
  fields("role", function.role);
  fields("timeout", function.timeout);
  fields("memory", function.memory_mb);
  fields("environment", function.environment);
  fields("tags", function.tags);
  fields("concurrency", function.reserved_concurrency);
  fields("deadLetter", function.dead_letter_arn);
  fields("codeSha256", function.code_sha256);
  fields("codeSize", function.code_size);
  fields("directory", function.directory);
  fields("command", function.command);
  fields("url", function.url);
  fields("architecture", function.architecture);
  fields("storage", function.storage_mb);
  fields("tracing", function.tracing);
  fields("logFormat", function.log_format);
  fields("applicationLogLevel", function.application_log_level);
  fields("systemLogLevel", function.system_log_level);
  fields("logGroup", function.log_group);
  fields("kmsKey", function.kms_key_arn);
  fields("sourceKmsKey", function.source_kms_key_arn);
  fields("runtimeVersion", function.runtime_version_arn);
  fields("permissions", function.permissions);
  fields("revision", function.revision);
  fields("modified", function.modified_wall);
  fields("version", function.version);
  fields("versions", function.versions);
  fields("aliases", function.aliases);
  fields("versionLast", function.version_last);
  fields("codeHistory", function.code_history);
}

template <class Fields>
void members(Fields& fields, Alias& alias) {
  fields("name", alias.name);
  fields("version", alias.version);
  fields("description", alias.description);
  fields("revision", alias.revision);
}

template <class Fields>
void members(Fields& fields, Retrier& retrier) {
  bool full = retrier.jitter == Retrier::Jitter::full;
  fields("errors", retrier.error_equals);
  fields("interval", retrier.interval_seconds);
  fields("attempts", retrier.max_attempts);
  fields("rate", retrier.backoff_rate);
  fields("delayMax", retrier.max_delay_seconds);
  fields("jitter", full);
  retrier.jitter = full ? Retrier::Jitter::full : Retrier::Jitter::none;
}

template <class Fields>
void members(Fields& fields, Mapping& mapping) {
  fields("id", mapping.id);
  fields("account", mapping.account);
  fields("region", mapping.region);
  fields("queue", mapping.queue_arn);
  fields("function", mapping.function_arn);
  fields("enabled", mapping.enabled);
  fields("batchSize", mapping.batch_size);
  fields("window", mapping.window);
  fields("itemFailures", mapping.report_item_failures);
  fields("filters", mapping.filters);
  fields("concurrencyMax", mapping.concurrency_max);
  fields("pollersMin", mapping.pollers_min);
  fields("pollersMax", mapping.pollers_max);
  fields("countsEvents", mapping.counts_events);
  fields("tags", mapping.tags);
  fields("modified", mapping.modified_wall);
  fields("bisect", mapping.bisect);
  fields("retriesMax", mapping.retries_max);
  fields("ageMax", mapping.age_max);
  fields("onSuccess", mapping.on_success);
  fields("onFailure", mapping.on_failure);
  fields("retriers", mapping.retriers);
  fields("isolateRetries", mapping.isolate_retries);
}

template <class Fields>
void members(Fields& fields, InvokeConfig& config) {
  fields("function", config.function_arn);
  fields("retriesMax", config.retries_max);
  fields("ageMax", config.age_max);
  fields("onSuccess", config.on_success);
  fields("onFailure", config.on_failure);
  fields("modified", config.modified_wall);
}

template <class T>
concept Number = std::is_arithmetic_v<T> && !std::same_as<T, bool>;
template <class T>
concept Member =
    std::same_as<T, FunctionId> || std::same_as<T, Retrier> || std::same_as<T, CodeRecord>;

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  // Empty optionals are omitted.
  template <class T>
  void operator()(std::string_view name, std::optional<T>& value) {
    if (value) (*this)(name, *value);
  }
  template <class T>
  void operator()(std::string_view name, T& value) {
    out_ += std::exchange(first_, false) ? '{' : ',';
    wire::append_json_text(out_, name);
    out_ += ':';
    put(value);
  }
  void end() { out_ += first_ ? "{}" : "}"; }

 private:
  void put(const std::string& text) { wire::append_json_text(out_, text); }
  void put(bool flag) { out_ += flag ? "true" : "false"; }
  void put(Number auto number) { out_ += fmt::to_string(number); }
  void put(std::chrono::seconds time) { put(time.count()); }
  void put(Timestamp time) { put(time.ms()); }
  void put(const std::map<std::string, std::string>& texts) {
    Writer inner(out_);
    for (const auto& [name, text] : texts) inner(name, text);
    inner.end();
  }
  template <class T>
  void put(std::vector<T>& items) {
    out_ += '[';
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out_ += ',';
      put(items[i]);
    }
    out_ += ']';
  }
  void put(Member auto& record) {
    Writer inner(out_);
    members(inner, record);
    inner.end();
  }

  std::string& out_;
  bool first_ = true;
};

// Members of an unexpected type leave the value unchanged; `whole()` then returns false.
class Reader {
 public:
  explicit Reader(dom::object object) : object_(object) {}

  template <class T>
  void operator()(std::string_view name, T& value) {
    dom::element element;
    if (object_[name].get(element) == simdjson::SUCCESS && !take(element, value)) whole_ = false;
  }
  bool whole() const { return whole_; }

 private:
  template <class T>
  static bool take(dom::element element, std::optional<T>& value) {
    return take(element, value.emplace());
  }
  static bool take(dom::element element, std::string& text) {
    std::string_view view;
    if (element.get(view) != simdjson::SUCCESS) return false;
    text = view;
    return true;
  }
  static bool take(dom::element element, bool& flag) {
    return element.get(flag) == simdjson::SUCCESS;
  }
  static bool take(dom::element element, double& number) {
    return element.get(number) == simdjson::SUCCESS;
  }
  static bool take(dom::element element, std::integral auto& number) {
    std::int64_t wide = 0;
    if (element.get(wide) != simdjson::SUCCESS) return false;
    if (!std::in_range<std::remove_cvref_t<decltype(number)>>(wide)) return false;
    number = static_cast<std::remove_cvref_t<decltype(number)>>(wide);
    return true;
  }
  static bool take(dom::element element, std::chrono::seconds& time) {
    std::int64_t count = 0;
    if (!take(element, count)) return false;
    time = std::chrono::seconds(count);
    return true;
  }
  static bool take(dom::element element, Timestamp& time) {
    std::int64_t milliseconds = 0;
    if (!take(element, milliseconds)) return false;
    time = Timestamp(milliseconds);
    return true;
  }
  static bool take(dom::element element, std::map<std::string, std::string>& texts) {
    dom::object object;
    if (element.get(object) != simdjson::SUCCESS) return false;
    for (const auto& [name, value] : object) {
      if (!take(value, texts[std::string(name)])) return false;
    }
    return true;
  }
  template <class T>
  static bool take(dom::element element, std::vector<T>& items) {
    dom::array array;
    if (element.get(array) != simdjson::SUCCESS) return false;
    for (const dom::element each : array) {
      if (!take(each, items.emplace_back())) return false;
    }
    return true;
  }
  static bool take(dom::element element, Member auto& record) {
    dom::object object;
    if (element.get(object) != simdjson::SUCCESS) return false;
    Reader inner(object);
    members(inner, record);
    return inner.whole();
  }

  dom::object object_;
  bool whole_ = true;
};

template <class T>
std::string encode_document(T value) {
  std::string out;
  Writer writer(out);
  members(writer, value);
  writer.end();
  return out;
}

template <class T>
Result<T> decode_document(std::string_view document) {
  dom::parser parser;
  dom::object object;
  T value;
  if (parser.parse(document.data(), document.size()).get(object) == simdjson::SUCCESS) {
    Reader reader(object);
    members(reader, value);
    if (reader.whole()) return value;
  }
  return fail(ErrorCode::storage_damaged, "Cannot read an entry of the catalogue.");
}

}  // namespace

std::string encode(const Function& function) {
  return encode_document(function);
}

std::string encode(const Mapping& mapping) {
  return encode_document(mapping);
}

std::string encode(const InvokeConfig& config) {
  return encode_document(config);
}

std::string encode(const Alias& alias) {
  return encode_document(alias);
}

Result<Function> decode_function(std::string_view document) {
  return decode_document<Function>(document);
}

Result<Mapping> decode_mapping(std::string_view document) {
  return decode_document<Mapping>(document);
}

Result<InvokeConfig> decode_invoke_config(std::string_view document) {
  return decode_document<InvokeConfig>(document);
}

Result<Alias> decode_alias(std::string_view document) {
  return decode_document<Alias>(document);
}

}  // namespace redrive::functions
