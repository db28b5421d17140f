#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "net/wire/checks.h"
#include "net/wire/decoder.h"
#include "net/wire/encode.h"
#include "tests/net/wire/parcel.h"

namespace redrive::wire {
namespace {

class QuerySource : public testing::Test {
 protected:
  Result<void> decode(std::string_view form, std::string_view query = "") {
    return decode_query(decoder_, query, keep(form), parcel_);
  }
  // The letter and the weight are required; the test case is the rest.
  Result<void> decode_more(std::string_view more) {
    return decode("Letter=hi&Weight=1&" + std::string(more));
  }
  std::string_view keep(std::string_view text) { return texts_.emplace_back(text); }

  Decoder decoder_;
  Parcel parcel_;
  std::deque<std::string> texts_;
};

TEST_F(QuerySource, ReadsBackWhatTheSinkWrites) {
  std::string form;
  encode_query(form, full_parcel());
  const auto result = decode(form);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(parcel_, full_parcel());
}

TEST_F(QuerySource, WritesFlatNames) {
  std::string form;
  encode_query(form,
               Parcel{.letter = "a b&c",
                      .weight = 1,
                      .seal = Stamp{.country = "AT"},
                      .routes = {"r"},
                      .stamps = {{.country = "NL", .cents = 80}},
                      .labels = {{"k", "v"}},
                      .extras = {{"x", {.country = "DE"}}}});
  EXPECT_EQ(
      form,
      "&Letter=a%20b%26c&Weight=1&Fragile=false&Seal.Country=AT&Route.1=r&Stamp.1.Country=NL"
      "&Stamp.1.Cents=80&Label.1.Key=k&Label.1.Value=v&Extra.1.Name=x&Extra.1.Value.Country=DE");
}

TEST_F(QuerySource, ReadsNames) {
  const Parcel plain{.letter = "hi", .weight = 1};
  const auto with = [&](auto change) {
    Parcel parcel = plain;
    change(parcel);
    return parcel;
  };
  const struct {
    std::string_view form;
    Parcel expected;
  } cases[] = {
      {"", plain},
      {"&&&", plain},
      {"Action=Post&Version=2012-11-05&Unknown.1.Thing=x", plain},
      {"Note", with([](Parcel& p) { p.note = ""; })},
      {"Note=", with([](Parcel& p) { p.note = ""; })},
      {"Note=a=b", with([](Parcel& p) { p.note = "a=b"; })},
      {"Note=a+b%2B%25", with([](Parcel& p) { p.note = "a b+%"; })},
      {"Note=100%&Floor=2", with([](Parcel& p) { p.note = "100%", p.floor = 2; })},
      {"Note=%4", with([](Parcel& p) { p.note = "%4"; })},
      {"Note=%zz%41", with([](Parcel& p) { p.note = "%zzA"; })},
      {"N%6fte=x", with([](Parcel& p) { p.note = "x"; })},
      {"Note=one&Note=two", with([](Parcel& p) { p.note = "two"; })},
      {"Fragile=TRUE", with([](Parcel& p) { p.fragile = true; })},
      {"Route.1=a&Route.2=b", with([](Parcel& p) {
         p.routes = {"a", "b"};
       })},
      {"Route.7=b&Route.3=a", with([](Parcel& p) {
         p.routes = {"a", "b"};
       })},
      {"Route.10=b&Route.9=a", with([](Parcel& p) {
         p.routes = {"a", "b"};
       })},
      {"Route.1=a&Route.1=b", with([](Parcel& p) { p.routes = {"b"}; })},
      {"Route=a", with([](Parcel& p) { p.routes = {"a"}; })},
      {"Route.1.Odd=a", plain},
      {"Label.Key=k&Label.Value=v", with([](Parcel& p) {
         p.labels = {{"k", "v"}};
       })},
      {"Label.2.Value=v&Label.2.Key=k", with([](Parcel& p) {
         p.labels = {{"k", "v"}};
       })},
      {"Label.1.Key=k&Label.1.Value=1&Label.2.Key=k&Label.2.Value=2", with([](Parcel& p) {
         p.labels = {{"k", "2"}};
       })},
      {"Label.1.Value=v", with([](Parcel& p) {
         p.labels = {{"", "v"}};
       })},
      {"Extra.1.Name=x&Extra.1.Value.Country=DE&Extra.1.Value.Cents=3", with([](Parcel& p) {
         p.extras = {{"x", {.country = "DE", .cents = 3}}};
       })},
      {"Stamp.2.Country=B&Stamp.1.Country=A&Stamp.2.Cents=2", with([](Parcel& p) {
         p.stamps = {{.country = "A"}, {.country = "B", .cents = 2}};
       })},
      {"Seal.Country=AT&Seal.Image=AAE%3D", with([](Parcel& p) {
         p.seal = Stamp{.country = "AT", .image = Blob{std::string_view("\0\1", 2)}};
       })},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.form);
    const auto result = decode_more(each.form);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(parcel_, each.expected);
  }
}

TEST_F(QuerySource, JoinsQueryStringAndForm) {
  ASSERT_TRUE(decode("Weight=1&Note=form", "Letter=hi&Note=query&Floor=3"));
  EXPECT_EQ(parcel_.letter, "hi");
  EXPECT_EQ(parcel_.floor, 3);
  EXPECT_EQ(parcel_.note, "form");
}

TEST_F(QuerySource, Refuses) {
  const struct {
    std::string_view form;
    ErrorCode code;
    std::string_view message;
  } cases[] = {
      {"", ErrorCode::missing_parameter, "The request must contain the parameter Letter."},
      {"Letter=&Weight=1",
       ErrorCode::missing_parameter,
       "The request must contain the parameter Letter."},
      {"Letter=hi", ErrorCode::missing_parameter, "The request must contain the parameter Weight."},
      {"Letter=hi&Weight=1&Stamp.3.Cents=5",
       ErrorCode::missing_parameter,
       "The request must contain the parameter Stamp.3.Country."},
      {"Letter=hi&Weight=1&Label.1.Key=k",
       ErrorCode::missing_parameter,
       "The request must contain the parameter Label.1.Value."},
      {"Letter=hi&Weight=1&Label.Key=k",
       ErrorCode::missing_parameter,
       "The request must contain the parameter Label.Value."},
      {"Letter=hi&Weight=901",
       ErrorCode::invalid_parameter_value,
       "Value 901 for parameter Weight is invalid. Reason: Too heavy or too light."},
      {"Letter=hi&Weight=heavy",
       ErrorCode::invalid_parameter_value,
       "Value heavy for parameter Weight is invalid. Reason: Too heavy or too light."},
      {"Letter=hi&Weight=1&Floor=",
       ErrorCode::invalid_parameter_value,
       "Value  for parameter Floor is invalid. Reason: It does not have the expected type."},
      {"Letter=hi&Weight=1&Floor=3000000000",
       ErrorCode::invalid_parameter_value,
       "Value 3000000000 for parameter Floor is invalid. "
       "Reason: It does not have the expected type."},
      {"Letter=hi&Weight=1&Seal.Country=AT&Seal.Image=!!",
       ErrorCode::invalid_parameter_value,
       "Value !! for parameter Image is invalid. Reason: It does not have the expected type."},
      {"Letter=hi&Weight=1&Note=%ff", ErrorCode::malformed_request, "Note must be valid UTF-8."},
      {"Letter=hi&Weight=1&Label.1.Key=%ff&Label.1.Value=v",
       ErrorCode::malformed_request,
       "Labels must be valid UTF-8."},
      {"Letter=hi&Weight=1&Route.0=a",
       ErrorCode::malformed_request,
       "Routes must be numbered from 1 to 10000."},
      {"Letter=hi&Weight=1&Route.10001=a",
       ErrorCode::malformed_request,
       "Routes must be numbered from 1 to 10000."},
      {"Letter=hi&Weight=1&Stamp.99999999999999999999.Country=a",
       ErrorCode::malformed_request,
       "Stamps must be numbered from 1 to 10000."},
      {"Letter=hi&Weight=1&Label.1x.Key=a",
       ErrorCode::malformed_request,
       "Labels must be numbered from 1 to 10000."},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.form);
    const auto result = decode(each.form);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error(), (Error{each.code, std::string(each.message)}));
  }
}

// A message with forbidden bytes has its own error, which the caller reports.
TEST_F(QuerySource, HandsContentOverAsBytes) {
  ASSERT_TRUE(decode("Letter=%ff%00&Weight=1&Extra.1.Name=%fe&Extra.1.Value.Country=%fd"));
  EXPECT_EQ(parcel_.letter, std::string_view("\xff\0", 2));
  EXPECT_EQ(parcel_.extras[0].first, "\xfe");
  EXPECT_EQ(parcel_.extras[0].second.country, "\xfd");
}

TEST_F(QuerySource, CutsALongValueInAnErrorBetweenCharacters) {
  std::string value = "x";
  for (int i = 0; i < 1000; ++i) value += "ö";
  const auto result = decode_more("Floor=" + value);
  ASSERT_FALSE(result);
  EXPECT_LT(result.error().message.size(), 300u);
  EXPECT_NE(result.error().message.find("öö for parameter Floor"), std::string::npos);
}

TEST_F(QuerySource, BearsHostileSizes) {
  ASSERT_TRUE(decode("Weight=1&Letter=" + std::string(1 << 20, '+')));
  EXPECT_EQ(parcel_.letter, std::string(1 << 20, ' '));

  std::string many = "Letter=hi&Weight=1";
  for (std::size_t i = 0; i < kQueryParametersMax; ++i) many += "&a=";
  EXPECT_FALSE(decode(many));
  std::string labels;
  for (std::size_t i = 1; i <= kMapItemsMax + 1; ++i) {
    const std::string number = std::to_string(i);
    labels += "Label." + number + ".Key=" + number + "&Label." + number + ".Value=&";
  }
  EXPECT_FALSE(decode_more(labels));
  std::string deep = "Stamp";
  for (int i = 0; i < 100'000; ++i) deep += ".1";
  EXPECT_TRUE(decode_more("Stamp.1.Country=a&" + deep + "=x"));
}

TEST_F(QuerySource, FindsOneParameter) {
  EXPECT_EQ(find_query_parameter(decoder_, "Action=List%51ueues&x=1", "", "Action"), "ListQueues");
  EXPECT_EQ(find_query_parameter(decoder_, "", "Version=1&Action=SendMessage", "Action"),
            "SendMessage");
  EXPECT_EQ(find_query_parameter(decoder_, "", "NoAction=SendMessage", "Action"), std::nullopt);
}

}  // namespace
}  // namespace redrive::wire
