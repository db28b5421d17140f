#pragma once

namespace redrive::cli {

// Handles Ctrl-C for commands that run until interrupted.
class Interrupt {
 public:
  virtual ~Interrupt() = default;
  // From now on an interrupt is recorded instead of killing the process.
  virtual void watch() = 0;
  virtual bool requested() const = 0;
  // Between these two nothing is held, so an interrupt exits immediately with code 0.
  virtual void idle_begins() = 0;
  virtual void idle_ends() = 0;
};

// SIGINT and SIGTERM. Signal handlers are global, so all objects of this class share their state.
class SignalInterrupt final : public Interrupt {
 public:
  void watch() override;
  bool requested() const override;
  void idle_begins() override;
  void idle_ends() override;
};

}  // namespace redrive::cli
