#include "objects/uploads.h"

#include <gtest/gtest.h>

namespace redrive::objects {
namespace {

Upload begin(Uploads& uploads, const std::string& key) {
  return uploads.begin({.id = {},
                        .bucket = "b",
                        .key = key,
                        .content_type = "text/plain",
                        .headers = {},
                        .begun = Timestamp(1)});
}

TEST(Uploads, JoinThePartsThatAreNamed) {
  Uploads uploads({});
  const Upload upload = begin(uploads, "k");
  const auto second = uploads.put(upload, 2, "world");
  const auto first = uploads.put(upload, 1, "hello ");
  ASSERT_TRUE(first && second && uploads.put(upload, 3, "unwanted"));
  const auto whole = uploads.join(upload, {*first, *second});
  ASSERT_TRUE(whole.has_value());
  EXPECT_EQ(whole->body, "hello world");
  EXPECT_EQ(whole->upload.content_type, "text/plain");
  EXPECT_TRUE(uploads.drop(upload).has_value());
  EXPECT_EQ(uploads.drop(upload).error().fault, Fault::no_such_upload);
}

TEST(Uploads, RefuseWhatWasNotUploadedSo) {
  Uploads uploads({.object_bytes_max = 10});
  const Upload upload = begin(uploads, "k");
  const auto part = uploads.put(upload, 1, "12345678");
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(uploads.put(upload, 0, "x").error().fault, Fault::invalid_part);
  EXPECT_EQ(uploads.put(upload, 10'001, "x").error().fault, Fault::invalid_part);
  EXPECT_EQ(uploads.put(upload, 2, "123").error().fault, Fault::too_large);
  EXPECT_TRUE(uploads.put(upload, 1, "1234567890").has_value());  // Replaces the earlier part.
  EXPECT_EQ(uploads.join(upload, {*part}).error().fault, Fault::invalid_part);
  EXPECT_EQ(uploads.join(upload, {}).error().fault, Fault::invalid_part);
  EXPECT_EQ(uploads.join(upload, {*part, *part}).error().fault, Fault::invalid_part);
  Upload other = upload;
  other.key = "other";
  EXPECT_EQ(uploads.show(other).error().fault, Fault::no_such_upload);
}

TEST(Uploads, ForgetTheIdlestWhenThereIsNoRoom) {
  Uploads uploads({.object_bytes_max = 10, .bytes_max = 20, .count_max = 3});
  const Upload first = begin(uploads, "a");
  const Upload second = begin(uploads, "b");
  const Upload third = begin(uploads, "c");
  ASSERT_TRUE(uploads.put(first, 1, "1234567890"));
  ASSERT_TRUE(uploads.put(second, 1, "1234567890"));
  ASSERT_TRUE(uploads.show(first));
  ASSERT_TRUE(uploads.show(third));
  ASSERT_TRUE(uploads.put(third, 1, "12345"));
  EXPECT_FALSE(uploads.show(second).has_value());
  EXPECT_TRUE(uploads.show(first).has_value());
  begin(uploads, "d");
  begin(uploads, "e");
  EXPECT_FALSE(uploads.show(third).has_value());
  EXPECT_EQ(uploads.of_bucket("b").size(), 3u);
  EXPECT_TRUE(uploads.of_bucket("elsewhere").empty());
}

}  // namespace
}  // namespace redrive::objects
