/// The clocks, which can jump, and the waits that end at a time of a clock.
#define _GNU_SOURCE

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "fault.h"

static atomic_long jumps[16];

static const char *of_clock(clockid_t clock) {
  static const char *const names[] = {"real", "monotonic", "process", "thread", "raw", "real", "monotonic", "boot"};
  return clock >= 0 && (size_t)clock < sizeof names / sizeof *names ? names[clock] : "other";
}

/// The seconds that a clock is ahead.
static long ahead(clockid_t clock, const void *caller) {
  struct fate fate = fate_of("clock", of_clock(clock), caller);
  // The coarse clocks jump with the others.
  clockid_t same = clock == CLOCK_REALTIME_COARSE ? CLOCK_REALTIME : clock;
  if (same < 0 || same >= (clockid_t)(sizeof jumps / sizeof *jumps)) return 0;
  if (fate.effect == JUMP) atomic_store(&jumps[same], fate.value);
  return atomic_load(&jumps[same]);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  REAL(int, clock_gettime, (clockid_t, struct timespec *))
  int result = real(clock, time);
  if (result == 0) time->tv_sec += ahead(clock, CALLER);
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  REAL(int, gettimeofday, (struct timeval *, void *))
  int result = real(time, zone);
  if (result == 0) time->tv_sec += ahead(CLOCK_REALTIME, CALLER);
  return result;
}

time_t time(time_t *place) {
  REAL(time_t, time, (time_t *))
  time_t now = real(NULL) + ahead(CLOCK_REALTIME, CALLER);
  if (place != NULL) *place = now;
  return now;
}

/// The end of the next slice of a wait until this time of the clock that jumps, by the kernel's clock. A wait consists
/// of slices, because a jump shortens or lengthens it while it goes on, as that of the kernel's clock would. Sets
/// `is_last` if the wait ends with the slice.
static struct timespec slice(const struct timespec *until, bool *is_last) {
  struct timespec now, end = *until;
  syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
  end.tv_sec -= atomic_load(&jumps[CLOCK_REALTIME]);
  now.tv_nsec += 20000000;
  if (now.tv_nsec >= 1000000000) {
    now.tv_sec++;
    now.tv_nsec -= 1000000000;
  }
  *is_last = end.tv_sec < now.tv_sec || (end.tv_sec == now.tv_sec && end.tv_nsec <= now.tv_nsec);
  return *is_last ? end : now;
}

/// Whether the end of a wait is a time of the clock that people set, and not of the one that counts from the start of
/// the machine: it is nearer to the present time of the former. A condition does not say which of them it goes by.
static bool is_of_the_day(const struct timespec *until) {
  struct timespec day, start;
  syscall(SYS_clock_gettime, CLOCK_REALTIME, &day);
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &start);
  day.tv_sec += atomic_load(&jumps[CLOCK_REALTIME]);
  return labs(until->tv_sec - day.tv_sec) < labs(until->tv_sec - start.tv_sec);
}

/// It waits by the clock that people set.
int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until) {
  REAL(int, sem_timedwait, (sem_t *, const struct timespec *))
  while (true) {
    bool is_last;
    struct timespec end = slice(until, &is_last);
    int result = real(semaphore, &end);
    if (result == 0 || errno != ETIMEDOUT || is_last) return result;
  }
}

int pthread_cond_timedwait(
    pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, const struct timespec *restrict until) {
  REAL(int, pthread_cond_timedwait, (pthread_cond_t *, pthread_mutex_t *, const struct timespec *))
  if (!is_of_the_day(until)) return real(condition, mutex, until);
  while (true) {
    bool is_last;
    struct timespec end = slice(until, &is_last);
    int result = real(condition, mutex, &end);
    if (result != ETIMEDOUT || is_last) return result;
  }
}
