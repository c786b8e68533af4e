import Fetching
import JobSettings
import Thumbnails

/// A source that arrives from the network in a file, and how much of it its thumbnails need.
struct Arrival {
  let file: SpoolFile
  private var needed: NeededBytes
  private let extent: FetchExtent

  init(in file: SpoolFile, _ options: [ThumbnailOptions], extent: FetchExtent, isNamedLikeParts: Bool) {
    (self.file, self.extent) = (file, extent)
    needed = NeededBytes(of: file.descriptor, options, extent: extent, isNamedLikeParts: isNamedLikeParts)
  }

  /// Forgets what has arrived.
  mutating func restart() { needed.restart() }

  /// Whether the first bytes tell that they are enough.
  ///
  /// - Parameter count: how many bytes have arrived.
  mutating func verdict(having count: Int, of total: Int?) -> FetchVerdict { needed.verdict(having: count, of: total) }

  /// What the thumbnails need besides the parts that are there; nil for everything.
  mutating func missing(having held: RangeSet<Int>, of total: Int) -> RangeSet<Int>? {
    needed.missing(having: held, of: total)
  }

  /// Whether the rest of the source was not needed.
  var isCut: Bool { needed.end != nil }

  /// Whether the file lacks the last bit of its picture on purpose.
  var lacksLastBit: Bool { isCut && extent == .sparing }

  /// Marks the end of a picture whose rest was not fetched, so that it is not taken for a file that was cut off.
  ///
  /// - Returns: the size of the file.
  /// - Throws: `FetchError` if the disk is full.
  func finish() throws(FetchError) -> Int {
    if isCut { try file.append(ArrivingJPEG.ending) }
    return file.size
  }
}
