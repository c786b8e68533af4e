import BoundedQueue
import Files
import Foundation
import Marks
import PictureMaking
import Pictures
import Places
import Sourcing
import Synchronization
import Thumbnails

/// Describes a source whose thumbnails are up to date, for the joins of a job.
///
/// It reads the comments in the thumbnails. Those that were made without joins have none: their headers are read, and the
/// smallest one is decoded for the placeholder. Thumbnails say nothing of what the camera has noted, so that is read from the
/// source.
final class DescribingOperation: SourceOperation, @unchecked Sendable {  // an atomic flag; the rest is constant
  private let shared: ThumbnailOperation.Shared
  private let memory: (any SourceMemory)?
  private let receive: @Sendable (SourceEntry) -> Void
  private let hasReserved = Atomic(false)

  /// - Parameters:
  ///   - memory: knows the digests of sources; nil if they have to be computed.
  ///   - receive: receives the description and the thumbnails, unless the operation fails.
  init(
    _ task: SourceTask, shared: ThumbnailOperation.Shared, memory: (any SourceMemory)? = nil,
    receive: @escaping @Sendable (SourceEntry) -> Void
  ) {
    (self.shared, self.memory, self.receive) = (shared, memory, receive)
    super.init(.describe, task, memory: shared.memory)
  }

  override var hasHeldMemory: Bool { hasReserved.load(ordering: .relaxed) }

  override var success: SourceTask.Ending { .described }

  override func execute() throws {
    report(stage: ThumbnailStage.reading.rawValue)
    var pictures: [SourceEntry.Picture] = []
    var description: SourceDescription?
    var thumbnailTime: timespec?
    for (index, slot) in shared.outputs.renditions.enumerated() {
      try checkCancelled()
      let rendition = slot.rendition
      let path = slot.output.path.appending(slot.output.place(of: source, place, rendition))
      guard let thumbnail = try Self.open(path), let pixels = try pixels(of: thumbnail, rendition.format, &description)
      else { continue }
      thumbnailTime = thumbnailTime ?? thumbnail.modified
      pictures.append(
        SourceEntry.Picture(
          slot: index,
          thumbnail: MadeThumbnail(
            path: path, size: rendition.size.name, format: rendition.format, pixels: pixels, bytes: thumbnail.size)))
    }
    if pictures.isEmpty {
      throw SourceFailure.other("its thumbnails were removed or replaced during the run; the next run makes them")
    }
    // A source from the network is not there, but its thumbnails have its time.
    let file = source.address == nil ? try? SourceFile(source.path) : nil
    if description == nil, let file {
      // The thumbnails are up to date all the same.
      do { description = try describe(file, pictures) } catch { try checkCancelled() }
    }
    receive(
      SourceEntry(
        source: source, bytes: file?.size, modified: source.address == nil ? file?.modified : thumbnailTime,
        facts: file.flatMap(facts) ?? PhotoFacts(), digest: try file.flatMap(digest),
        result: .pictures(description, pictures.sharing(description, shared.outputs))))
  }

  /// Opens a thumbnail; nil if it was removed since the walk, or replaced by a link or a folder.
  ///
  /// - Throws: ``OutputError``.
  private static func open(_ path: Path) throws(OutputError) -> SourceFile? {
    switch path.withCString({ FileStatus.of($0, in: AT_FDCWD, followingLinks: false) }) {
    case .success(let status): if status.kind != .regular { return nil }
    case .failure(.noSuchFileOrDirectory): return nil
    case .failure(let error): throw OutputError(.unreadable, path, error)
    }
    do throws(ThumbnailError) { return try SourceFile(path) } catch {
      guard case .unreadable(let number) = error, number != ENOENT else { return nil }
      throw OutputError(.unreadable, path, Errno(rawValue: number))
    }
  }

  /// The size of a thumbnail; nil if the file is none. Reads the description too, unless another thumbnail had one.
  private func pixels(
    of file: SourceFile, _ format: ThumbnailFormat, _ description: inout SourceDescription?
  ) throws -> PixelSize? {
    let (isThumbnail, comment) = try file.thumbnailComments()
    guard isThumbnail else { return nil }
    guard let comment else { return try? file.shape(format.type) { self.isCancelled }.pixels }
    description = description ?? comment.source
    return comment.pixels
  }

  /// What the camera has noted; nil if the source is no picture any more.
  private func facts(_ file: SourceFile) -> PhotoFacts? {
    guard case .image(let type)? = try? file.content(of: source) else { return nil }
    return file.facts(type)
  }

  /// The digest of the source, if the job tells it; nil if the source cannot be read.
  private func digest(_ file: SourceFile) throws -> SHA256Digest? {
    guard shared.digestsSources else { return nil }
    if let known = memory?.digest(of: source) { return known }
    report(stage: "computing the digest")
    let digest: SHA256Digest
    do { digest = try SHA256Digest(of: file) { _ in try checkCancelled() } } catch is ThumbnailError { return nil }
    memory?.record(digest: digest, of: source)
    return digest
  }

  /// Describes the source by its header and its smallest thumbnail.
  private func describe(_ file: SourceFile, _ pictures: [SourceEntry.Picture]) throws -> SourceDescription {
    guard let smallest = pictures.map(\.thumbnail).min(by: { $0.pixels.count < $1.pixels.count }) else {
      preconditionFailure("there is a thumbnail")
    }
    guard case .image(let type) = try file.content(of: source) else {
      throw SourceFailure.other("is no picture any more")
    }
    let shape = try file.shape(type) { self.isCancelled }
    let options = ThumbnailOptions(sizes: [Self.small], makesPlaceholder: true)
    let picture = try SourcePicture(
      SourceFile(smallest.path), smallest.format.type, for: options, monitor: SilentMonitor(self))
    let needed = picture.bytesNeeded(for: options, decoding: .whole())
    return try withReservation(of: shared.memory.reservation(for: needed)) {
      hasReserved.store(true, ordering: .relaxed)
      return try shared.makers.withMaker { maker in
        var placeholder: Placeholder?
        _ = try picture.makeThumbnails(
          maker, shared.decoders, options: options, decoding: .whole(), monitor: SilentMonitor(self)
        ) { placeholder = $0.placeholder }
        guard let placeholder else { preconditionFailure("a thumbnail was made without its placeholder") }
        return SourceDescription(
          pixels: shape.pixels, orientation: shape.orientation, placeholder: placeholder)
      }
    }
  }

  private static let small = SizeSpec.known("100")

  /// Stops the decoding of a thumbnail when the operation is cancelled.
  private final class SilentMonitor: ThumbnailMonitor {
    private let operation: DescribingOperation

    init(_ operation: DescribingOperation) { self.operation = operation }

    var isCancelled: Bool { operation.isCancelled }
    func entered(_ stage: ThumbnailStage) {}
    func progressed(to fraction: Double) {}
  }
}
