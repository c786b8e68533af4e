import BadDeeds
import CDecoding
import Files
import Foundation
import Sandbox
import TestSupport

/// Pictures for the decoder process that does harm on request.
enum Deeds {
  /// The folder into which the build puts programs and tests.
  private static let folder = Path(
    URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent().path)

  static let badDecoder = folder.appending("bad-decoder")
  static let realDecoder = folder.appending("thumbjob-decoder")
  static let parent = folder.appending("sandbox-parent")

  /// What the kernel allows here; a build with a sanitizer has no filter of system calls and no usable limits.
  static let report = try? HelperProcess(badDecoder).report
  static let isFenced = report?.filtersSystemCalls ?? false

  /// A file that begins with "p".
  static let source = SourceFile("p")

  static let memory = 4096
  static let workingBytes = 4 << 20

  static func pool(
    mostIdle: Int = 8, fence: HelperPool.Fence = .possible, picturesPerProcess: Int = 256
  ) -> HelperPool {
    HelperPool(badDecoder, fence: fence, mostIdle: mostIdle, picturesPerProcess: picturesPerProcess)
  }

  /// - Parameter file: the first byte fills the planes.
  static func order(
    _ deed: bad_deed = BAD_NONE, file: SourceFile = source, owner: PictureOwner = .user(0)
  ) -> DecodingOrder {
    var request = cdecoding_request()
    request.kind = CDECODING_PNG
    request.start = UInt64(deed.rawValue)
    return DecodingOrder(
      request, file: file.descriptor.number, fileSize: UInt64(file.size), planeBytes: memory,
      workingBytes: workingBytes, owner: owner)
  }

  /// Decodes a picture on a thread of its own, and returns the first byte of its planes.
  static func decode(
    _ deed: bad_deed = BAD_NONE, in pool: HelperPool, owner: PictureOwner = .user(0)
  ) async throws -> UInt8 {
    try await onThread { try pool.decode(order(deed, owner: owner)).withBytes { $0[0] } }
  }

  /// The error of a decoding.
  static func error(of deed: bad_deed, in pool: HelperPool) async -> SandboxError? {
    await failure { try pool.decode(order(deed)) }
  }
}

/// The error of a call on a thread of its own; nil if it succeeds.
func failure<Result>(_ body: @escaping @Sendable () throws -> Result) async -> SandboxError? {
  let result = try? await onThread { () -> SandboxError? in
    do { _ = try body() } catch { return error as? SandboxError }
    return nil
  }
  return result ?? nil
}

/// A file without a name, open to read.
final class SourceFile: Sendable {
  let descriptor: Descriptor
  let size: Int

  init(_ text: String) {
    let folder = try! Descriptor.open("/tmp", O_RDONLY | O_DIRECTORY)
    descriptor = Descriptor(try! createUnnamedFile(in: folder.number))
    size = text.utf8.count
    try! writeAll(Array(text.utf8), to: descriptor.number)
  }
}
