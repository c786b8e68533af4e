import Fetching
import Files
import Foundation
import Thumbnails

/// A source that arrives from the network in a file, and how much of it its thumbnails need.
struct Arrival {
  let file: SpoolFile
  /// One for each output; empty if everything is fetched.
  private var judges: [ArrivingJPEG] = []
  private let options: [ThumbnailOptions]
  private let extent: FetchExtent
  /// Where the file may end; nil if all of it is needed.
  private var end: Int?

  init(in file: SpoolFile, _ options: [ThumbnailOptions], extent: FetchExtent) {
    (self.file, self.options, self.extent) = (file, options, extent)
    restart()
  }

  /// Forgets what has arrived.
  mutating func restart() {
    let bytes = ByteReader(fileDescriptor: file.descriptor)
    judges = extent == .whole ? [] : options.map { ArrivingJPEG(bytes, options: $0, needsLastBit: extent == .exact) }
    end = nil
  }

  /// Whether the rest of the source was not needed.
  var isCut: Bool { end != nil }

  /// Whether the file lacks the last bit of its picture on purpose.
  var lacksLastBit: Bool { end != nil && extent == .sparing }

  /// Whether the first bytes tell that they are enough.
  ///
  /// - Parameter count: how many bytes have arrived.
  mutating func verdict(having count: Int) -> FetchVerdict {
    guard !judges.isEmpty else { return .all }
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

  /// Marks the end of a picture whose rest was not fetched, so that it is not taken for a file that was cut off.
  ///
  /// - Returns: the size of the file.
  /// - Throws: `FetchError` if the disk is full.
  func finish() throws(FetchError) -> Int {
    if isCut { try file.append(ArrivingJPEG.ending) }
    return file.size
  }
}
