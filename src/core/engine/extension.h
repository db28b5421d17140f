#pragma once

#include "base/time.h"
#include "core/engine/received.h"
#include "core/engine/turn.h"
#include "core/queue/change.h"
#include "core/queue/handle_rules.h"

namespace redrive::engine {

// A part of the server that works on the engine's turns: it is notified of facts, woken at moments
// of engine time, and gets slices of maintenance. Registered with Engine::attach, which it must not
// outlive. Functions with a Turn are called in turn, the others outside of it.
//
// The engine calls no virtual function while messages are sent, received and deleted, unless a turn
// has noted something or a deleted message had been redriven.
class Extension {
 public:
  virtual ~Extension() = default;

  // Called when it is attached: reads the replayed state.
  virtual void start(Turn&) {}
  // At the end of a turn whose facts concern extensions.
  virtual void noted(Turn&, const Noted&) {}
  // From tick(): does what is due. The rest of a tick, outside the turn, is after_run().
  virtual void run(Turn&) {}
  virtual void after_run() {}
  // From maintain(): one slice in turn, then one outside of it. True while there is more.
  virtual bool tidy(Turn&) { return false; }
  virtual bool maintain() { return false; }
  // All queues and tasks are gone.
  virtual void reset(Turn&) {}
  // A consumer has deleted a message that was redriven before. May record it as another fact;
  // `sequence` is the last one assigned.
  virtual void redriven_deleted(Turn&, const queue::Queue&, const queue::Deletion&,
                                std::uint64_t& /*sequence*/, queue::Change& /*fact*/) {}
  // A message's stored bytes turned out to be damaged.
  virtual void found_damage(const Unreadable&) {}

 protected:
  // When run() is due next. In turn.
  void wake_at(Timestamp at) { *wake_ = at; }

 private:
  friend class Engine;
  Timestamp detached_ = kNever;
  Timestamp* wake_ = &detached_;  // In the engine, which reads it at the end of every turn.
};

}  // namespace redrive::engine
