#include "app/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/temporary_directory.h"

namespace redrive::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ConfigTest : public testing::Test {
 protected:
  Result<Config> load(std::string_view text) {
    Config config{.file = directory_.write("redrive.toml", text)};
    RETURN_IF_ERROR(load_config(config));
    return config;
  }
  std::string error_of(std::string_view text) {
    const auto loaded = load(text);
    return loaded ? "" : loaded.error().message;
  }

  TemporaryDirectory directory_;
};

TEST_F(ConfigTest, WithoutAFileTheDefaultsStay) {
  Config config;
  ASSERT_TRUE(load_config(config));
  EXPECT_EQ(config.listen, "127.0.0.1:9324");
  EXPECT_EQ(config.drain_time, std::chrono::seconds(10));
}

TEST_F(ConfigTest, ReadsEachTable) {
  const auto config = load(R"(
    listen = "[::1]:1"
    drain-time = 3
    allowed-hosts = ["queue.example", "*.example"]
    [limits]
    connections = 7
    idle-time = 9
    function-processes = 2
    [metrics]
    token = "t"
    history-queues = 5
    [clock]
    jump = "accept"
    jump-wait = 60
    [settled]
    messages = 0
    days = 3
    [audit]
    file-bytes = 4096
    files = 2
    [traces]
    endpoint = "http://collector:4318//"
    [alarms]
    dead-letters = false
    unreachable-targets = "accept"
    [console]
    url = "https://redrive.example/"
    [functions]
    key-scope = "account"
    [outgoing]
    allow = ["10.0.0.0/8"]
    [masking]
    json-paths = ["$.card"]
    [[dead-letters]]
    queues = ["orders-dlq"]
    max-redrives = 2
  )");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->listen, "[::1]:1");
  EXPECT_EQ(config->drain_time, std::chrono::seconds(3));
  EXPECT_THAT(config->allowed_hosts, ElementsAre("queue.example", "*.example"));
  EXPECT_EQ(config->limits.connections_max, 7u);
  EXPECT_EQ(config->limits.idle_time_max, std::chrono::seconds(9));
  EXPECT_EQ(config->function_processes_max, 2u);
  EXPECT_EQ(config->metrics_token, "t");
  EXPECT_EQ(config->history_queues_max, 5u);
  EXPECT_EQ(config->clock_jump, "accept");
  EXPECT_EQ(config->clock_jump_wait, std::chrono::seconds(60));
  EXPECT_EQ(config->settled.messages_max, 0u);
  EXPECT_EQ(config->settled.retention, std::chrono::days(3));
  EXPECT_EQ(config->audit_file_bytes_max, 4096u);
  EXPECT_EQ(config->audit_files_max, 2u);
  EXPECT_EQ(config->traces_endpoint, "http://collector:4318");
  EXPECT_FALSE(config->dead_letter_alarms.on);
  EXPECT_TRUE(config->alarm_unreachable_targets);
  EXPECT_EQ(config->console_url, "https://redrive.example");
  EXPECT_EQ(config->function_key_scope, "account");
  EXPECT_THAT(config->outgoing_allow, ElementsAre("10.0.0.0/8"));
  EXPECT_NE(config->mask_rules, nullptr);
  ASSERT_EQ(config->policies.size(), 1u);
  EXPECT_EQ(config->policies[0].policy.redrives_max, 2u);
}

// A setting with a typo must not be ignored: it may be the one that limits or protects.
TEST_F(ConfigTest, UnknownAndUnusableSettingsNameTheirPlace) {
  struct Case {
    std::string_view text;
    std::string_view words;
  };
  constexpr Case kCases[] = {
      {"lisen = 'x'", ":1: unknown setting `lisen`"},
      {"\nlisten = 5", ":2: invalid value for `listen`"},
      {"memory = 'yes'", "invalid value for `memory`"},
      {"threads = -1", "invalid value for `threads`"},
      {"[limits]\nconections = 5", ":2: unknown setting `limits.conections`"},
      {"[limits]\nconnections = 0", "invalid value for `limits.connections`"},
      {"[limits]\nconnections = 1.5", "invalid value for `limits.connections`"},
      {"[metrics]\ntokn = 'x'", "unknown setting `metrics.tokn`"},
      {"[settled]\ndays = 366", "invalid value for `settled.days`"},
      {"[clock]\njump-wait = 0", "invalid value for `clock.jump-wait`"},
      {"[traces]\nendpoint = 'collector:4318'", "invalid value for `traces.endpoint`"},
      {"[console]\nurl = 'https://x/<b>'", "invalid value for `console.url`"},
      {"[console]\nurl = 'javascript:x'", "invalid value for `console.url`"},
      {"[functions]\nkey-scope = 'all'", "invalid value for `functions.key-scope`"},
      {"[outgoing]\nallow = ['10.0.0.0/99']", "invalid value for `outgoing.allow`"},
      {"[alarms]\nnotify = ['carrier pigeon']", "invalid value for `alarms.notify`"},
      {"[alarms]\nunreachable-targets = 'maybe'", "invalid value for `alarms.unreachable"},
      {"[masking]\njson-path = ['$.a']", "unknown setting `masking.json-path`"},
      {"[[dead-letters]]\nmax-redrives = 1", "[[dead-letters]] requires `queues`"},
      {"[dead-letters]\nqueues = ['a']", "write [[dead-letters]]"},
      {"limits = 5", "unknown setting `limits`"},
      {"listen = ", ":1:"},
  };
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.text);
    EXPECT_THAT(error_of(one.text), HasSubstr(one.words));
  }
}

// One file may also hold what `redrive apply` makes.
TEST_F(ConfigTest, TablesOfAStackAreLeftToApply) {
  EXPECT_EQ(error_of("[queue.orders]\nvisibility-timeout = 5\n"), "");
}

TEST_F(ConfigTest, KeysNeedAnIdOneSecretAndARole) {
  struct Case {
    std::string_view text;
    std::string_view words;
  };
  constexpr Case kCases[] = {
      {"[[key]]\nid = 'AKID'\nsecret = 's'\nrole = 'admin'", ""},
      {"[[key]]\nid = 'AKID'\nrole = 'admin'", "requires one of secret"},
      {"[[key]]\nid = 'AKID'\nsecret = 's'\nsecret-env = 'HOME'\nrole = 'admin'",
       "requires one of secret"},
      {"[[key]]\nid = 'AKID'\nsecret = 's'", "requires a role"},
      {"[[key]]\nid = 'AKID'\nsecret = 's'\nrole = 'scoped'", "the role must be"},
      {"[[key]]\nid = 'A D'\nsecret = 's'\nrole = 'admin'", "the id of a key must have"},
      {"[[key]]\nid = 'AKID'\nsecret = 's'\nrole = 'admin'\naccount = '12'", "12 digits"},
      {"[[key]]\nid = 'AKID'\nsecret-file = 'nowhere'\nrole = 'admin'", "cannot read"},
      {"[[key]]\nid = 'AKID'\nsecret-env = 'REDRIVE_UNSET_'\nrole = 'admin'", "is not set"},
      {"[[key]]\nid = 'AKID'\nsecrt = 's'\nrole = 'admin'", "unknown setting `secrt` of a key"},
      {"[key]\nid = 'AKID'", "[[key]]"},
  };
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.text);
    const std::string error = error_of(one.text);
    if (one.words.empty()) {
      EXPECT_EQ(error, "");
    } else {
      EXPECT_THAT(error, HasSubstr(one.words));
    }
  }
}

TEST_F(ConfigTest, ASecretFileIsFoundBesideTheConfiguration) {
  directory_.write("secret", "from a file\r\n");
  const auto config = load("[[key]]\nid = 'AKID'\nsecret-file = 'secret'\nrole = 'reader'");
  ASSERT_TRUE(config) << config.error().message;
  ASSERT_EQ(config->keys.size(), 1u);
  EXPECT_EQ(config->keys[0].secret, "from a file");
  EXPECT_THAT(config->secret_files, ElementsAre(directory_.path("secret")));
}

std::string refusal_of(const Config& config) {
  const auto checked = check_config(config);
  return checked ? "" : checked.error().message;
}

TEST(CheckConfig, RefusesWhatCannotWorkTogether) {
  struct Case {
    Config config;
    std::string_view words;
  };
  const Case cases[] = {
      {{}, ""},
      {{.account = "1"}, "--account"},
      {{.region = ""}, "--region"},
      {{.virtual_clock_start = "2026-01-01T00:00:00Z"}, "needs --virtual-clock"},
      {{.virtual_clock = true, .virtual_clock_start = "yesterday"}, "expected a time"},
      {{.virtual_clock = true, .virtual_clock_start = "2026-01-01T00:00:00Z"}, ""},
      {{.log_format = "xml"}, "log-format"},
      {{.clock_jump = "leap"}, "clock.jump"},
      {{.sandbox = "maybe"}, "sandbox"},
      {{.tls_certificate = "c.pem"}, "must be used together"},
      {{.tls_key = "k.pem"}, "must be used together"},
      {{.allowed_hosts = {"queue.example:80"}}, "--allowed-hosts"},
      {{.listen = "9324"}, "--listen"},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.words);
    if (one.words.empty()) {
      EXPECT_EQ(refusal_of(one.config), "");
    } else {
      EXPECT_THAT(refusal_of(one.config), HasSubstr(one.words));
    }
  }
}

// Without keys any credentials are accepted, so other machines must not reach the port.
TEST(CheckConfig, RefusesToServeOtherMachinesWithoutKeys) {
  EXPECT_THAT(refusal_of({.listen = "0.0.0.0:9324"}), HasSubstr("refusing to listen"));
  EXPECT_THAT(refusal_of({.listen = "[::]:9324"}), HasSubstr("refusing to listen"));
  EXPECT_EQ(refusal_of({.listen = "0.0.0.0:9324", .insecure = true}), "");
  EXPECT_EQ(refusal_of({.listen = "0.0.0.0:9324", .keys = {{.id = "AKID", .secret = "s"}}}), "");
  EXPECT_EQ(refusal_of({.listen = "127.1.2.3:9324"}), "");
}

TEST(CheckConfig, OneRequestMustFitIntoTheUnfinishedBytes) {
  Config config;
  config.limits.unfinished_bytes_max = config.limits.body_bytes_max;
  EXPECT_THAT(refusal_of(config), HasSubstr("unfinished-bytes"));
}

TEST(ParseListen, TakesAddressesOfBothFamilies) {
  struct Case {
    std::string_view text;
    std::string_view address;
    std::uint16_t port;
    bool loopback;
  };
  constexpr Case kCases[] = {{"127.0.0.1:9324", "127.0.0.1", 9324, true},
                             {"localhost:0", "127.0.0.1", 0, true},
                             {"[::1]:80", "::1", 80, true},
                             {"::1:80", "::1", 80, true},
                             {"[::]:80", "::", 80, false},
                             {"192.168.0.1:65535", "192.168.0.1", 65535, false}};
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.text);
    const auto listen = parse_listen(std::string(one.text));
    ASSERT_TRUE(listen);
    EXPECT_EQ(listen->address, one.address);
    EXPECT_EQ(listen->port, one.port);
    EXPECT_EQ(listen->loopback, one.loopback);
  }
  for (const char* const text : {"",
                                 "9324",
                                 "127.0.0.1",
                                 "127.0.0.1:",
                                 "127.0.0.1:65536",
                                 ":80",
                                 "queue.example:80",
                                 "127.0.0.1:-1"}) {
    EXPECT_FALSE(parse_listen(text)) << text;
  }
}

// What a client may make the server connect to.
TEST(OutgoingPolicies, OpenOnlyWhatTheConfigurationOpens) {
  const ListenAddress local{"127.0.0.1", 9324, true};
  const auto permits = [](const http::OutgoingPolicyPtr& policy, std::string_view address) {
    return policy->permits(address, address);
  };

  const auto open = outgoing_policies({}, local);
  ASSERT_TRUE(open);
  EXPECT_TRUE(permits(open->functions, "127.0.0.1"));  // How functions are developed.
  EXPECT_FALSE(permits(open->destinations, "127.0.0.1"));
  EXPECT_FALSE(permits(open->webhooks, "10.0.0.1"));
  EXPECT_TRUE(permits(open->webhooks, "93.184.216.34"));

  const auto with_keys = outgoing_policies({.keys = {{.id = "AKID", .secret = "s"}}}, local);
  ASSERT_TRUE(with_keys);
  EXPECT_FALSE(permits(with_keys->functions, "127.0.0.1"));

  const auto listed =
      outgoing_policies({.alarm_private_webhooks = true, .outgoing_allow = {"10.1.0.0/16"}},
                        {"192.168.0.1", 9324, false});
  ASSERT_TRUE(listed);
  EXPECT_TRUE(permits(listed->destinations, "10.1.2.3"));
  EXPECT_FALSE(permits(listed->destinations, "10.2.0.1"));
  EXPECT_FALSE(permits(listed->functions, "127.0.0.1"));
  EXPECT_TRUE(permits(listed->webhooks, "192.168.1.1"));
}

}  // namespace
}  // namespace redrive::app
