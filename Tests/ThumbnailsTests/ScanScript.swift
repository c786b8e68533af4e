import Foundation
import ReferenceDecoder
import Testing

/// The scans of a progressive file. libjpeg writes it with the coefficients of another file.
struct ScanScript: Sendable, CustomStringConvertible {
  /// A scan: the indices of its components, its band of coefficients (Ss, Se) and its bits (Ah, Al).
  struct Scan: Sendable {
    let components: [Int]
    let band: ClosedRange<Int>
    let bits: (high: Int, low: Int)

    init(_ components: [Int], _ band: ClosedRange<Int>, _ high: Int, _ low: Int) {
      (self.components, self.band, bits) = (components, band, (high, low))
    }
  }

  var description: String
  var scans: [Scan]

  /// libjpeg's own script for this many components.
  static func standard(_ components: Int) -> ScanScript {
    let (all, chroma) = (Array(0..<components), Array(1..<components))
    var scans = [Scan(all, 0...0, 0, 1), Scan([0], 1...5, 0, 2)]
    scans += chroma.map { Scan([$0], 1...63, 0, 1) }
    scans += [Scan([0], 6...63, 0, 2), Scan([0], 1...63, 2, 1), Scan(all, 0...0, 1, 0)]
    scans += (chroma + [0]).map { Scan([$0], 1...63, 1, 0) }
    return ScanScript(description: "standard", scans: scans)
  }

  /// Whole coefficients, band by band.
  static func spectral(_ components: Int) -> ScanScript {
    let bands = [1...2, 3...9, 10...63].flatMap { band in (0..<components).map { Scan([$0], band, 0, 0) } }
    return ScanScript(description: "spectral", scans: [Scan(Array(0..<components), 0...0, 0, 0)] + bands)
  }

  /// Each component by itself, bit by bit, and the DC coefficients' last bit at the end.
  static func bitwise(_ components: Int) -> ScanScript {
    let all = 0..<components
    var scans = all.map { Scan([$0], 0...0, 0, 3) } + all.map { Scan([$0], 1...63, 0, 3) }
    for low in [2, 1, 0] {
      scans += all.map { Scan([$0], 1...63, low + 1, low) } + all.map { Scan([$0], 0...0, low + 1, low) }
    }
    return ScanScript(description: "bitwise", scans: scans)
  }

  /// The scripts for this many components.
  static func all(_ components: Int) -> [ScanScript] {
    [standard(components), spectral(components), bitwise(components)]
  }

  /// A file with the coefficients of `file` and these scans.
  func rewrite(_ file: [UInt8], restartInterval: Int = 0) throws -> [UInt8] {
    let scans = scans.map { scan in
      var components: (CInt, CInt, CInt, CInt) = (0, 0, 0, 0)
      withUnsafeMutableBytes(of: &components) { bytes in
        let places = bytes.bindMemory(to: CInt.self)
        for (place, component) in scan.components.enumerated() { places[place] = CInt(component) }
      }
      return reference_scan(
        components: components, count: CInt(scan.components.count), start: CInt(scan.band.lowerBound),
        end: CInt(scan.band.upperBound), high: CInt(scan.bits.high), low: CInt(scan.bits.low))
    }
    var size = 0
    let made = reference_progressive(file, file.count, scans, CInt(scans.count), CUnsignedInt(restartInterval), &size)
    let bytes = try #require(made)
    defer { free(bytes) }
    return Array(UnsafeBufferPointer(start: bytes, count: size))
  }
}
