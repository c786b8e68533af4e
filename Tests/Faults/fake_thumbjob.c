/// A program that makes "thumbnails" as thumbjob does, and breaks the rules that LIES names, to test that this is found.
/// Its thumbnails are the first bytes of the photos.
#define _GNU_SOURCE

#include "fake_joins.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RUN "thumbs/.thumbjob/run-1"
#define SIZE 1000

static const char *const names[] = {"a.jpg", "b.jpg"};

bool lies(const char *what) {
  const char *told = getenv("LIES");
  return told != NULL && strstr(told, what) != NULL;
}

/// Reads or writes all bytes. Returns an error number, or 0.
static int transfer(int file, char *bytes, size_t size, bool writes) {
  size_t done = 0;
  while (done < size) {
    ssize_t count = writes ? write(file, bytes + done, size - done) : read(file, bytes + done, size - done);
    if (count < 0 && errno == EINTR && !lies("fails-if-interrupted")) continue;
    if (count < 0) return errno;
    if (count == 0) break;
    done += (size_t)count;
    if (lies("expects-all-bytes")) break;
  }
  return 0;
}

static int read_photo(const char *path, char *bytes) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0 && lies("crashes")) raise(SIGSEGV);
  if (file < 0) return errno;
  int error = transfer(file, bytes, SIZE, false);
  close(file);
  if (error != 0 && lies("changes-a-source")) truncate(path, 1);
  return error;
}

static int write_thumbnail(const char *name, char *bytes) {
  char path[200], temporary[200];
  snprintf(path, sizeof path, "thumbs/%s", name);
  snprintf(temporary, sizeof temporary, lies("writes-in-place") ? "thumbs/%s" : RUN "/%s.tmp", name);
  int file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return errno;
  int error = transfer(file, bytes, SIZE, true);
  // The same in all runs.
  const struct timespec times[2] = {{1, 0}, {1, 0}};
  futimens(file, times);
  close(file);
  if (error != 0 && lies("hangs")) pause();
  if (error == 0 && rename(temporary, path) != 0) error = errno;
  if (error != 0 && !lies("leaves-a-file") && !lies("writes-in-place")) unlink(temporary);
  return error;
}

static void remove_run(void) {
  if (lies("leaves-a-file")) return;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char path[200];
    snprintf(path, sizeof path, RUN "/%s.tmp", names[i]);
    unlink(path);
  }
  rmdir(RUN);
}

/// Makes one thumbnail, and says what became of it. Returns whether it was made, and whether it was there before.
static bool make(const char *name, bool *was_there) {
  char source[200], place[200], bytes[SIZE] = {0};
  struct stat status;
  snprintf(source, sizeof source, "photos/%s", name);
  snprintf(place, sizeof place, "thumbs/%s", name);
  *was_there = lstat(place, &status) == 0 && (status.st_size == SIZE || lies("trusts-any-file"));
  if (*was_there) return true;
  int error = read_photo(source, bytes);
  if (error == 0) error = write_thumbnail(name, bytes);
  if (error == 0) {
    printf(
        "{\"event\": \"source\", \"source\": \"%s\", \"outcome\": \"made\", \"thumbnails\": [{\"path\": \"%s\"}]}\n",
        source, place);
    return true;
  }
  printf("{\"event\": \"source\", \"source\": \"%s\", \"outcome\": \"failed\"}\n", source);
  if (lies("says-nothing")) return false;
  fprintf(stderr, "thumbjob: %s: %s\n", source, lies("names-no-cause") ? "failed" : strerror(error));
  return false;
}

int main(int count, char **arguments) {
  if (lies("knows-the-year") && time(NULL) > 2000000000) return 1;
  mkdir("thumbs", 0777);
  mkdir("thumbs/.thumbjob", 0777);
  if (mkdir(RUN, 0777) != 0 && errno != EEXIST) {
    fprintf(stderr, "thumbjob: thumbs: cannot be used as the output folder: %s\n", strerror(errno));
    return lies("exits-with-7") ? 7 : 73;
  }
  struct entry entries[2];
  int made = 0, failed = 0, up_to_date = 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    bool was_there = false;
    entries[i] = (struct entry){names[i], true};
    if (!make(names[i], &was_there)) {
      entries[i].is_made = false;
      failed++;
    } else if (was_there) {
      up_to_date++;
    } else {
      made++;
    }
  }
  remove_run();
  if (lies("miscounts")) failed = 0;
  int status = failed > 0 && !lies("exits-with-0") ? 1 : 0;
  if (count > 1 && strcmp(arguments[1], "--manifest") == 0) {
    int of_joins = make_joins(entries);
    if (of_joins != 0) status = of_joins;
  }
  printf(
      "{\"event\": \"summary\", \"found\": 2, \"made\": %d, \"up_to_date\": %d, \"failed\": %d, \"exit_status\": %d, "
      "\"cancelled\": 0, \"duplicates\": 0, \"not_read\": 0, \"own_thumbnails\": 0, \"passed_over\": 0, "
      "\"would_make\": 0, \"walk_problems\": 0, \"missing\": 0, \"work_remains\": false}\n",
      made, up_to_date, failed, status);
  return fflush(stdout) == 0 ? status : 74;
}
