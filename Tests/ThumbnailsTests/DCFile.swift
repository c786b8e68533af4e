import TestSupport

@testable import Thumbnails

/// A progressive file with any script of DC scans, and no AC scans.
struct DCFile {
  struct Scan {
    let components: [Int]
    let approximationHigh: Int
    let approximationLow: Int

    init(_ components: [Int], _ high: Int, _ low: Int) {
      (self.components, approximationHigh, approximationLow) = (components, high, low)
    }
  }

  private let scans: [Scan]
  private let restartInterval: Int
  private let h: Int
  private let v: Int
  private let width = 83
  private let height = 61

  init(_ scans: [Scan], h: Int, v: Int, restartInterval: Int = 0) {
    (self.scans, self.h, self.v, self.restartInterval) = (scans, h, v, restartInterval)
  }

  func bytes() -> [UInt8] {
    var file: [UInt8] = JPEGMarker.soi.bytes + TestJPEG.jfif
    file += TestJPEG.segment(.dqt, [0] + [UInt8](repeating: 3, count: 64))
    var frame: [UInt8] = [8, 0, UInt8(height), 0, UInt8(width), 3]
    for (index, factors) in [UInt8(h << 4 | v), 0x11, 0x11].enumerated() { frame += [UInt8(index + 1), factors, 0] }
    file += TestJPEG.segment(.sof2, frame)
    var counts = [UInt8](repeating: 0, count: 16)
    counts[3] = 12
    file += TestJPEG.segment(.dht, [0] + counts + (0..<12).map { UInt8($0) })
    file += TestJPEG.segment(.dri, [0, UInt8(restartInterval)])
    for scan in scans { file += data(scan) }
    return file + JPEGMarker.eoi.bytes
  }

  /// A DC coefficient that goes up and down over its whole range.
  private func dc(_ component: Int, _ column: Int, _ row: Int) -> Int {
    (column * 37 + row * 101 + component * 59) % 341 * 2 - 340
  }

  private func data(_ scan: Scan) -> [UInt8] {
    var header = [UInt8(scan.components.count)]
    for component in scan.components { header += [UInt8(component + 1), 0] }
    header += [0, 0, UInt8(scan.approximationHigh << 4 | scan.approximationLow)]
    var bits = BitWriter()
    var predictors = [0, 0, 0]
    var mcus = 0
    func beginMCU() {
      if restartInterval > 0, mcus > 0, mcus % restartInterval == 0 {
        bits.restart(mcus / restartInterval - 1)
        predictors = [0, 0, 0]
      }
      mcus += 1
    }
    func put(_ component: Int, _ column: Int, _ row: Int) {
      let value = dc(component, column, row)
      guard scan.approximationHigh == 0 else { return bits.put(value >> scan.approximationLow & 1, 1) }
      let difference = value >> scan.approximationLow - predictors[component]
      predictors[component] = value >> scan.approximationLow
      let size = BitWriter.size(difference)
      bits.put(size, 4)
      bits.putValue(difference, size)
    }
    if scan.components.count == 1 {
      let component = scan.components[0]
      let (own, ownV) = component == 0 ? (h, v) : (1, 1)
      for row in 0..<(height * ownV + 8 * v - 1) / (8 * v) {
        for column in 0..<(width * own + 8 * h - 1) / (8 * h) {
          beginMCU()
          put(component, column, row)
        }
      }
    } else {
      for row in 0..<(height + 8 * v - 1) / (8 * v) {
        for column in 0..<(width + 8 * h - 1) / (8 * h) {
          beginMCU()
          for component in scan.components {
            let (own, ownV) = component == 0 ? (h, v) : (1, 1)
            for block in 0..<own * ownV { put(component, column * own + block % own, row * ownV + block / own) }
          }
        }
      }
    }
    return TestJPEG.segment(.sos, header) + bits.finish()
  }
}
