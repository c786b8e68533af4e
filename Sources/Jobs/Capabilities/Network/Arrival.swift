import Fetching
import Files
import Foundation
import JobSettings
import Pictures
import Sourcing
import Thumbnails

/// A source that arrives from the network in a file, and how much of it its thumbnails need.
struct Arrival {
  let file: SpoolFile
  /// One for each output; empty if everything is fetched.
  private var judges: [ArrivingJPEG] = []
  private let options: [ThumbnailOptions]
  private let extent: FetchExtent
  /// Whether its name says that most of it is probably not needed.
  private let isNamedLikeParts: Bool
  /// Where the file may end; nil if all of it is needed.
  private var end: Int?
  /// Nil before enough has arrived to tell.
  private var type: ImageType?

  init(in file: SpoolFile, _ options: [ThumbnailOptions], extent: FetchExtent, isNamedLikeParts: Bool) {
    (self.file, self.options, self.extent, self.isNamedLikeParts) = (file, options, extent, isNamedLikeParts)
    restart()
  }

  /// Forgets what has arrived.
  mutating func restart() {
    let bytes = ByteReader(fileDescriptor: file.descriptor)
    judges = extent == .whole ? [] : options.map { ArrivingJPEG(bytes, options: $0, needsLastBit: extent == .exact) }
    (end, type) = (nil, nil)
  }

  /// Whether the rest of the source was not needed.
  var isCut: Bool { end != nil }

  /// Whether the file lacks the last bit of its picture on purpose.
  var lacksLastBit: Bool { end != nil && extent == .sparing }

  /// Whether the first bytes tell that they are enough.
  ///
  /// - Parameter count: how many bytes have arrived.
  mutating func verdict(having count: Int, of total: Int?) -> FetchVerdict {
    guard !judges.isEmpty else { return .all }
    if type == nil, count >= SourceFile.headSize {
      type = readType()
      // The head tells all that is said of other files.
      if type?.isReadable != true { return .enough(count) }
    }
    if let type, PictureParts.mayBeEnough(of: type, for: options) {
      guard let total, let missing = missing(having: RangeSet(0..<count), of: total) else {
        judges = []
        return .all
      }
      return .parts(missing)
    }
    var ends: [Int] = []
    for judge in judges {
      switch judge.read(arrived: count) {
      case .unknown: return .goOn
      case .everything:
        judges = []
        return .all
      case .end(let end): ends.append(end)
      }
    }
    end = ends.max()
    return end.map { .enough($0) } ?? .goOn
  }

  /// What the thumbnails need besides the parts that are there; nil for everything.
  mutating func missing(having held: RangeSet<Int>, of total: Int) -> RangeSet<Int>? {
    if type == nil { type = readType() }
    guard extent != .whole else { return nil }
    // The head tells all that is said of other files.
    guard let type, type.isReadable else {
      return held.isSuperset(of: RangeSet(0..<SourceFile.headSize)) ? RangeSet() : nil
    }
    return PictureParts.missing(
      of: type, in: ByteReader(fileDescriptor: file.descriptor, size: total), held: held, size: total,
      isNamedRaw: isNamedLikeParts, for: options)
  }

  /// The type by the first bytes; nil for a file that is no picture.
  private func readType() -> ImageType? {
    (try? readAll(min(ImageType.sniffLength, file.size), from: file.descriptor, at: 0)).flatMap { ImageType.sniff($0) }
  }

  /// Marks the end of a picture whose rest was not fetched, so that it is not taken for a file that was cut off.
  ///
  /// - Returns: the size of the file.
  /// - Throws: `FetchError` if the disk is full.
  func finish() throws(FetchError) -> Int {
    if isCut { try file.append(ArrivingJPEG.ending) }
    return file.size
  }
}
