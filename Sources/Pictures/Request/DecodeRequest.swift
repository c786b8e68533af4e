import CDecoding
import Thumbnails

/// What is asked of a decoder: the request with its tiles, and the memory that it needs.
public struct DecodeRequest: Sendable {
  public private(set) var request: cdecoding_request
  public let tiles: [cdecoding_tile]
  public let extents: [cdecoding_extent]
  /// The bytes of memory for planes and profile.
  public let memorySize: Int
  /// The bytes that the decoder takes at most besides that memory.
  public private(set) var decoderBytes: Int
  let planes: [cdecoding_plane]

  /// - Parameters:
  ///   - request: without its planes, tiles and extents.
  ///   - planes: without their places, which follow each other.
  ///   - longestProfile: the most bytes of the profile that the decoder inflates; 0 if there is none.
  ///   - decoderBytes: the bytes that the decoder takes at most besides the memory for planes and profile.
  init(
    _ request: cdecoding_request, planes unplaced: [cdecoding_plane], tiles: [cdecoding_tile] = [],
    extents: [cdecoding_extent] = [], longestProfile: Int = 0, decoderBytes: Int
  ) {
    (self.request, self.tiles, self.extents) = (request, tiles, extents)
    (self.request.tile_count, self.request.extent_count) = (UInt32(tiles.count), UInt32(extents.count))
    var (offset, planes): (UInt64, [cdecoding_plane]) = (0, [])
    for var plane in unplaced {
      plane.offset = offset
      planes.append(plane)
      offset += UInt64(plane.columns) * UInt64(plane.rows)
    }
    if request.keeps_alpha, let first = planes.first {
      self.request.alpha_offset = offset
      offset += UInt64(first.columns) * UInt64(first.rows)
    }
    self.request.plane_count = UInt32(planes.count)
    withUnsafeMutableBytes(of: &self.request.planes) { places in
      for (index, plane) in planes.enumerated() {
        places.storeBytes(
          of: plane, toByteOffset: index * MemoryLayout<cdecoding_plane>.stride, as: cdecoding_plane.self)
      }
    }
    (self.request.profile_offset, self.request.profile_capacity) = (offset, UInt64(longestProfile))
    offset += UInt64(longestProfile)
    self.planes = planes
    memorySize = Int(offset)
    self.decoderBytes = decoderBytes
  }

  /// Whether a plane of alpha follows the others.
  public var keepsAlpha: Bool { request.keeps_alpha }

  /// The plane of alpha, if there is one.
  var alpha: [cdecoding_plane] {
    guard keepsAlpha, var plane = planes.first else { return [] }
    plane.offset = request.alpha_offset
    return [plane]
  }

  /// What the decoder may read of a file of so many bytes.
  public func parts(of size: Int) -> [Range<Int>] {
    let extents = extents + tiles.map(\.configuration)
    // The decoders of other kinds find their way through the file.
    guard [CDECODING_HEVC, CDECODING_AV1, CDECODING_JPEG, CDECODING_JP2].contains(request.kind) else {
      return [0..<size]
    }
    return extents.map { extent in
      let start = min(extent.offset, UInt64(size))
      return Int(start)..<Int(start + min(extent.size, UInt64(size) - start))
    }
  }

  /// The same request for a decoder that takes more memory.
  public func allowing(more bytes: Int) -> DecodeRequest {
    var copy = self
    copy.decoderBytes += bytes
    return copy
  }
}

extension cdecoding_extent {
  init(_ extent: FileExtent) { self.init(offset: extent.offset, size: extent.size) }
}

extension PixelSize {
  /// At most this size, and at least this size divided by a number above 0; each side at least 1.
  func reduced(by divisor: Double) -> PixelSize {
    func side(_ length: Int) -> Int { min(max(Int((Double(length) / max(divisor, 1)).rounded(.up)), 1), length) }
    return PixelSize(width: side(width), height: side(height))
  }

  /// The next size whose sides are even, so that chroma of 4:2:0 covers exactly the picture; not above `whole`.
  func evened(within whole: PixelSize) -> PixelSize {
    PixelSize(width: min(width + width % 2, whole.width), height: min(height + height % 2, whole.height))
  }
}

extension Int {
  /// The quotient, rounded up; for positive numbers.
  func quotientUp(_ divisor: Int) -> Int { (self + divisor - 1) / divisor }
}
