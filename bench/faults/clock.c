/* Shifts the wall clock of a process by the seconds in the file BENCH_CLOCK names.

   Loaded with LD_PRELOAD. Only the wall clock moves: timeouts, which count monotonic time, do not,
   as when an administrator or NTP steps the clock of a machine. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile long *shift;
static int (*real_gettime)(clockid_t, struct timespec *);

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("BENCH_CLOCK");
  int file = path ? open(path, O_RDONLY) : -1;
  real_gettime = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  if (file < 0) return;
  void *map = mmap(NULL, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
  if (map != MAP_FAILED) shift = map;
  close(file);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  if (!real_gettime) start();
  int result = real_gettime(clock, now);
  if (shift && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += *shift;
  return result;
}

int gettimeofday(struct timeval *now, void *zone) {
  (void)zone;
  struct timespec exact;
  int result = clock_gettime(CLOCK_REALTIME, &exact);
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return result;
}

time_t time(time_t *into) {
  struct timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  if (into) *into = exact.tv_sec;
  return exact.tv_sec;
}
