/// The blocks of a scan that a `BlockFinder` has found and that are not decoded yet. They are those of whole MCUs.
struct FoundBlocks {
  private let blocks: [ScanHeader.Block]
  private let steps: StepTables?
  /// Made once there is enough data for it.
  private var finder: BlockFinder?
  /// Their indices in `starts`. The entry after them is the bit after the last block.
  private(set) var indices = 0..<0

  /// - parameters:
  ///   - blocks: those of an MCU.
  ///   - steps: nil for the scans of a progressive file, of which no blocks are found.
  init(_ blocks: [ScanHeader.Block], _ steps: StepTables?) { (self.blocks, self.steps) = (blocks, steps) }

  var isEmpty: Bool { indices.isEmpty }

  /// The bits at which the blocks begin.
  var starts: [UInt32] { finder?.starts ?? [] }

  /// Finds blocks in a reader's window, if there is enough data for it.
  ///
  /// - parameters:
  ///   - start: the bit at which an MCU begins.
  ///   - end: no block is looked for from this bit on, because the window may not contain all of it.
  mutating func find(in reader: SegmentReader, from start: Int, to end: Int) {
    guard let steps, end - start >= BlockFinder.leastSpan else { return }
    finder = finder ?? BlockFinder(blocks: blocks, steps)
    let count = finder?.find(in: reader.window.span.bytes, from: start, to: end) ?? 0
    indices = 0..<count - count % blocks.count
  }

  mutating func removeFirst(_ count: Int) { indices = indices.lowerBound + count..<indices.upperBound }

  mutating func removeAll() { indices = 0..<0 }
}
