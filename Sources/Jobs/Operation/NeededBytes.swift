import Fetching
import Files
import Foundation
import JobSettings
import Pictures
import Sourcing
import Thumbnails

/// Finds out, while a source is fetched or read from its beginning, which bytes its results need.
///
/// *Concurrency*: for one thread at a time.
struct NeededBytes {
  /// Of a file whose name says that most of it is not needed, so many bytes are fetched or read first.
  static let beginning = 64 << 10

  private let descriptor: CInt
  /// One for each output; empty if everything is needed.
  private var judges: [ArrivingJPEG] = []
  private let options: [ThumbnailOptions]
  private let extent: FetchExtent
  /// Whether its name says that most of it is probably not needed.
  private let isNamedLikeParts: Bool
  /// Where the file may end; nil if all of it is needed.
  private(set) var end: Int?
  /// Nil before enough is there to tell.
  private var type: ImageType?

  /// - Parameters:
  ///   - descriptor: of the file, which stays open.
  ///   - options: of all outputs; empty if the results are no thumbnails, and need everything.
  init(of descriptor: CInt, _ options: [ThumbnailOptions], extent: FetchExtent, isNamedLikeParts: Bool) {
    (self.descriptor, self.options, self.extent) = (descriptor, options, extent)
    self.isNamedLikeParts = isNamedLikeParts
    restart()
  }

  /// Forgets what is there.
  mutating func restart() {
    let bytes = ByteReader(fileDescriptor: descriptor)
    judges = extent == .whole ? [] : options.map { ArrivingJPEG(bytes, options: $0, needsLastBit: extent == .exact) }
    (end, type) = (nil, nil)
  }

  /// Whether the first bytes tell that they are enough.
  ///
  /// - Parameters:
  ///   - count: how many bytes are there, from the beginning.
  ///   - total: the bytes of the whole source; nil if they are not known.
  mutating func verdict(having count: Int, of total: Int?) -> FetchVerdict {
    guard !judges.isEmpty else { return .all }
    if type == nil, count >= SourceFile.headSize {
      type = readType(having: count)
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
    if type == nil { type = readType(having: held.ranges.first?.upperBound ?? 0) }
    guard extent != .whole else { return nil }
    // The head tells all that is said of other files.
    guard let type, type.isReadable else {
      return held.isSuperset(of: RangeSet(0..<SourceFile.headSize)) ? RangeSet() : nil
    }
    return PictureParts.missing(
      of: type, in: ByteReader(fileDescriptor: descriptor, size: total), held: held, size: total,
      isNamedRaw: isNamedLikeParts, for: options)
  }

  /// The type by the first bytes; nil for a file that is no picture.
  private func readType(having count: Int) -> ImageType? {
    (try? readAll(min(ImageType.sniffLength, count), from: descriptor, at: 0)).flatMap { ImageType.sniff($0) }
  }
}
