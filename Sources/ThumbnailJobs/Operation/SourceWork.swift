import Files
import Foundation
import SystemPackage
import Thumbnails

/// The work of a job on one source after the other, without its queue and its budget: for ways of going about it that are
/// compared with the job. The same sources find the same places, and the same bytes are put there in the same way.
///
/// It comes in two steps: a payload is made ready from a source, either the whole file or its pixels, and held for as long
/// as it waits; the thumbnail is made of that.
///
/// *Concurrency*: ``walk(shouldStop:visit:)`` on one thread; everything else from any, several at once.
public final class SourceWork: Sendable {
  /// A source, and where its thumbnail goes.
  public struct Placed: Sendable {
    let source: Source
    let place: Path

    public var path: Path { source.path }
  }

  /// What is held of a source until its thumbnail is made.
  public struct Payload: Sendable {
    fileprivate enum Content: Sendable {
      case file([UInt8])
      case pixels(DecodedSource)
    }

    /// What it was made ready from.
    public var source: Path { placed.path }
    fileprivate let content: Content
    fileprivate let placed: Placed
    fileprivate let modified: timespec
  }

  private let output: ThumbnailOutput
  private let walker: SourceWalker
  private let makers = MakerPool()

  /// - Parameter settings: of a job with one output.
  /// - Throws: `OutputError`.
  public init(_ settings: JobSettings) throws(OutputError) {
    let (wanted, failOn, limit) = (settings.outputs[0], settings.failOn, settings.limitPixels)
    output = try ThumbnailOutput(
      path: wanted.folder, options: wanted.thumbnailOptions(failOn: failOn, limitPixels: limit), isDryRun: false)
    walker = SourceWalker(
      arguments: settings.sources, filter: settings.filter, followsLinks: settings.followsLinks, outputs: [output.path])
  }

  /// Hands over every source that has a place of its own, in the order of the walk.
  public func walk(shouldStop: () -> Bool, visit: (Placed) -> Void) {
    let places = OutputPlan(walker: walker) { path in
      guard let file = try? SourceFile(path) else { return false }
      let source = Source(path: path, relativePath: path.lastName, argument: 0, origin: .folder)
      return (try? file.content(of: source)) == .image(.jpeg)
    }
    func take(_ source: Source) -> SourceWalker.Verdict {
      if case .place(let place) = places.placement(of: source) { visit(Placed(source: source, place: place)) }
      return .goOn
    }
    walker.walk(shouldStop: shouldStop, onProblem: { _ in }, visit: take)
  }

  /// Reads the whole file.
  ///
  /// - Throws: `ThumbnailError.unreadable`.
  public func read(_ placed: Placed) throws(ThumbnailError) -> Payload {
    let file = try SourceFile(placed.source.path)
    var failure: CInt?
    let bytes = [UInt8](unsafeUninitializedCapacity: file.size) { buffer, count in
      let whole = UnsafeMutableRawBufferPointer(buffer)
      do throws(Errno) { count = try readAll(into: whole, from: file.descriptor, at: 0) } catch {
        failure = error.rawValue
      }
    }
    if let failure { throw .unreadable(failure) }
    return Payload(content: .file(bytes), placed: placed, modified: file.modified)
  }

  /// Decodes the pixels that the thumbnail is made of.
  ///
  /// - Throws: `ThumbnailError`.
  public func render(_ placed: Placed) throws(ThumbnailError) -> Payload {
    let file = try SourceFile(placed.source.path)
    let pixels = try DecodedSource(file.bytes, options: output.options)
    return Payload(content: .pixels(pixels), placed: placed, modified: file.modified)
  }

  /// Makes the thumbnail and puts it in place.
  ///
  /// - Throws: `ThumbnailError` or `OutputError`.
  public func make(_ payload: Payload) throws {
    func publish(_ thumbnail: Thumbnail) throws {
      _ = try output.publish(thumbnail, to: payload.placed.place, modified: payload.modified)
    }
    switch payload.content {
    case .file(let bytes):
      try makers.withMaker { maker in
        _ = try maker.makeThumbnails(of: ByteSource(bytes: bytes), options: output.options, deliver: publish)
      }
    case .pixels(let source): try source.makeThumbnails(deliver: publish)
    }
  }
}
