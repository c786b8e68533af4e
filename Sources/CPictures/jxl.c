#ifdef THUMBJOB_FORMATS
// JPEG XL by libjxl: the first frame that is shown, with all layers below it. The file is fed in pieces, and pixels come in
// parts of rows, in the order in which groups are decoded. libjxl 0.7 passes pixels on while it decodes only if they are
// asked for as floating-point numbers of three or four channels. For any other format it keeps the whole picture before.
//
// Colours: most lossy pictures are coded in XYB, from which libjxl makes sRGB. PQ and HLG are mapped to the brightness of
// sRGB then. Other pictures have the colours of their profile, which libjxl does not convert.
//
// Out of memory: libjxl 0.7 uses the given allocator for its outermost structure only, and takes the rest by malloc(3) and
// C++'s `new`. It does not survive a malloc(3) that fails: it stops by an illegal instruction, or writes where no memory is.
// So the allocator of the process must not return then. See cpictures_needs_memory().
//
// Source: ISO/IEC 18181-1 (codestream), 18181-2 (file format); libjxl's decode.h.

#include <jxl/decode.h>
#include <stdlib.h>
#include <string.h>

#include "accumulator.h"
#include "decoding.h"

// Asks whether to go on after so many parts of rows. A group has 256 rows, or more.
#define PARTS_BETWEEN_CHECKS 64

// The pixels that are converted at once.
#define RUN_LENGTH 1024

// The brightness of white in sRGB, to which brighter pictures are mapped: the default of the format, in cd/m².
#define WHITE_LUMINANCE 255

enum { piece_size = 64 << 10 };

typedef struct jxl_reading {
  decoding *call;
  JxlDecoder *_Nullable decoder;
  accumulator sums;
  sample_layout layout;
  /// How many channels libjxl passes on: colours, which are three even if the picture is grey, and alpha.
  unsigned channels;
  uint64_t pixels_done;
  unsigned parts_unchecked;
  bool is_out_of_memory;
  /// Where in the file the bytes after those in the piece are.
  uint64_t offset;
  /// The bytes in the piece that libjxl has not taken.
  size_t rest;
  uint8_t piece[piece_size];
  uint8_t pixels[RUN_LENGTH * 4];
} jxl_reading;

static void *allocate(void *context, size_t size) {
  jxl_reading *reading = context;
  void *block = malloc(size);
  if (!block) reading->is_out_of_memory = true;
  return block;
}

static void deallocate(void *context, void *block) {
  (void)context;
  free(block);
}

/// Whether to go on. Reading and pixels each count for half of the work, because large groups are read before they are
/// decoded.
static bool proceeds(jxl_reading *reading) {
  const decoding *call = reading->call;
  uint64_t count = (uint64_t)call->request->width * call->request->height;
  double read = call->input->size > 0 ? (double)reading->offset / (double)call->input->size : 1;
  double shown = (double)reading->pixels_done / (double)count;
  return decoding_proceeds(reading->call, read / 2 + (shown < 1 ? shown : 1) / 2);
}

/// The value of 8 bits of a sample from 0 to 1. Colours outside the gamut, and what is not a number, are possible.
static inline uint8_t narrowed(float sample) {
  return sample > 0 ? sample < 1 ? (uint8_t)(sample * 255.0f + 0.5f) : 255 : 0;
}

/// Converts up to RUN_LENGTH pixels. The three colours of a grey one are alike.
static void convert(uint8_t *into, const float *from, size_t count, sample_layout layout) {
  switch (layout) {
    case SAMPLES_GREY:
      for (size_t index = 0; index < count; index++) into[index] = narrowed(from[3 * index]);
      break;
    case SAMPLES_GREY_ALPHA:
      for (size_t index = 0; index < count; index++) {
        into[2 * index] = narrowed(from[4 * index]);
        into[2 * index + 1] = narrowed(from[4 * index + 3]);
      }
      break;
    case SAMPLES_RGB:
      for (size_t index = 0; index < 3 * count; index++) into[index] = narrowed(from[index]);
      break;
    default:
      for (size_t index = 0; index < 4 * count; index++) into[index] = narrowed(from[index]);
      break;
  }
}

/// Called by libjxl for a part of a row. It cannot be told to stop here: after a cancellation, pixels are passed over until
/// it asks for the next piece.
static void take_pixels(void *context, size_t x, size_t y, size_t count, const void *samples) {
  jxl_reading *reading = context;
  const cdecoding_request *request = reading->call->request;
  if (reading->call->reply->status != CDECODING_OK || x >= request->width || y >= request->height) return;
  if (count > request->width - x) count = request->width - x;
  const float *from = samples;
  for (size_t done = 0; done < count;) {
    size_t run = count - done < RUN_LENGTH ? count - done : RUN_LENGTH;
    convert(reading->pixels, from + done * reading->channels, run, reading->layout);
    accumulator_add(&reading->sums, (int64_t)(x + done), (int64_t)y, run, reading->pixels, reading->layout);
    done += run;
  }
  reading->pixels_done += count;
  if (++reading->parts_unchecked < PARTS_BETWEEN_CHECKS) return;
  reading->parts_unchecked = 0;
  proceeds(reading);
}

/// Checks the picture's size and channels, and makes the sums.
static void take_basic_info(jxl_reading *reading) {
  decoding *call = reading->call;
  const cdecoding_request *request = call->request;
  JxlBasicInfo info;
  if (JxlDecoderGetBasicInfo(reading->decoder, &info) != JXL_DEC_SUCCESS) {
    decoding_fail(call, CDECODING_DAMAGED, "the header cannot be read");
    return;
  }
  if (info.xsize != request->width || info.ysize != request->height) {
    decoding_fail(call, CDECODING_DAMAGED, "the picture has another size than its header says");
    return;
  }
  for (uint32_t index = 0; index < info.num_extra_channels; index++) {
    JxlExtraChannelInfo channel;
    if (JxlDecoderGetExtraChannelInfo(reading->decoder, index, &channel) == JXL_DEC_SUCCESS &&
        channel.type == JXL_CHANNEL_BLACK) {
      decoding_fail(call, CDECODING_UNSUPPORTED, "the picture's colours are inks (CMYK)");
      return;
    }
  }
  bool is_grey = info.num_color_channels == 1;
  bool has_alpha = info.alpha_bits > 0;
  reading->channels = has_alpha ? 4 : 3;
  reading->layout = is_grey ? has_alpha ? SAMPLES_GREY_ALPHA : SAMPLES_GREY : has_alpha ? SAMPLES_RGBA : SAMPLES_RGB;
  if (!decoding_expects_pixels(call, is_grey ? 1 : 3)) return;
  if (!accumulator_prepare(&reading->sums, call, has_alpha)) return;
  // Has an effect only on PQ and HLG. Where colours are not converted, their meaning stays that of the profile.
  if (!info.uses_original_profile) JxlDecoderSetDesiredIntensityTarget(reading->decoder, WHITE_LUMINANCE);
}

/// sRGB, or the greys of it.
static JxlColorEncoding standard_colors(bool is_grey) {
  return (JxlColorEncoding){
      .color_space = is_grey ? JXL_COLOR_SPACE_GRAY : JXL_COLOR_SPACE_RGB,
      .white_point = JXL_WHITE_POINT_D65,
      .primaries = JXL_PRIMARIES_SRGB,
      .transfer_function = JXL_TRANSFER_FUNCTION_SRGB,
      .rendering_intent = JXL_RENDERING_INTENT_RELATIVE,
  };
}

static bool are_standard(const JxlColorEncoding *colors) {
  return colors->white_point == JXL_WHITE_POINT_D65 && colors->transfer_function == JXL_TRANSFER_FUNCTION_SRGB &&
         (colors->color_space == JXL_COLOR_SPACE_GRAY ||
          (colors->color_space == JXL_COLOR_SPACE_RGB && colors->primaries == JXL_PRIMARIES_SRGB));
}

/// Chooses the colours, and keeps their profile if they are not sRGB.
static void take_colors(jxl_reading *reading) {
  decoding *call = reading->call;
  const cdecoding_request *request = call->request;
  JxlDecoder *decoder = reading->decoder;
  const JxlColorEncoding wanted = standard_colors(request->plane_count == 1);
  // Fails where colours are not coded in XYB: they stay as they are.
  JxlDecoderSetPreferredColorProfile(decoder, &wanted);
  const JxlColorProfileTarget target = JXL_COLOR_PROFILE_TARGET_DATA;
  JxlColorEncoding colors;
  if (JxlDecoderGetColorAsEncodedProfile(decoder, NULL, target, &colors) == JXL_DEC_SUCCESS && are_standard(&colors)) return;
  size_t size;
  if (request->profile_capacity == 0) return;
  if (JxlDecoderGetICCProfileSize(decoder, NULL, target, &size) != JXL_DEC_SUCCESS || size == 0) return;
  if (size > request->profile_capacity) {
    decoding_warn_of_profile(call);
    return;
  }
  uint8_t *into = call->memory + request->profile_offset;
  if (JxlDecoderGetColorAsICCProfile(decoder, NULL, target, into, size) == JXL_DEC_SUCCESS) {
    call->reply->profile_size = size;
  }
}

/// Gives libjxl the next piece of the file, after what it has left of the one before. Returns false if the call has failed.
static bool feed(jxl_reading *reading) {
  decoding *call = reading->call;
  if (!proceeds(reading)) return false;
  size_t left = JxlDecoderReleaseInput(reading->decoder);
  size_t room = piece_size - left;
  uint64_t rest = call->input->size - reading->offset;
  size_t count = rest < room ? (size_t)rest : room;
  if (count == 0) {
    // libjxl leaves a few bytes at most, the beginning of a box.
    decoding_fail(
        call, room == 0 ? CDECODING_DAMAGED : CDECODING_TRUNCATED,
        room == 0 ? "the data breaks the format" : "the file ends too early");
    return false;
  }
  memmove(reading->piece, reading->piece + reading->rest - left, left);
  if (!decoding_read(call, reading->offset, reading->piece + left, count)) return false;
  reading->offset += count;
  reading->rest = left + count;
  return JxlDecoderSetInput(reading->decoder, reading->piece, reading->rest) == JXL_DEC_SUCCESS;
}

/// Decodes up to the last pixel of the first frame that is shown, or until the call fails.
static void read_picture(jxl_reading *reading) {
  decoding *call = reading->call;
  const cdecoding_request *request = call->request;
  bool is_whole = false;
  while (!is_whole && call->reply->status == CDECODING_OK) {
    switch (JxlDecoderProcessInput(reading->decoder)) {
      case JXL_DEC_BASIC_INFO: take_basic_info(reading); break;
      case JXL_DEC_COLOR_ENCODING: take_colors(reading); break;
      case JXL_DEC_NEED_MORE_INPUT:
        if (!feed(reading)) decoding_fail(call, CDECODING_DAMAGED, "the data breaks the format");
        break;
      case JXL_DEC_NEED_IMAGE_OUT_BUFFER: {
        const JxlPixelFormat format = {
            .num_channels = reading->channels, .data_type = JXL_TYPE_FLOAT, .endianness = JXL_NATIVE_ENDIAN};
        if (JxlDecoderSetImageOutCallback(reading->decoder, &format, take_pixels, reading) != JXL_DEC_SUCCESS) {
          decoding_fail(call, CDECODING_UNSUPPORTED, "libjxl cannot pass on the pixels of the picture");
        }
        break;
      }
      case JXL_DEC_FULL_IMAGE: is_whole = true; break;
      case JXL_DEC_SUCCESS: decoding_fail(call, CDECODING_DAMAGED, "the file has no picture"); break;
      default: decoding_fail(call, CDECODING_DAMAGED, "the data breaks the format"); break;
    }
  }
  if (is_whole && reading->pixels_done < (uint64_t)request->width * request->height) {
    decoding_fail(call, CDECODING_DAMAGED, "pixels are missing");
  }
}

/// Makes libjxl's decoder. It uses no threads but this one, because it is given none.
static bool prepare(jxl_reading *reading) {
  const JxlMemoryManager memory = {.opaque = reading, .alloc = allocate, .free = deallocate};
  reading->decoder = JxlDecoderCreate(&memory);
  return reading->decoder &&
         JxlDecoderSubscribeEvents(
             reading->decoder, JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING | JXL_DEC_FULL_IMAGE) == JXL_DEC_SUCCESS &&
         JxlDecoderSetKeepOrientation(reading->decoder, JXL_TRUE) == JXL_DEC_SUCCESS &&
         JxlDecoderSetUnpremultiplyAlpha(reading->decoder, JXL_TRUE) == JXL_DEC_SUCCESS;
}

void decode_jxl(decoding *call) {
  if (!decoding_expects_profile(call)) return;
  jxl_reading *reading = calloc(1, sizeof *reading);
  if (!reading) {
    decoding_fail(call, CDECODING_NO_MEMORY, "out of memory");
    return;
  }
  reading->call = call;
  if (prepare(reading)) {
    read_picture(reading);
    if (call->reply->status == CDECODING_OK) accumulator_finish(&reading->sums);
  } else {
    decoding_fail(call, CDECODING_NO_MEMORY, "libjxl cannot be prepared");
  }
  JxlDecoderDestroy(reading->decoder);
  if (reading->is_out_of_memory && call->reply->status == CDECODING_DAMAGED) {
    // libjxl does not tell this error from others.
    call->reply->status = CDECODING_OK;
    decoding_fail(call, CDECODING_NO_MEMORY, "out of memory");
  }
  accumulator_free(&reading->sums);
  free(reading);
}
#endif
