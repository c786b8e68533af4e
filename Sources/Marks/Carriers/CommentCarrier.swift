import Thumbnails

/// A format whose files carry our comments: texts near their beginning, which no viewer shows. The first one is the mark.
///
/// *Concurrency*: its functions have no state.
protocol CommentCarrier: SendableMetatype {
  /// The most bytes before the first comment.
  static var longestStart: Int { get }
  /// The bytes of a comment besides its text.
  static var overhead: Int { get }

  /// Where the first comment of a file begins, if it is one that thumbjob has made.
  ///
  /// - Parameter head: the first bytes of a file.
  static func start(in head: ArraySlice<UInt8>) -> Int?

  /// A comment with this text.
  static func comment(_ text: [UInt8]) -> [UInt8]

  /// The comment at the beginning of these bytes; nil if there is none, or not all of it.
  static func comment(at bytes: ArraySlice<UInt8>) -> (text: ArraySlice<UInt8>, size: Int)?

  /// Corrects what a file says of its own size and places, after bytes were put into it or taken out.
  ///
  /// - Parameters:
  ///   - place: of the first of these bytes.
  ///   - count: negative for bytes that were taken out.
  static func adjust(_ file: inout [UInt8], at place: Int, by count: Int)
}

/// The formats that carry comments.
enum CommentCarriers {
  private static func carrier(of format: ThumbnailFormat) -> any CommentCarrier.Type {
    switch format {
    case .jpeg: JPEGComments.self
    case .webp: WebPComments.self
    case .avif: AVIFComments.self
    case .png: PNGComments.self
    }
  }

  static let all = ThumbnailFormat.allCases.map(carrier)

  /// The most bytes before a comment's text, and after it.
  static let longestFrame = all.map { $0.longestStart + $0.overhead }.max() ?? 0
  static let longestOverhead = all.map { $0.overhead }.max() ?? 0

  /// The format of a file with these first bytes, and where its first comment is or would be; nil if it carries none.
  static func find(in head: ArraySlice<UInt8>) -> (carrier: any CommentCarrier.Type, start: Int)? {
    for carrier in all {
      if let start = carrier.start(in: head), start <= head.count { return (carrier, start) }
    }
    return nil
  }
}
