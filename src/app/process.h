#pragma once

// Settings of the whole process that a server makes when it starts.

namespace redrive::app {

// Raises the limit of open files to what the system allows: a server may hold thousands of
// connections and hundreds of segments.
void raise_file_limit();

// Bounds how long one call of malloc or free may take.
//
// glibc keeps small freed chunks in fast bins and merges all of them at once, under the lock of
// their arena, when a large block is allocated or freed. After many small objects were freed (a
// changed policy of a long queue, a purged queue) this blocked every allocating thread, for 60 ms
// with 300,000 objects. Without fast bins each chunk is merged as it is freed.
void bound_allocator_pauses();

// While this object lives, other processes of the same user cannot read the memory of this one
// (keys, messages) or attach to it with ptrace, and there are no core dumps. Functions may run as
// the server's own user. Sanitizer builds allow ptrace again at the end, for their leak check.
class Undumpable {
 public:
  Undumpable();
  ~Undumpable();
  Undumpable(const Undumpable&) = delete;
  Undumpable& operator=(const Undumpable&) = delete;
};

}  // namespace redrive::app
