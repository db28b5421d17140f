#include "dispatch/definitions.h"

#include "functions/codec.h"

namespace redrive::dispatch {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

struct CataloguePart {
  Entries functions;
  Entries mappings;
  Entries invoke_configs;
};

// Only copied in turn: decoding is not the engine's business.
CataloguePart copy_catalogue(engine::Engine& engine) {
  return engine.turn([](engine::Turn& turn) {
    CataloguePart part;
    for (const auto& [key, document] : turn.state().entries()) {
      const auto& [kind, name] = key;
      if (kind == queue::EntryKind::function) part.functions.emplace_back(name, document);
      if (kind == queue::EntryKind::mapping) part.mappings.emplace_back(name, document);
      if (kind == queue::EntryKind::invoke_config) part.invoke_configs.emplace_back(name, document);
    }
    return part;
  });
}

}  // namespace

Definitions read_definitions(engine::Engine& engine, const SpecOf& spec_of,
                             const std::function<void(std::string)>& log) {
  const CataloguePart part = copy_catalogue(engine);
  Definitions found;
  const auto unreadable = [&](const std::string& name, const Error& error) {
    log("the catalogue's entry " + name + " cannot be read: " + error.message);
  };
  for (const auto& [arn, document] : part.functions) {
    const auto function = functions::decode_function(document);
    if (!function) unreadable(arn, function.error());
    auto spec = function ? spec_of(arn) : nullptr;
    if (spec == nullptr) continue;
    found.functions[arn] = {.id = function->id,
                            .spec = std::move(spec),
                            .config = {},
                            .dead_letter_arn = function->dead_letter_arn};
  }
  for (const auto& [arn, document] : part.invoke_configs) {
    const auto config = functions::decode_invoke_config(document);
    if (!config) unreadable(arn, config.error());
    if (const auto at = found.functions.find(arn); config && at != found.functions.end())
      at->second.config = *config;
  }
  for (const auto& [id, document] : part.mappings) {
    auto mapping = functions::decode_mapping(document);
    if (!mapping) unreadable(id, mapping.error());
    if (mapping) found.mappings.push_back(*std::move(mapping));
  }
  return found;
}

}  // namespace redrive::dispatch
