#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "net/wire/shape.h"

namespace redrive::wire {

// A struct with a member of every kind, for the tests of the codecs.
struct Stamp {
  std::string_view country;
  std::optional<std::int32_t> cents;
  std::optional<Blob> image;

  bool operator==(const Stamp&) const = default;
};
consteval auto shape_of(Stamp*) {
  return shape(required("Country", &Stamp::country),
               optional("Cents", &Stamp::cents),
               optional("Image", &Stamp::image));
}

struct Parcel {
  std::string_view sender;
  std::string_view letter;
  std::int32_t weight = 0;
  std::optional<std::int32_t> floor;
  std::optional<std::int64_t> posted_at;
  std::optional<double> litres;
  bool fragile = false;
  std::optional<Uuid> id;
  std::optional<Md5> digest;
  std::optional<std::string_view> note;
  std::optional<Stamp> seal;
  std::vector<std::string_view> routes;
  std::vector<Stamp> stamps;
  std::vector<std::pair<std::string_view, std::string_view>> labels;
  std::vector<std::pair<std::string_view, Stamp>> extras;

  bool operator==(const Parcel&) const = default;
};
consteval auto shape_of(Parcel*) {
  return shape(optional("Sender", &Parcel::sender),
               required("Letter", &Parcel::letter).filled().content(),
               required("Weight", &Parcel::weight).between(0, 900, "Too heavy or too light."),
               optional("Floor", &Parcel::floor),
               optional("PostedAt", &Parcel::posted_at),
               optional("Litres", &Parcel::litres),
               optional("Fragile", &Parcel::fragile),
               optional("Id", &Parcel::id),
               optional("Digest", &Parcel::digest),
               optional("Note", &Parcel::note),
               optional("Seal", &Parcel::seal),
               optional("Routes", &Parcel::routes).each("Route").always(),
               optional("Stamps", &Parcel::stamps).each("Stamp"),
               optional("Labels", &Parcel::labels).each("Label", "Key"),
               optional("Extras", &Parcel::extras).each("Extra").content());
}

// Every member is set, with characters that each protocol has to escape.
inline Parcel full_parcel() {
  return {
      .sender = "Zoë \"Z\" <z&co>",
      .letter = "line one\r\nline two\t\\ \x01 100% + more",
      .weight = 900,
      .floor = -2,
      .posted_at = 1767268800000,
      .litres = 0.125,
      .fragile = true,
      .id = Uuid::parse("5fea7756-0ea4-451a-a703-a558b933e274"),
      .digest = md5("letter"),
      .note = "",
      .seal = Stamp{.country = "AT", .cents = std::nullopt, .image = Blob{""}},
      .routes = {"north", "", "a=b&c"},
      .stamps = {{.country = "NL", .cents = 80, .image = Blob{std::string_view("\0\xff\x10", 3)}},
                 {.country = "", .cents = 0, .image = std::nullopt}},
      .labels = {{"k1", "v.1"}, {"", "empty key"}, {"k.3", ""}},
      .extras = {{"first", {.country = "DE", .cents = 1, .image = std::nullopt}},
                 {"second", {.country = "FR", .cents = std::nullopt, .image = std::nullopt}}},
  };
}

}  // namespace redrive::wire
