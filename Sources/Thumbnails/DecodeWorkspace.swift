import CLibJPEG

/// The memory that a maker reuses from one source to the next: planes, profiles, lookup tables, renderer
/// and encoder.
///
/// *Concurrency*: for one thread at a time.
final class DecodeWorkspace {
  let renderer = ThumbnailRenderer()
  let profiles = ProfileReader()
  private var buffers: [PlaneBuffer] = []
  private var encoder: JPEGEncoder?
  /// Encodes other formats than JPEG.
  var otherEncoder: (any ThumbnailEncoder)?
  private var tables = KnownTables()

  /// The most bytes of samples kept from one source to the next: enough for most photos at their decoding scale.
  private static let samplesKept = 3 << 19

  /// Frees the buffers that are too large to be kept.
  func shrink() {
    var left = Self.samplesKept
    for buffer in buffers + renderer.buffers { buffer.keep(within: &left) }
    encoder?.shrink()
  }

  /// Frees all memory.
  func trim() {
    renderer.trim()
    profiles.trim()
    buffers = []
    tables = KnownTables()
    encoder?.trim()
  }

  /// Frees the decoded planes.
  func releasePlanes() {
    for buffer in buffers { buffer.release() }
  }

  /// Decodes the lowest coefficients of each block into planes that are valid until the next call. Also tells whether
  /// the file lacks scans that these do not need.
  func decodeBlocks(
    _ decoder: JPEGDecoder, _ info: SourceInfo, side: Int
  ) throws(BlockDecoderError) -> (planes: [DecodedPlane], lacksScans: Bool) {
    while buffers.count < 2 { buffers.append(PlaneBuffer()) }
    var blocks = BlockDecoder(decoder.input, header: info, side: side, known: tables)
    return (try blocks.decode(into: buffers[0], masksIn: buffers[1]), blocks.lacksScans)
  }

  /// Decodes a sequential picture, and resizes it at the same time.
  func decodeBands(
    _ decoder: JPEGDecoder, _ info: SourceInfo, sides: [Int], into resize: BandedResize,
    proceed: @escaping CancellationCheck
  ) throws(BlockDecoderError) {
    // The side matters only to coefficients that are stored.
    var blocks = BlockDecoder(decoder.input, header: info, side: 1, known: tables)
    try blocks.decodeBands(sides: sides, into: resize, proceed: proceed)
  }

  /// Throws if the file is corrupt.
  func check(_ decoder: JPEGDecoder, _ info: SourceInfo) throws(ThumbnailError) {
    defer { releasePlanes() }
    do {
      _ = try decodeBlocks(decoder, info, side: 1)
    } catch {
      switch error {
      case .irregular: return
      case .corrupt(let corruption): throw .corrupt(corruption.fault.rawValue)
      case .failed(let failure): throw failure
      }
    }
  }

  /// Decodes with libjpeg at scale 1/`denominator` into planes that are valid until the next call.
  func decode(
    _ decoder: JPEGDecoder, _ denominator: Int, skippingFineScans: Bool
  ) throws(ThumbnailError) -> [DecodedPlane] {
    let layouts = try decoder.setScale(denominator)
    while buffers.count < layouts.count { buffers.append(PlaneBuffer()) }
    var planes: [DecodedPlane] = []
    var targets: [clibjpeg_plane] = []
    for (layout, buffer) in zip(layouts, buffers) {
      let view = try buffer.plane(
        columns: layout.columns, rows: layout.rows, stride: layout.min_stride, paddedRows: layout.min_rows)
      planes.append(
        DecodedPlane(view: view, columnsExact: layout.columns_exact, rowsExact: layout.rows_exact))
      targets.append(clibjpeg_plane(data: view.base, stride: layout.min_stride, rows: layout.min_rows))
    }
    try decoder.decode(into: targets, skippingFineScans: skippingFineScans)
    return planes
  }

  /// Prepares to resize a picture for every placement while it is decoded. A placement that equals the one before has the
  /// same targets. They are valid until the next picture.
  func resize(
    _ shape: PictureShape, _ layouts: [BandedResize.Layout], _ placements: [Placement], _ conversion: ProfileConversion,
    _ options: ThumbnailOptions
  ) throws(ThumbnailError) -> (BandedResize, [ResizeTargets]) {
    while buffers.count < layouts.count { buffers.append(PlaneBuffer()) }
    var own: [ResizeTargets] = []
    var all: [ResizeTargets] = []
    for (index, placement) in placements.enumerated() {
      if index == 0 || placements[index - 1] != placement {
        let order = ThumbnailRenderer.Order(placement: placement, conversion: conversion, options: options)
        own.append(try renderer.targets(of: shape, order, place: own.count))
      }
      all.append(own[own.count - 1])
    }
    let resize = try BandedResize(
      layouts, to: own, parents: placements.withoutRepeats.parents(), with: renderer.resampler, in: buffers)
    return (resize, all)
  }

  /// The encoder, made at its first use.
  func currentEncoder() throws(ThumbnailError) -> JPEGEncoder {
    if let encoder { return encoder }
    let made = try JPEGEncoder()
    encoder = made
    return made
  }
}
