import Files
import Foundation
import JobSettings
import Marks
import PictureMaking
import Places
import Sourcing
import Thumbnails

/// The work of a job without its queue and its budget, for the baselines of a comparison. It writes the same bytes to
/// the same places in the same way.
///
/// The work has two steps. The first reads the file of a source, or renders its pictures. The result, the payload, stays
/// in memory until the second step, which makes the thumbnails of it: it encodes and writes them.
///
/// *Concurrency*: call ``walk()`` on one thread; everything else on any, several at once.
package final class BaselineWork: Sendable {
  /// A source and the place of its thumbnails.
  package struct Placed: Sendable, CustomStringConvertible {
    let source: Source
    let place: Path

    package var path: Path { source.path }
    package var description: String { path.printable }
  }

  /// The data of a source between the two steps.
  package struct Payload: Sendable {
    fileprivate enum Content: Sendable {
      case file([UInt8])
      case rendered(RenderedThumbnails)
    }

    /// The path of its source.
    package var source: Path { placed.path }
    fileprivate let content: Content
    fileprivate let placed: Placed
    fileprivate let contents: SourceContents
    fileprivate let modified: timespec
  }

  private let output: ThumbnailOutput
  private let walker: SourceWalker
  private let owners: Owners
  private let makers = MakerPool()

  /// - Parameter settings: settings with one output.
  /// - Throws: ``OutputError``.
  package init(_ settings: JobSettings) throws(OutputError) {
    let (wanted, failOn, limit) = (settings.outputs[0], settings.failOn, settings.limitPixels)
    output = try ThumbnailOutput(
      path: wanted.folder, options: wanted.thumbnailOptions(failOn: failOn, limitPixels: limit), isDryRun: false)
    walker = SourceWalker(
      arguments: settings.sources, filter: settings.filter, followsLinks: settings.followsLinks, outputs: [output.path])
    owners = Owners(
      remembered: { _ in [] }, forget: { _ in }, plan: OutputPlan(walker: walker), tree: walker.tree.root)
  }

  /// Every source that has a place of its own, in the order of the walk. All paths are collected first, because not every
  /// baseline can take them from a walk that waits; they are little beside the pictures.
  package func walk() -> [Placed] {
    let plan = owners.plan
    var all: [Placed] = []
    func visit(_ source: Source) -> SourceWalker.Verdict {
      if case .place(let place) = plan.placement(of: source) { all.append(Placed(source: source, place: place)) }
      return .goOn
    }
    walker.walk(shouldStop: { false }, onError: { _ in }, visit: visit)
    return all
  }

  /// Reads the whole file.
  ///
  /// - Throws: `ThumbnailError.unreadable`.
  package func read(_ placed: Placed) throws(ThumbnailError) -> Payload {
    let file = try SourceFile(placed.source.path)
    var failure: CInt?
    let bytes = [UInt8](unsafeUninitializedCapacity: file.size) { buffer, count in
      let whole = UnsafeMutableRawBufferPointer(buffer)
      do throws(Errno) { count = try readAll(into: whole, from: file.descriptor, at: 0) } catch {
        failure = error.rawValue
      }
    }
    if let failure { throw .unreadable(failure) }
    return Payload(content: .file(bytes), placed: placed, contents: try file.contents(), modified: file.modified)
  }

  /// Decodes a source and renders every size of its thumbnails.
  ///
  /// - Throws: ``ThumbnailError``.
  package func render(_ placed: Placed) throws(ThumbnailError) -> Payload {
    let file = try SourceFile(placed.source.path)
    let rendered = try makers.withMaker { maker throws(ThumbnailError) in
      try maker.render(file.bytes, options: output.options)
    }
    return Payload(content: .rendered(rendered), placed: placed, contents: try file.contents(), modified: file.modified)
  }

  /// Makes the thumbnails, or only encodes them if they are rendered, and puts them in place.
  ///
  /// - Throws: ``ThumbnailError`` or ``OutputError``.
  package func make(_ payload: Payload) throws {
    func publish(_ thumbnail: Thumbnail) throws {
      _ = try output.publish(
        thumbnail, of: payload.placed.source, to: payload.placed.place, contents: payload.contents,
        description: nil, modified: payload.modified, owners: owners, isCancelled: { false })
    }
    switch payload.content {
    case .file(let bytes):
      try makers.withMaker { maker in
        _ = try maker.makeThumbnails(of: ByteReader(bytes: bytes), options: output.options, deliver: publish)
      }
    case .rendered(let rendered): try makers.withMaker { try $0.encode(rendered, deliver: publish) }
    }
  }
}
