#include <fmt/format.h>

#include <optional>

#include "cli/client/retry.h"
#include "cli/commands/commands.h"
#include "cli/commands/top_view.h"
#include "cli/term/screen.h"

// redrive top: current queues, rates, ages, dead letters, handlers and jobs.

namespace redrive::cli {
namespace {

constexpr Duration kTopFirstLook{1'000};

struct TopOptions {
  bool once = false;
  double seconds = 1;
  std::int64_t queues = 100;

  Duration pace() const { return Duration(static_cast<std::int64_t>(seconds * 1000)); }
};

class Top {
 public:
  Top(Session& session, const TopOptions& options) : session_(session), options_(options) {}

  // Two samples a second apart, to compute rates.
  Answer<void> once() {
    RETURN_IF_ERROR(look());
    session_.world.sleep(kTopFirstLook);
    RETURN_IF_ERROR(look());
    print();
    return {};
  }

  Answer<void> follow() {
    Interrupt& interrupt = session_.world.interrupt;
    interrupt.watch();
    const bool takes_over =
        !session_.json && session_.terminal().out_is_terminal && session_.terminal().in_is_terminal;
    std::optional<Screen> screen;
    RETURN_IF_ERROR(look());
    if (takes_over) screen.emplace(session_.terminal());
    Backoff backoff(session_.world.ids, session_.world.sleep);
    while (!interrupt.requested()) {
      screen ? draw(*screen) : print();
      if (ends_during_pause(screen)) break;
      const auto done = look();
      if (done) backoff.reset();
      if (!done && (!worth_retrying(done.error()) || !backoff.again())) return done;
    }
    return {};
  }

 private:
  using Look = Reply<documents::Overview>;

  Answer<void> look() {
    auto seen = TRY(session_.service.manage<documents::Overview>(
        "GET", fmt::format("overview?limit={}", options_.queues)));
    const Timestamp at = session_.world.clock.steady();
    elapsed_ = static_cast<double>((at - seen_at_).count()) / 1000;
    seen_at_ = at;
    before_ = std::move(now_);
    now_.emplace(std::move(seen));
    return {};
  }

  TopView view() const {
    return compare_overviews(**now_, before_ ? &**before_ : nullptr, elapsed_);
  }

  void draw(Screen& screen) {
    const Screen::Size size = screen.size();
    const std::size_t rows = size.rows > 1 ? size.rows - 1 : 1;
    screen.draw(draw_top(session_.terminal(), view(), {.columns = size.columns, .rows = rows}) +
                paint(session_.terminal(), Color::dim, "q to quit"));
  }

  void print() {
    std::ostream& out = session_.terminal().out;
    out << (session_.json ? top_json(view()) : draw_top(session_.terminal(), view(), {}));
    if (!session_.json && !options_.once) out << '\n';
    out.flush();
  }

  bool ends_during_pause(std::optional<Screen>& screen) {
    if (screen) {
      const auto key = screen->key_within(options_.pace());
      return key == 'q' || key == 'Q';
    }
    session_.world.interrupt.idle_begins();
    session_.world.sleep(options_.pace());
    session_.world.interrupt.idle_ends();
    return false;
  }

  Session& session_;
  const TopOptions& options_;
  std::optional<Look> before_;
  std::optional<Look> now_;
  Timestamp seen_at_;
  double elapsed_ = 0;
};

Answer<void> run_top(const TopOptions& options, Session& session) {
  Top top(session, options);
  return options.once ? top.once() : top.follow();
}

}  // namespace

void add_top(Verb parent, Commands& commands) {
  auto options = std::make_shared<TopOptions>();
  Verb verb = parent.verb("top", "Show queues, rates, dead letters, handlers and jobs, live");
  verb.flag("--once", options->once, "Show one snapshot, after measuring for a second");
  verb.option("--every", options->seconds, "Seconds between updates (default 1)").positive();
  verb.option(
          "-n,--queues", options->queues, "Maximum number of queues, longest first (default 100)")
      .range(1, 1000);
  commands.attach(verb, [options](Session& session) { return run_top(*options, session); });
}

}  // namespace redrive::cli
