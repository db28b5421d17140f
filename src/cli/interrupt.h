#pragma once

namespace redrive::cli {

// Ctrl-C for commands that run until somebody stops them.
class Interrupt {
 public:
  virtual ~Interrupt() = default;
  // From now on an interrupt is noted instead of ending the process with a signal.
  virtual void watch() = 0;
  virtual bool requested() const = 0;
  // Between these two nothing is in hand, so an interrupt may end the process at once, with 0.
  virtual void idle_begins() = 0;
  virtual void idle_ends() = 0;
};

// SIGINT and SIGTERM. There is one of each in a process, so all objects of this class are one.
class SignalInterrupt final : public Interrupt {
 public:
  void watch() override;
  bool requested() const override;
  void idle_begins() override;
  void idle_ends() override;
};

}  // namespace redrive::cli
