import ArgumentParser
import BoundedQueue
import Files
import Foundation
import JobSettings
import MemoryPressure
import PictureMaking
import Sourcing
import Thumbnails

/// `thumbjob thumbnail`: one thumbnail of one file, for programs that ask for each by itself.
struct ThumbnailCommand: Subcommand {
  static let name = "thumbnail"
  static let handlesSignals = false
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Makes one thumbnail of one file, for file managers.",
    usage: "thumbjob thumbnail <input> <output> [--size <spec>]",
    discussion: """
      File managers call it through /usr/share/thumbnailers/thumbjob.thumbnailer. The output's extension says its format; \
      without one, it is PNG. The output is written whole or not at all. Only if it is empty, or its folder takes no new \
      files, thumbjob writes into it. For folders, thumbjob run is many times faster.
      """)

  @Argument(help: ArgumentHelp("The picture.", valueName: "input"), completion: .file(extensions: PictureNames.usual))
  var input: String

  @Argument(
    help: ArgumentHelp("The file for the thumbnail, which is replaced.", valueName: "output"), completion: .file())
  var output: String

  @Option(
    name: [.customShort("s", allowingJoined: true), .customLong("size")],
    help: ArgumentHelp("As for a run: 256 fits into a box of 256 × 256 pixels.", valueName: "spec"))
  var size = "256"

  func run() throws {
    let (source, place) = (CommandWords.path(of: input), CommandWords.path(of: output))
    let spec: SizeSpec
    do throws(SizeSpecError) { spec = try SizeSpec(parsing: size) } catch { throw TextError(in: "size", "\(error)") }
    var options = ThumbnailOptions(sizes: [spec])
    options.formats = [ThumbnailFormat.allCases.first(where: place.hasName(of:)) ?? .png]
    if let file = FileIdentity(of: place), file == FileIdentity(of: source) {
      throw TextError("\(place.printable) is the picture itself; name another output")
    }
    let console = Console()
    do {
      let thumbnail = try SingleThumbnail(of: source, options: options).make()
      do throws(Errno) { try Self.write(thumbnail, to: place) } catch {
        console.print("thumbjob: \(place.printable): cannot be written: \(error)", .failure)
        throw ExitStatus.cannotCreateOutput.code
      }
    } catch let failure as SourceFailure {
      console.print("thumbjob: \(source.printable): \(failure)", .failure)
      let isMissing = failure == .source(.unreadable(ENOENT))
      throw (isMissing ? ExitStatus.noSuchSource : .someFailed).code
    }
  }

  /// Puts the file in place whole. But it writes into an empty file, because its maker may have it open, as tumbler does. It
  /// also writes into the file if the folder takes no new ones, or if the sandbox of a file manager has mounted the file
  /// itself.
  private static func write(_ bytes: [UInt8], to place: Path) throws(Errno) {
    let result = bytes.withUnsafeBytes { bytes in
      Result { () throws(Errno) in
        // Nothing may take the place of a device or a pipe, either.
        let status = try? FileStatus.of(place, followingLinks: true).get()
        if let status, status.kind != .regular || status.st_size == 0 { return try overwrite(place, with: bytes) }
        do throws(Errno) {
          let folder = Descriptor(try openFolder(place.parent.isEmpty ? "." : place.parent, in: AT_FDCWD))
          let file = try WholeFile(
            place.lastName, in: folder.number, temporary: Path(".thumbjob-\(getpid()).tmp"))
          try writeAll(bytes, to: file.contents.number)
          try file.put()
        } catch {
          guard [.permissionDenied, .readOnlyFileSystem, .deviceBusy].contains(error) else { throw error }
          try overwrite(place, with: bytes)
        }
      }
    }
    try result.get()
  }

  private static func overwrite(_ place: Path, with bytes: UnsafeRawBufferPointer) throws(Errno) {
    let file = Descriptor(try openFile(place, in: AT_FDCWD, flags: O_WRONLY | O_TRUNC))
    try writeAll(bytes, to: file.number)
  }
}

/// Makes one thumbnail of a file without a queue: there is nothing that it would have to wait for.
///
/// *Concurrency*: on one thread.
private final class SingleThumbnail: ThumbnailMonitor {
  private let source: Path
  private let options: ThumbnailOptions

  let isCancelled = false

  init(of source: Path, options: ThumbnailOptions) { (self.source, self.options) = (source, options) }

  /// - Returns: the file.
  /// - Throws: ``SourceFailure``.
  func make() throws -> [UInt8] {
    let limit = MemoryLimit.find(in: Surroundings())
    let plan = MemoryPlan(nil, limit: limit, usage: UsageReader(limit: limit, surroundings: Surroundings()).read())
    do {
      let file = try SourceFile(source)
      let decoders = PictureDecoders(.auto, mostIdle: 1, onShortfall: { _ in })
      defer { decoders.removeIdle() }
      let picture = try SourcePicture(file, file.expectedType(), for: options, monitor: self)
      var decoding = decoders.firstDecoding(isSuspect: false)
      var bytes: [UInt8]?
      try picture.attempt(decoders, plan, for: options, &decoding, isSuspect: false, monitor: self) {
        picture, decoding in
        let needed = picture.bytesNeeded(for: options, decoding: decoding)
        if needed > plan.budget.largest { throw BudgetExceededError(needed: needed, budget: plan.budget) }
        _ = try picture.makeThumbnails(
          ThumbnailMaker(), decoders, options: options, decoding: decoding, monitor: self
        ) { bytes = Array($0.bytes) }
      }
      if let bytes { return bytes }
      throw ThumbnailError.internalFault("a picture has no thumbnail")
    } catch {
      throw SourceFailure(error, plan: plan)
    }
  }

  func entered(_ stage: ThumbnailStage) {}

  func progressed(to fraction: Double) {}
}
