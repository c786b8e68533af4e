#ifdef THUMBJOB_FORMATS
#include "tiff_view.h"

#include "tiff_messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  /// The most entries of a directory.
  most_entries = 4096,
  /// The most bytes of a tag's values, but for the places of strips and tiles.
  longest_values = 1 << 20,
};

// MARK: The directory

/// Whether a tag has to do with the page's samples.
static bool is_needed(unsigned tag) {
  static const uint16_t needed[] = {
      TIFFTAG_IMAGEWIDTH, TIFFTAG_IMAGELENGTH, TIFFTAG_BITSPERSAMPLE, TIFFTAG_COMPRESSION, TIFFTAG_PHOTOMETRIC,
      TIFFTAG_FILLORDER, TIFFTAG_STRIPOFFSETS, TIFFTAG_SAMPLESPERPIXEL, TIFFTAG_ROWSPERSTRIP, TIFFTAG_STRIPBYTECOUNTS,
      TIFFTAG_PLANARCONFIG, TIFFTAG_GROUP3OPTIONS, TIFFTAG_GROUP4OPTIONS, TIFFTAG_PREDICTOR, TIFFTAG_COLORMAP,
      TIFFTAG_TILEWIDTH, TIFFTAG_TILELENGTH, TIFFTAG_TILEOFFSETS, TIFFTAG_TILEBYTECOUNTS, TIFFTAG_INKSET,
      TIFFTAG_EXTRASAMPLES, TIFFTAG_SAMPLEFORMAT, TIFFTAG_JPEGTABLES, TIFFTAG_JPEGPROC, TIFFTAG_JPEGIFOFFSET,
      TIFFTAG_JPEGIFBYTECOUNT, TIFFTAG_JPEGRESTARTINTERVAL, TIFFTAG_JPEGQTABLES, TIFFTAG_JPEGDCTABLES,
      TIFFTAG_JPEGACTABLES, TIFFTAG_YCBCRCOEFFICIENTS, TIFFTAG_YCBCRSUBSAMPLING, TIFFTAG_YCBCRPOSITIONING,
      TIFFTAG_REFERENCEBLACKWHITE, TIFFTAG_MATTEING, TIFFTAG_DATATYPE, TIFFTAG_LERC_PARAMETERS,
  };
  for (size_t index = 0; index < sizeof needed / sizeof needed[0]; index++) {
    if (needed[index] == tag) return true;
  }
  return false;
}

static bool is_place(unsigned tag) {
  return tag == TIFFTAG_STRIPOFFSETS || tag == TIFFTAG_STRIPBYTECOUNTS || tag == TIFFTAG_TILEOFFSETS ||
         tag == TIFFTAG_TILEBYTECOUNTS;
}

/// A number in the file's byte order.
static uint64_t number(const view *file, const uint8_t *bytes, unsigned count) {
  bool is_big_endian = file->header[0] == 'M';
  uint64_t value = 0;
  for (unsigned index = 0; index < count; index++) value = value << 8 | bytes[is_big_endian ? index : count - 1 - index];
  return value;
}

static void write_number(const view *file, uint8_t *bytes, unsigned count, uint64_t value) {
  bool is_big_endian = file->header[0] == 'M';
  for (unsigned index = 0; index < count; index++) {
    bytes[is_big_endian ? count - 1 - index : index] = (uint8_t)(value >> 8 * index);
  }
}

bool tiff_view_read(view *file) {
  decoding *call = file->call;
  uint64_t place = call->request->start;
  uint8_t *header = file->header;
  if (!decoding_read(call, 0, header, 8)) return false;
  unsigned version = (unsigned)number(file, header + 2, 2);
  bool is_big = version == 43;
  // The bytes of counts of entries, of entries, and of offsets.
  unsigned count_size = is_big ? 8 : 2, entry_size = is_big ? 20 : 12, offset_size = is_big ? 8 : 4;
  // Some kinds of files have other magic numbers than 42; to libtiff they are all alike.
  write_number(file, header + 2, 2, is_big ? 43 : 42);
  file->header_size = is_big ? 16 : 8;
  if (is_big) write_number(file, header + 4, 4, 8 << 16);
  if (is_big && header[0] != 'M') write_number(file, header + 4, 4, 8);
  write_number(file, header + file->header_size - offset_size, offset_size, place);
  if ((memcmp(header, "II", 2) != 0 && memcmp(header, "MM", 2) != 0) || place < file->header_size ||
      (!is_big && place > UINT32_MAX) || place > call->input->size) {
    decoding_fail(call, CDECODING_DAMAGED, "the file has no TIFF header, or the page no directory");
    return false;
  }
  uint8_t head[8];
  if (!decoding_read(call, place, head, count_size)) return false;
  uint64_t count = number(file, head, count_size);
  if (count == 0 || count > most_entries) {
    decoding_fail(call, CDECODING_DAMAGED, "a directory of %llu entries", (unsigned long long)count);
    return false;
  }
  // As long as in the file, although some entries are left out: then the rest is 0, and so is the next one's offset.
  file->directory_size = count_size + (size_t)count * entry_size + offset_size;
  file->directory = calloc(file->directory_size, 1);
  if (!file->directory) {
    decoding_fail(call, CDECODING_NO_MEMORY, "no memory for the directory");
    return false;
  }
  uint8_t *kept = file->directory + count_size;
  uint64_t kept_count = 0;
  for (uint64_t index = 0; index < count; index++) {
    uint8_t entry[20];
    if (!decoding_read(call, place + count_size + index * entry_size, entry, entry_size)) return false;
    unsigned tag = (unsigned)number(file, entry, 2);
    unsigned type = (unsigned)number(file, entry + 2, 2);
    uint64_t values = number(file, entry + 4, offset_size);
    int width = TIFFDataWidth((TIFFDataType)type);
    if (!is_needed(tag) || width <= 0 || (!is_place(tag) && values > longest_values / (unsigned)width)) continue;
    if (tag == TIFFTAG_EXTRASAMPLES || tag == TIFFTAG_MATTEING) file->names_extra_samples = true;
    memcpy(kept, entry, entry_size);
    kept += entry_size;
    kept_count++;
  }
  write_number(file, file->directory, count_size, kept_count);
  return true;
}

// MARK: What libtiff calls

static tmsize_t read_view(thandle_t handle, void *into, tmsize_t capacity) {
  reader *from = handle;
  view *file = from->file;
  const cpictures_input *input = file->call->input;
  uint64_t directory = file->call->request->start;
  size_t done = 0;
  while (done < (size_t)capacity) {
    uint64_t position = from->position;
    uint8_t *target = (uint8_t *)into + done;
    size_t wanted = (size_t)capacity - done;
    if (position < file->header_size || (position >= directory && position - directory < file->directory_size)) {
      bool is_header = position < file->header_size;
      size_t offset = (size_t)(is_header ? position : position - directory);
      size_t there = (is_header ? file->header_size : file->directory_size) - offset;
      if (wanted > there) wanted = there;
      memcpy(target, (is_header ? file->header : file->directory) + offset, wanted);
    } else {
      if (position < directory && wanted > directory - position) wanted = (size_t)(directory - position);
      ptrdiff_t taken = input->read(input->context, position, target, wanted);
      if (taken < 0) decoding_fail(file->call, CDECODING_READ_FAILED, "cannot be read");
      if (taken == 0) file->has_ended = true;
      if (taken <= 0) break;
      wanted = (size_t)taken;
    }
    from->position += wanted;
    done += wanted;
  }
  return (tmsize_t)done;
}

static tmsize_t write_nothing(thandle_t handle, void *from, tmsize_t count) {
  (void)handle, (void)from, (void)count;
  return -1;
}

static toff_t size_of_view(thandle_t handle) {
  const view *file = ((const reader *)handle)->file;
  uint64_t end = file->call->request->start + file->directory_size;
  return end > file->call->input->size ? end : file->call->input->size;
}

static toff_t seek_in_view(thandle_t handle, toff_t offset, int whence) {
  reader *from = handle;
  if (whence == SEEK_CUR) offset += from->position;
  if (whence == SEEK_END) offset += size_of_view(handle);
  from->position = offset;
  return offset;
}

static int close_view(thandle_t handle) {
  (void)handle;
  return 0;
}

/// libtiff begins some messages with the name of the file, which is empty here.
static const char *without_name(const char *message) { return strncmp(message, ": ", 2) == 0 ? message + 2 : message; }

__attribute__((format(printf, 4, 0))) static int note_error(
    TIFF *tiff, void *user, const char *module, const char *format, va_list arguments) {
  (void)tiff, (void)module;
  view *file = user;
  char message[sizeof file->error];
  vsnprintf(message, sizeof message, format, arguments);
  if (file->error[0] == '\0') snprintf(file->error, sizeof file->error, "%s", without_name(message));
  return 1;
}

__attribute__((format(printf, 4, 0))) static int note_warning(
    TIFF *tiff, void *user, const char *module, const char *format, va_list arguments) {
  (void)tiff, (void)module;
  view *file = user;
  if (!file->is_decoding) return 1;
  char message[CDECODING_MESSAGE_SIZE];
  vsnprintf(message, sizeof message, format, arguments);
  const char *text = without_name(message);
  switch (tiff_message_meaning(text, file->has_jpeg_ended, file->error[0] != '\0')) {
    case TIFF_MESSAGE_UNTOLD: break;
    case TIFF_MESSAGE_JPEG_ENDS:
      file->has_jpeg_ended = true;
      decoding_warn(file->call, "%s", text);
      break;
    case TIFF_MESSAGE_HARMLESS: decoding_warn(file->call, "%s", text); break;
    case TIFF_MESSAGE_DAMAGED: decoding_find_damage(file->call, "%s", text); break;
    case TIFF_MESSAGE_TRUNCATED: decoding_fail(file->call, CDECODING_TRUNCATED, "%s", text); break;
  }
  return 1;
}

bool tiff_view_open(reader *opened, view *file) {
  *opened = (reader){.file = file};
  bool was_decoding = file->is_decoding;
  file->is_decoding = false;
  TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
  if (options) {
    TIFFOpenOptionsSetErrorHandlerExtR(options, note_error, file);
    TIFFOpenOptionsSetWarningHandlerExtR(options, note_warning, file);
    // r: read; m: without a memory map; c: strips as they are in the file.
    opened->tiff = TIFFClientOpenExt(
        "", "rmc", opened, read_view, write_nothing, seek_in_view, close_view, size_of_view, NULL, NULL, options);
    TIFFOpenOptionsFree(options);
  }
  file->is_decoding = was_decoding;
  return opened->tiff != NULL;
}

void tiff_view_fail(view *file) {
  // libtiff has no codes for errors, and says of an allocation that there is no memory or no space.
  if (strstr(file->error, "memory") || strstr(file->error, "Memory") || strstr(file->error, "o space for")) {
    decoding_fail(file->call, CDECODING_NO_MEMORY, "%s", file->error);
  } else if (file->has_ended) {
    decoding_fail(file->call, CDECODING_TRUNCATED, "the file ends too early");
  } else if (strstr(file->error, "not configured") || strstr(file->error, "not implemented")) {
    decoding_fail(file->call, CDECODING_UNSUPPORTED, "%s", file->error);
  } else {
    decoding_fail(file->call, CDECODING_DAMAGED, "%s", file->error[0] ? file->error : "libtiff cannot decode it");
  }
}

void tiff_view_begin_piece(view *file) {
  file->error[0] = '\0';
  file->has_jpeg_ended = false;
}

bool tiff_view_accepts(view *file) {
  // libtiff goes on after some errors, such as wrong codes of a fax.
  if (file->error[0] != '\0' && !tiff_message_is_harmless(file->error)) decoding_find_damage(file->call, "%s", file->error);
  file->error[0] = '\0';
  return file->call->reply->status == CDECODING_OK;
}
#endif
