#pragma once

// Clang's thread safety analysis: which mutex guards a field, and which mutex a function needs.
// Clang builds fail (-Werror=thread-safety) when a field is used without its mutex; other compilers
// ignore the annotations. They work with Mutex and MutexLock (base/mutex.h), not with std::mutex.
//
//   Mutex mutex_;
//   std::deque<Work> work_ GUARDED_BY(mutex_);
//   Work take() REQUIRES(mutex_);

#if defined(__clang__)
#define REDRIVE_THREAD_ANNOTATION(attribute) __attribute__((attribute))
#else
#define REDRIVE_THREAD_ANNOTATION(attribute)
#endif

// Of fields: the mutex that must be held to use the field.
#define GUARDED_BY(mutex) REDRIVE_THREAD_ANNOTATION(guarded_by(mutex))

// Of functions and lambdas: the caller holds the mutex.
#define REQUIRES(...) REDRIVE_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))

// Of functions: what they do to a mutex.
#define ACQUIRE(...) REDRIVE_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) REDRIVE_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define RELEASE(...) REDRIVE_THREAD_ANNOTATION(release_capability(__VA_ARGS__))

// Of functions that the analysis cannot follow; a comment there says why they are right.
#define NO_THREAD_SAFETY_ANALYSIS REDRIVE_THREAD_ANNOTATION(no_thread_safety_analysis)

// Of types that are mutexes, or hold one while they exist.
#define CAPABILITY(name) REDRIVE_THREAD_ANNOTATION(capability(name))
#define SCOPED_CAPABILITY REDRIVE_THREAD_ANNOTATION(scoped_lockable)
