#pragma once

#include <string_view>
#include <vector>

#include "net/wire/shape.h"

// Files of the server with secrets of access keys that other users of its machine can read.

namespace redrive::documents {

struct ExposedKeyFile {
  std::string_view path;
  std::string_view exposed_to;  // others, group
};
consteval auto shape_of(ExposedKeyFile*) {
  return wire::shape(wire::required("path", &ExposedKeyFile::path),
                     wire::required("exposedTo", &ExposedKeyFile::exposed_to));
}

struct ExposedKeyFiles {
  std::vector<ExposedKeyFile> files;
};
consteval auto shape_of(ExposedKeyFiles*) {
  return wire::shape(wire::optional("files", &ExposedKeyFiles::files).each("file").always());
}

}  // namespace redrive::documents
