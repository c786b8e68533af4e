#define _GNU_SOURCE

#include "fake_joins.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIZE 4000

struct join {
  const char *kind, *name, *folder, *path, *shown;
  /// Writes the contents.
  void (*write)(FILE *, const struct entry[2]);
};

/// The first byte of a thumbnail, so that what is made of another photo differs.
static int color(const struct entry *entry) {
  char path[200];
  snprintf(path, sizeof path, "thumbs/%s", entry->name);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  unsigned char byte = 0;
  if (file >= 0 && read(file, &byte, 1) != 1) byte = 0;
  if (file >= 0) close(file);
  return byte;
}

static void write_manifest(FILE *text, const struct entry entries[2]) {
  fprintf(text, "{\"thumbjob-manifest\":1,\"sources\":[");
  const char *comma = "";
  for (int i = 0; i < 2; i++) {
    const struct entry *entry = &entries[i];
    if (!entry->is_made && lies("forgets-a-failure")) continue;
    if (entry->is_made || lies("hides-a-failure")) {
      fprintf(
          text, "%s\n{\"source\":\"../photos/%s\",\"color\":%d,\"thumbnails\":[]}", comma, entry->name, color(entry));
    } else {
      fprintf(text, "%s\n{\"source\":\"../photos/%s\",\"outcome\":\"failed\"}", comma, entry->name);
    }
    comma = ",";
  }
  fprintf(text, "\n]}\n");
}

static void write_sheet(FILE *text, const struct entry entries[2]) {
  fprintf(text, "%%PDF-1.7\n%d %d\n", color(&entries[0]), color(&entries[1]));
  fflush(text);
  long table = ftell(text);
  fprintf(text, "xref\nstartxref\n%ld\n%%%%EOF\n", table);
}

static void write_data(FILE *text, const struct entry entries[2]) {
  fprintf(text, "window.gallery={\"pictures\":[");
  for (int i = 0; i < 2; i++) {
    if (!entries[i].is_made) continue;
    fprintf(
        text, "%s{\"source\":\"%s\",\"color\":%d,\"thumbnails\":[]}", i == 1 && entries[0].is_made ? "," : "",
        entries[i].name, color(&entries[i]));
  }
  fprintf(text, "],\"missing\":[");
  for (int i = 0; i < 2; i++) {
    if (entries[i].is_made) continue;
    fprintf(
        text, "%s{\"source\":\"%s\",\"reason\":\"?\"}", i == 1 && !entries[0].is_made ? "," : "", entries[i].name);
  }
  fprintf(text, "]};\n");
}

static const struct join joins[] = {
    {"manifest", "manifest", "manifest", "manifest/m.json", "manifest/m.json", write_manifest},
    {"contact-sheet", "contact sheet", "sheet", "sheet/sheet.pdf", "sheet/sheet.pdf", write_sheet},
    {"gallery", "gallery", "web/page", "web/page/data.js", "web", write_data},
};

/// Writes all bytes from the start of the file. Returns an error number, or 0.
static int write_at_start(int file, const char *bytes, size_t size) {
  size_t done = 0;
  while (done < size) {
    ssize_t count = pwrite(file, bytes + done, size - done, (off_t)done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    done += (size_t)count;
    if (lies("joins-expect-all-bytes")) break;
  }
  return 0;
}

/// A file without a name; one with the temporary name where there is none. Returns the descriptor, or -1.
static int create(const struct join *join, const char *temporary, bool *is_named) {
  *is_named = false;
  int file = open(join->folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0666);
  if (file >= 0 || errno != EOPNOTSUPP || lies("needs-files-without-a-name")) return file;
  *is_named = true;
  return open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/// Puts contents in place. Returns an error number, or 0.
static int put(const struct join *join, const char *bytes, size_t size) {
  char temporary[200], own[64];
  snprintf(temporary, sizeof temporary, "%s/.thumbjob.tmp", join->folder);
  if (lies("removes-an-older-one")) unlink(join->path);
  if (lies("writes-joins-in-place")) {
    int file = open(join->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) return errno;
    int error = write_at_start(file, bytes, size);
    close(file);
    return error;
  }
  bool is_named;
  int file = create(join, temporary, &is_named);
  if (file < 0) return errno;
  int error = write_at_start(file, bytes, size);
  snprintf(own, sizeof own, "/proc/self/fd/%d", file);
  if (error == 0 && !is_named && linkat(AT_FDCWD, own, AT_FDCWD, temporary, AT_SYMLINK_FOLLOW) != 0) error = errno;
  if (close(file) != 0 && errno != EINTR && is_named && !lies("ignores-a-late-error") && error == 0) error = errno;
  if (error == 0 && rename(temporary, join->path) != 0) error = errno;
  if (error != 0 && !lies("leaves-a-named-file")) unlink(temporary);
  return error;
}

/// Makes one. Returns an error number, or 0.
static int make(const struct join *join, const struct entry entries[2]) {
  char bytes[SIZE] = {0};
  FILE *text = fmemopen(bytes, sizeof bytes, "w");
  if (text == NULL) return errno;
  join->write(text, entries);
  long size = ftell(text);
  fclose(text);
  if (lies("keeps-what-is-there") && access(join->path, F_OK) == 0) return 0;
  return put(join, bytes, (size_t)size);
}

int make_joins(const struct entry entries[2]) {
  int status = 0;
  mkdir("web", 0777);
  for (size_t i = 0; i < sizeof joins / sizeof *joins; i++) {
    const struct join *join = &joins[i];
    mkdir(join->folder, 0777);
    int error = make(join, entries);
    if (error != 0 && lies("says-nothing-of-joins")) continue;
    bool is_made = error == 0 || lies("boasts");
    printf("{\"event\": \"%s\", \"outcome\": \"%s\"}\n", join->kind, is_made ? "made" : "failed");
    if (error == 0) continue;
    if (!lies("names-no-join")) fprintf(stderr, "thumbjob: %s: %s: %s\n", join->name, join->shown, strerror(error));
    if (!lies("exits-as-if-joins-were-made")) status = error == EACCES || lies("takes-no-disk-fault") ? 73 : 74;
  }
  return status;
}
