#include "base/md5_lanes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace redrive {
namespace {

// Every length around block boundaries, in every lane, compared with the plain digest.
TEST(Md5Many, EqualsOneByOne) {
  std::vector<std::string> texts;
  for (std::size_t size = 0; size < 200; ++size) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i) text += static_cast<char>('a' + (i * 7 + size) % 26);
    texts.push_back(std::move(text));
  }
  texts.push_back(std::string(100'000, 'x'));
  for (std::size_t count : {1u, 2u, 3u, 7u, 8u, 9u, 10u, 16u}) {
    for (std::size_t from = 0; from + count <= texts.size(); from += 5) {
      const std::vector<std::string_view> views(
          texts.begin() + static_cast<std::ptrdiff_t>(from),
          texts.begin() + static_cast<std::ptrdiff_t>(from + count));
      std::vector<Md5> digests(count);
      md5_many(views, digests);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(digests[i], md5(views[i])) << "size " << views[i].size() << " of " << count;
      }
    }
  }
}

TEST(Md5Many, OneLongAmongShortOnes) {
  const std::string long_text(1'000'003, 'y');
  const std::string_view views[] = {"a", long_text, "", "abc", long_text};
  Md5 digests[5];
  md5_many(views, digests);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(digests[i], md5(views[i])) << i;
}

}  // namespace
}  // namespace redrive
