#include <cmath>
#include <limits>

#include "dead_letters/triage/features.h"

// Version 2. Numbers are LEB128 (seven bits per byte, lowest first), texts have a length prefix:
//
//   2  total  with_group  kinds[8]  sizes[24]
//   attributes_full  count  { name  with  values(types)  values(values) }*
//   root: with  types[6]
//   count  { parent  in_array  name  with  types[6]  values }*
//   count  { field }*                                        fields with incomplete children
//
//   seen  capacity  count  { flags  count  { entry }* }*     the sample; flags: 1 body read, 2 cut
//
//   values: 0 for many, else count + 1, then { text  count }*
//   entry:  path (4 bytes)  type, then for strings: length  patterns  value (8 bytes),
//           numbers: value (8 bytes), booleans and arrays: value
//
// Version 1 ends before the sample; it is still read. Fixed-size fields are little-endian.

namespace redrive::triage {
namespace {

constexpr std::uint64_t kVersion = 2;
constexpr std::uint64_t kVersionWithoutSample = 1;
constexpr std::uint64_t kBodyRead = 1;
constexpr std::uint64_t kRowCut = 2;
constexpr std::size_t kPathBytes = 4;
constexpr std::size_t kValueBytes = 8;
// Prevents overflow when decoded counts are added.
constexpr std::uint64_t kCountMax = std::uint64_t{1} << 48;

class Writer {
 public:
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_ += static_cast<char>(value | 0x80);
    out_ += static_cast<char>(value);
  }
  template <class Numbers>
  void numbers(const Numbers& values) {
    for (const std::uint64_t value : values) number(value);
  }
  void text(std::string_view text) {
    number(text.size());
    out_ += text;
  }
  void values(const ValueCounts& counts) {
    if (counts.many()) return number(0);
    number(counts.values().size() + 1);
    for (const auto& value : counts.values()) {
      text(value.text);
      number(value.count);
    }
  }
  void fixed(std::uint64_t value, std::size_t bytes) {
    for (; bytes > 0; --bytes, value >>= 8) out_ += static_cast<char>(value & 0xff);
  }
  void entry(const RowEntry& entry) {
    fixed(entry.path, kPathBytes);
    number(static_cast<std::uint64_t>(entry.type));
    if (entry.type == JsonType::string) {
      number(entry.length);
      number(entry.patterns);
    }
    if (entry.type == JsonType::string || entry.type == JsonType::number) {
      fixed(entry.value, kValueBytes);
    } else if (entry.type == JsonType::boolean || entry.type == JsonType::array) {
      number(entry.value);
    }
  }
  void sample(const RowSample& sample) {
    number(sample.seen());
    number(sample.capacity());
    number(sample.rows().size());
    for (const Row& row : sample.rows()) {
      number((row.body_read ? kBodyRead : 0) | (row.cut ? kRowCut : 0));
      number(row.entries.size());
      for (const RowEntry& one : row.entries) entry(one);
    }
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

}  // namespace

std::string FeatureCounts::encode() const {
  Writer out;
  out.number(kVersion);
  out.number(total_);
  out.number(with_group_);
  out.numbers(kinds_);
  out.numbers(sizes_);
  out.number(attributes_full_ ? 1 : 0);
  out.number(attributes_.size());
  for (const AttributeCounts& attribute : attributes_) {
    out.text(attribute.name);
    out.number(attribute.with);
    out.values(attribute.types);
    out.values(attribute.values);
  }
  const std::vector<JsonField>& fields = json_.all();
  out.number(fields[0].with);
  out.numbers(fields[0].types);
  out.number(fields.size() - 1);
  std::vector<std::uint64_t> full;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const JsonField& field = fields[i];
    if (field.children_full) full.push_back(i);
    if (i == 0) continue;
    out.number(field.parent);
    out.number(field.in_array ? 1 : 0);
    out.text(field.name);
    out.number(field.with);
    out.numbers(field.types);
    out.values(field.values);
  }
  out.number(full.size());
  out.numbers(full);
  out.sample(sample_);
  return out.take();
}

// After the first invalid field all results are zero or empty; errors are checked at the end.
class FeatureReader {
 public:
  explicit FeatureReader(std::string_view bytes) : bytes_(bytes) {}

  Result<FeatureCounts> read() {
    const std::uint64_t version = number(std::numeric_limits<std::uint64_t>::max());
    if (version != kVersion && version != kVersionWithoutSample) {
      return fail(ErrorCode::storage_foreign, "Feature counts of an unknown version.");
    }
    FeatureCounts counts;
    counts.total_ = number(kCountMax);
    total_ = counts.total_;
    counts.with_group_ = number(total_);
    numbers(counts.kinds_);
    numbers(counts.sizes_);
    expect(sum(counts.kinds_) == total_ && sum(counts.sizes_) == total_);
    attributes(counts);
    fields(counts);
    if (version == kVersion) sample(counts.sample_);
    expect(bytes_.empty());
    if (!ok_) return fail(ErrorCode::storage_damaged, "Feature counts are damaged.");
    return counts;
  }

 private:
  void expect(bool holds) { ok_ = ok_ && holds; }

  std::uint64_t number(std::uint64_t max) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; ok_ && shift < 64; shift += 7) {
      if (bytes_.empty()) break;
      const auto byte = static_cast<unsigned char>(bytes_[0]);
      bytes_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) {
        expect(value <= max);
        return ok_ ? value : 0;
      }
    }
    ok_ = false;
    return 0;
  }

  template <class Numbers>
  void numbers(Numbers& values) {
    for (std::uint64_t& value : values) value = number(total_);
  }

  template <class Numbers>
  static std::uint64_t sum(const Numbers& values) {
    std::uint64_t sum = 0;
    for (const std::uint64_t value : values) sum += value;
    return sum;
  }

  std::string_view text(std::size_t max) {
    const std::size_t size = number(max);
    expect(size <= bytes_.size());
    if (!ok_) return {};
    const std::string_view text = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return text;
  }

  void values(ValueCounts& into, ValueBudget& budget) {
    const std::uint64_t count = number(ValueCounts::kValuesMax + 1);
    if (count == 0) return into.become_many(budget);
    for (std::uint64_t i = 1; ok_ && i < count; ++i) {
      const std::string_view value = text(ValueCounts::kValueBytesMax);
      const std::uint64_t times = number(total_);
      expect(times > 0 && into.count_of(value) == 0);
      into.add(value, times, budget);
    }
    expect(into.values().size() + 1 == count);
  }

  void attributes(FeatureCounts& counts) {
    counts.attributes_full_ = number(1) == 1;
    const std::uint64_t count = number(FeatureCounts::kAttributesMax);
    for (std::uint64_t i = 0; ok_ && i < count; ++i) {
      AttributeCounts attribute{.name = std::string(text(FeatureCounts::kAttributeNameBytesMax)),
                                .with = number(total_)};
      values(attribute.types, counts.budget_);
      values(attribute.values, counts.budget_);
      expect(counts.find_attribute(attribute.name) == nullptr);
      counts.attributes_.push_back(std::move(attribute));
    }
  }

  void fields(FeatureCounts& counts) {
    JsonField root{.with = number(total_)};
    numbers(root.types);
    counts.json_.restore_root(root);
    const std::uint64_t count = number(JsonFields::kFieldsMax - 1);
    for (std::uint64_t i = 0; ok_ && i < count; ++i) {
      JsonField field{.parent = static_cast<std::uint16_t>(number(i)), .in_array = number(1) == 1};
      field.name = text(JsonFields::kNameBytesMax);
      field.with = number(total_);
      numbers(field.types);
      values(field.values, counts.budget_);
      expect(counts.json_.restore(std::move(field)));
    }
    const std::uint64_t full = number(JsonFields::kFieldsMax);
    for (std::uint64_t i = 0; ok_ && i < full; ++i) {
      counts.json_.restore_full(static_cast<std::uint16_t>(number(count)));
    }
  }

  std::uint64_t fixed(std::size_t bytes) {
    expect(bytes <= bytes_.size());
    if (!ok_) return 0;
    std::uint64_t value = 0;
    for (std::size_t i = bytes; i-- > 0;) {
      value = value << 8 | static_cast<unsigned char>(bytes_[i]);
    }
    bytes_.remove_prefix(bytes);
    return value;
  }

  RowEntry entry() {
    RowEntry entry{.path = static_cast<PathHash>(fixed(kPathBytes)),
                   .type = static_cast<JsonType>(number(kJsonTypes - 1))};
    switch (entry.type) {
      case JsonType::string:
        entry.length = static_cast<std::uint16_t>(number(0xffff));
        entry.patterns = static_cast<std::uint8_t>(number(0xff));
        entry.value = fixed(kValueBytes);
        break;
      case JsonType::number:
        entry.value = fixed(kValueBytes);
        expect(std::isfinite(number_in(entry)));
        break;
      case JsonType::boolean:
        entry.value = number(1);
        break;
      case JsonType::array:
        entry.value = number(kCountMax);
        break;
      default:
        break;
    }
    return entry;
  }

  Row row() {
    Row row;
    const std::uint64_t flags = number(kBodyRead | kRowCut);
    row.body_read = (flags & kBodyRead) != 0;
    row.cut = (flags & kRowCut) != 0;
    const std::uint64_t count = number(Row::kEntriesMax);
    row.entries.reserve(count);
    for (std::uint64_t i = 0; ok_ && i < count; ++i) {
      row.entries.push_back(entry());
      expect(i == 0 || comes_before(row.entries[i - 1], row.entries[i]));
    }
    return row;
  }

  void sample(RowSample& into) {
    const std::uint64_t seen = number(total_);
    const std::uint64_t capacity = number(RowSample::kRowsMax);
    const std::uint64_t count = number(capacity);
    std::vector<Row> rows;
    rows.reserve(count);
    for (std::uint64_t i = 0; ok_ && i < count; ++i) rows.push_back(row());
    expect(ok_ && into.restore(seen, capacity, std::move(rows)));
  }

  std::string_view bytes_;
  std::uint64_t total_ = 0;
  bool ok_ = true;
};

Result<FeatureCounts> FeatureCounts::decode(std::string_view bytes) {
  return FeatureReader(bytes).read();
}

}  // namespace redrive::triage
