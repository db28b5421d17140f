#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/time.h"
#include "front/refusal.h"

// What this module answers: documents in the form of AWS's older Query services, in which lists are
// not flattened.

namespace redrive::iam {

enum class Service { iam, sts };

using front::Outcome;
using front::Refusal;
using front::refuse;

std::unexpected<Refusal> no_such_entity(std::string message);
Refusal refusal_of(const Error& error);

// The elements of a result, one after another.
class Xml {
 public:
  void text(std::string_view name, std::string_view value);
  void number(std::string_view name, std::int64_t value);
  void flag(std::string_view name, bool value);
  // 2026-01-31T23:59:59Z
  void time(std::string_view name, Timestamp value);
  // Calls `write` between the tags.
  template <class Write>
  void element(std::string_view name, Write write) {
    open(name);
    write();
    close(name);
  }
  // <name><member>…</member>…</name>
  template <class Items, class Write>
  void list(std::string_view name, const Items& items, Write write) {
    element(name, [&] {
      for (const auto& item : items) element("member", [&] { write(item); });
    });
  }
  // An element with contents that were written before.
  void nest(std::string_view name, const Xml& contents) {
    element(name, [&] { out_ += contents.out_; });
  }
  // Some results are empty, which is not the same to clients as having none.
  void has_result() { has_result_ = true; }
  bool is_result() const { return has_result_ || !out_.empty(); }
  const std::string& contents() const { return out_; }

 private:
  void open(std::string_view name);
  void close(std::string_view name);

  std::string out_;
  bool has_result_ = false;
};

// The whole document: <ActionResponse> with <ActionResult> around `result`, which may be empty.
std::string success_document(Service service, std::string_view action, const Xml& result,
                             std::string_view request_id);
std::string error_document(Service service, const Refusal& refusal, std::string_view request_id);

}  // namespace redrive::iam
