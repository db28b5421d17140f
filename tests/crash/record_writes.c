/* Records everything a process does to the files of one directory, for tests/crash/power_loss.py.
 *
 * Preloaded (LD_PRELOAD) into a server. REDRIVE_RECORD_DIRECTORY is the directory, without a slash
 * at its end; only files directly in it are recorded. REDRIVE_RECORD_LOG is the file to write to.
 *
 * Each event is a header (struct event) and a payload. Calls are made and recorded under one lock,
 * so that the order of events is that of the calls. A sync has two events, at its begin and at its
 * end: what was recorded before its begin is durable from its end on.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
  EVENT_CREATE = 'C',   /* A new file; payload: its name. */
  EVENT_WRITE = 'W',    /* Payload: the bytes. */
  EVENT_ZEROS = 'Z',    /* A write of zeros only; `length` of them, no payload. */
  EVENT_SIZE = 'T',     /* The file's size was set to `offset`. */
  EVENT_GROW = 'F',     /* The file is at least `offset` bytes long. */
  EVENT_SYNC = 's',     /* A sync of the file begins; `offset` is its number. */
  EVENT_SYNCED = 'S',
  EVENT_RENAME = 'R',   /* Payload: old name, zero byte, new name. */
  EVENT_EXCHANGE = 'X', /* The same. */
  EVENT_REMOVE = 'U',   /* Payload: the name. */
  EVENT_SYNC_NAMES = 'd',
  EVENT_SYNCED_NAMES = 'D',
};

struct event {
  uint32_t type;
  uint32_t file; /* Numbers are never reused, unlike inodes. 0: the directory. */
  uint64_t offset;
  uint32_t length; /* Of the write. */
  uint32_t payload;
};

enum { FILES_MAX = 65536, NOT_OURS = 0, DIRECTORY = 1 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t files[FILES_MAX]; /* By descriptor: NOT_OURS, DIRECTORY or a file's number. */
static struct {
  ino_t inode;
  uint32_t file;
} inodes[FILES_MAX];
static int inode_count;
static uint32_t last_file = DIRECTORY;
static uint64_t last_sync;
static const char* directory;
static int log_fd = -1;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void start(void) {
  if (log_fd >= 0 || directory) return;
  directory = getenv("REDRIVE_RECORD_DIRECTORY");
  const char* path = getenv("REDRIVE_RECORD_LOG");
  if (!directory || !path) {
    directory = NULL;
    return;
  }
  int fd = REAL(open)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  log_fd = fcntl(fd, F_DUPFD_CLOEXEC, 1000);
  REAL(close)(fd);
}

static void record(struct event event, const struct iovec* parts, int count) {
  struct iovec all[IOV_MAX + 1];
  all[0] = (struct iovec){&event, sizeof event};
  for (int i = 0; i < count; ++i) {
    all[i + 1] = parts[i];
    event.payload += (uint32_t)parts[i].iov_len;
  }
  ssize_t wanted = (ssize_t)(sizeof event + event.payload);
  if (REAL(writev)(log_fd, all, count + 1) != wanted) {
    fprintf(stderr, "record_writes: the log could not be written\n");
    _exit(99);
  }
}

static uint32_t file_of(int fd) { return fd >= 0 && fd < FILES_MAX ? files[fd] : NOT_OURS; }

static uint32_t new_file(ino_t inode) {
  int i = 0;
  while (i < inode_count && inodes[i].inode != inode) ++i;
  if (i == inode_count) ++inode_count;
  inodes[i].inode = inode;
  inodes[i].file = ++last_file;
  return last_file;
}

static uint32_t known_file(ino_t inode) {
  for (int i = 0; i < inode_count; ++i) {
    if (inodes[i].inode == inode) return inodes[i].file;
  }
  return NOT_OURS;
}

/* Other files in the directory, such as the lock and the audit log, survive a power loss or do not;
 * nothing depends on them. */
static int is_of_journal(const char* name) {
  size_t size = strlen(name);
  return strncmp(name, "manifest", 8) == 0 || (size > 4 && strcmp(name + size - 4, ".seg") == 0);
}

/* Remembers what a descriptor is for. Called with the lock held. */
static void opened(int fd, int flags, int existed) {
  char link[64], path[PATH_MAX];
  if (fd < 0 || fd >= FILES_MAX || !directory) return;
  files[fd] = NOT_OURS;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t size = readlink(link, path, sizeof path - 1);
  if (size < 0) return;
  path[size] = 0;
  size_t prefix = strlen(directory);
  if (strncmp(path, directory, prefix) != 0) return;
  if (path[prefix] == 0) {
    files[fd] = DIRECTORY;
    return;
  }
  const char* name = path + prefix + 1;
  struct stat status;
  if (path[prefix] != '/' || strchr(name, '/') || fstat(fd, &status) != 0) return;
  if (!S_ISREG(status.st_mode) || !is_of_journal(name)) return;
  if (existed) {
    files[fd] = known_file(status.st_ino);
    if (files[fd] && (flags & O_TRUNC)) record((struct event){.type = EVENT_SIZE, .file = files[fd]}, NULL, 0);
    return;
  }
  files[fd] = new_file(status.st_ino);
  struct iovec payload = {(void*)name, strlen(name)};
  record((struct event){.type = EVENT_CREATE, .file = files[fd]}, &payload, 1);
}

static int open_recorded(int at, const char* path, int flags, mode_t mode) {
  pthread_mutex_lock(&lock);
  start();
  int existed = !(flags & O_CREAT) || faccessat(at, path, F_OK, 0) == 0;
  int fd = REAL(openat)(at, path, flags, mode);
  int error = errno;
  opened(fd, flags, existed);
  pthread_mutex_unlock(&lock);
  errno = error;
  return fd;
}

static mode_t mode_of(int flags, va_list arguments) {
  return flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

#define OPEN_BODY(at, path, flags)           \
  va_list arguments;                         \
  va_start(arguments, flags);                \
  mode_t mode = mode_of(flags, arguments);   \
  va_end(arguments);                         \
  return open_recorded(at, path, flags, mode)

int open(const char* path, int flags, ...) { OPEN_BODY(AT_FDCWD, path, flags); }
int open64(const char* path, int flags, ...) { OPEN_BODY(AT_FDCWD, path, flags); }
int openat(int at, const char* path, int flags, ...) { OPEN_BODY(at, path, flags); }
int openat64(int at, const char* path, int flags, ...) { OPEN_BODY(at, path, flags); }

int close(int fd) {
  pthread_mutex_lock(&lock);
  if (fd >= 0 && fd < FILES_MAX) files[fd] = NOT_OURS;
  int result = REAL(close)(fd);
  pthread_mutex_unlock(&lock);
  return result;
}

static int is_zero(const struct iovec* parts, int count) {
  for (int i = 0; i < count; ++i) {
    const char* bytes = parts[i].iov_base;
    size_t size = parts[i].iov_len;
    if (size && (bytes[0] != 0 || memcmp(bytes, bytes + 1, size - 1) != 0)) return 0;
  }
  return 1;
}

static void record_write(uint32_t file, uint64_t offset, const struct iovec* parts, int count, size_t size) {
  struct event event = {EVENT_WRITE, file, offset, (uint32_t)size, 0};
  struct iovec written[IOV_MAX];
  int used = 0;
  for (int i = 0; i < count && size > 0; ++i) {
    written[used] = parts[i];
    if (written[used].iov_len > size) written[used].iov_len = size;
    size -= written[used++].iov_len;
  }
  if (is_zero(written, used)) {
    event.type = EVENT_ZEROS;
    used = 0;
  }
  record(event, written, used);
}

ssize_t pwritev(int fd, const struct iovec* parts, int count, off_t offset) {
  uint32_t file = file_of(fd);
  if (file <= DIRECTORY) return REAL(pwritev)(fd, parts, count, offset);
  pthread_mutex_lock(&lock);
  ssize_t size = REAL(pwritev)(fd, parts, count, offset);
  int error = errno;
  if (size > 0) record_write(file, (uint64_t)offset, parts, count, (size_t)size);
  pthread_mutex_unlock(&lock);
  errno = error;
  return size;
}
ssize_t pwritev64(int fd, const struct iovec* parts, int count, off_t offset) { return pwritev(fd, parts, count, offset); }

ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  if (file_of(fd) <= DIRECTORY) return REAL(pwrite)(fd, bytes, size, offset);
  struct iovec part = {(void*)bytes, size};
  return pwritev(fd, &part, 1, offset);
}
ssize_t pwrite64(int fd, const void* bytes, size_t size, off_t offset) { return pwrite(fd, bytes, size, offset); }

/* The journal writes at offsets only. Anything else would be missing from the record. */
ssize_t write(int fd, const void* bytes, size_t size) {
  if (file_of(fd) > DIRECTORY && lseek(fd, 0, SEEK_CUR) >= 0) {
    fprintf(stderr, "record_writes: write() to a file of the journal is not recorded\n");
    _exit(99);
  }
  return REAL(write)(fd, bytes, size);
}

int ftruncate(int fd, off_t size) {
  uint32_t file = file_of(fd);
  if (file <= DIRECTORY) return REAL(ftruncate)(fd, size);
  pthread_mutex_lock(&lock);
  int result = REAL(ftruncate)(fd, size);
  if (result == 0) record((struct event){.type = EVENT_SIZE, .file = file, .offset = (uint64_t)size}, NULL, 0);
  pthread_mutex_unlock(&lock);
  return result;
}
int ftruncate64(int fd, off_t size) { return ftruncate(fd, size); }

int posix_fallocate(int fd, off_t offset, off_t size) {
  uint32_t file = file_of(fd);
  if (file <= DIRECTORY) return REAL(posix_fallocate)(fd, offset, size);
  pthread_mutex_lock(&lock);
  int result = REAL(posix_fallocate)(fd, offset, size);
  if (result == 0) {
    record((struct event){.type = EVENT_GROW, .file = file, .offset = (uint64_t)(offset + size)}, NULL, 0);
  }
  pthread_mutex_unlock(&lock);
  return result;
}
int posix_fallocate64(int fd, off_t offset, off_t size) { return posix_fallocate(fd, offset, size); }

static int sync_recorded(int fd, int (*sync)(int)) {
  uint32_t file = file_of(fd);
  if (file == NOT_OURS) return sync(fd);
  struct event event = {.type = file == DIRECTORY ? EVENT_SYNC_NAMES : EVENT_SYNC, .file = file};
  pthread_mutex_lock(&lock);
  event.offset = ++last_sync;
  record(event, NULL, 0);
  pthread_mutex_unlock(&lock);
  int result = sync(fd);
  int error = errno;
  pthread_mutex_lock(&lock);
  event.type = file == DIRECTORY ? EVENT_SYNCED_NAMES : EVENT_SYNCED;
  if (result == 0) record(event, NULL, 0);
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}
int fdatasync(int fd) { return sync_recorded(fd, REAL(fdatasync)); }
int fsync(int fd) { return sync_recorded(fd, REAL(fsync)); }

static void record_names(uint32_t type, const char* from, const char* to) {
  struct iovec parts[] = {{(void*)from, strlen(from) + 1}, {(void*)to, strlen(to)}};
  record((struct event){.type = type}, parts, 2);
}

int renameat2(int from_at, const char* from, int to_at, const char* to, unsigned flags) {
  pthread_mutex_lock(&lock);
  int result = REAL(renameat2)(from_at, from, to_at, to, flags);
  int error = errno;
  if (result == 0 && file_of(from_at) == DIRECTORY) {
    record_names(flags & RENAME_EXCHANGE ? EVENT_EXCHANGE : EVENT_RENAME, from, to);
  }
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}
int renameat(int from_at, const char* from, int to_at, const char* to) {
  return renameat2(from_at, from, to_at, to, 0);
}

int unlinkat(int at, const char* name, int flags) {
  pthread_mutex_lock(&lock);
  int result = REAL(unlinkat)(at, name, flags);
  int error = errno;
  if (result == 0 && file_of(at) == DIRECTORY) {
    struct iovec payload = {(void*)name, strlen(name)};
    record((struct event){.type = EVENT_REMOVE}, &payload, 1);
  }
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}
