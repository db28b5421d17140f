#include "app/buckets.h"

namespace redrive::app {
namespace {

namespace fs = std::filesystem;

fs::path root_of(const Config& config, IdSource& ids) {
  return config.memory ? fs::temp_directory_path() / ("redrive-" + ids.uuid().text())
                       : fs::path(config.data) / "objects";
}

}  // namespace

Buckets::Buckets(const Config& config, fs::path path)
    : temporary_(config.memory),
      path_(std::move(path)),
      uploads_({.object_bytes_max = config.object_bytes_max,
                .bytes_max = 4 * config.object_bytes_max}) {}

Buckets::~Buckets() {
  store_.reset();
  std::error_code ignored;
  if (temporary_) fs::remove_all(path_, ignored);
}

Result<std::unique_ptr<Buckets>> Buckets::open(const Config& config, IdSource& ids) {
  std::unique_ptr<Buckets> buckets(new Buckets(config, root_of(config, ids)));
  auto store =
      objects::Store::open({.root = buckets->path_,
                            .sync = buckets->temporary_ ? objects::Sync::no : objects::Sync::yes,
                            .object_bytes_max = config.object_bytes_max,
                            .account = config.account,
                            .separate_accounts = !config.keys.empty()});
  if (!store) return fail(ErrorCode::storage_io, store.error().message);
  buckets->store_ = *std::move(store);
  return buckets;
}

std::optional<std::string> Buckets::owner_of(const std::string& bucket) const {
  const auto info = store_->bucket(bucket);
  return info ? std::optional(info->owner) : std::nullopt;
}

Result<std::size_t> Buckets::clear() {
  uploads_.clear();
  const auto count = store_->clear();
  if (!count) return fail(ErrorCode::storage_io, count.error().message);
  return *count;
}

}  // namespace redrive::app
