#include "manage/openapi.h"

#include "manage/operations.h"

namespace redrive::manage {

Result<Document> show_openapi(Call&) {
  return Document{.content_type = "application/yaml", .body = std::string(openapi_yaml())};
}

}  // namespace redrive::manage
