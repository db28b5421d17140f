#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.h"

namespace redrive::cloudwatch {

// A document to answer with, that can be written as XML with <member> lists or as JSON.
class Value {
 public:
  struct Field;
  using Object = std::vector<Field>;
  using List = std::vector<Value>;
  using Map = std::vector<std::pair<std::string, double>>;  // XML: <entry> with key and value.

  Value();
  Value(std::string text);
  Value(std::string_view text);
  Value(const char* text);
  Value(double number);
  Value(std::int64_t number);
  Value(bool flag);
  Value(Timestamp wall);
  Value(List list);
  Value(Map map);

  static Value texts(const std::vector<std::string>& texts);

  // Of an object: one more field, in the order of writing.
  Value& set(std::string_view name, Value value);
  bool is_empty_object() const;

  // As the child of the element that the caller has opened.
  void write_xml(std::string& out) const;
  void write_json(std::string& out) const;

 private:
  std::variant<Object, List, Map, std::string, double, std::int64_t, bool, Timestamp> held_;
};

struct Value::Field {
  std::string_view name;  // Names are constants.
  Value value;
};

// Here, where a field is complete.
inline Value::Value() : held_(Object()) {}
inline Value::Value(std::string text) : held_(std::move(text)) {}
inline Value::Value(std::string_view text) : held_(std::string(text)) {}
inline Value::Value(const char* text) : held_(std::string(text)) {}
inline Value::Value(double number) : held_(number) {}
inline Value::Value(std::int64_t number) : held_(number) {}
inline Value::Value(bool flag) : held_(flag) {}
inline Value::Value(Timestamp wall) : held_(wall) {}
inline Value::Value(List list) : held_(std::move(list)) {}
inline Value::Value(Map map) : held_(std::move(map)) {}

inline Value Value::texts(const std::vector<std::string>& texts) {
  return Value(List(texts.begin(), texts.end()));
}

}  // namespace redrive::cloudwatch
