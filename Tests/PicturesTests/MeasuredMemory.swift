import CDecoding
import Foundation
import TestSupport
import Testing

@testable import Pictures

extension PictureHeader {
  private static let program = URL(fileURLWithPath: BuiltCommand.path).deletingLastPathComponent()
    .appendingPathComponent("decoding-memory").path

  private var planes: Int {
    switch components {
    case .grey: 1
    case .cmyk: 4
    default: 3
    }
  }

  /// The bytes of heap that decoding takes, measured by `decoding-memory`.
  func measuredBytes(of bytes: [UInt8], _ kind: cdecoding_kind, profile: Int = 0) async throws -> Int {
    let folder = TemporaryFolder()
    try Data(bytes).write(to: URL(fileURLWithPath: folder("picture")))
    var directory: UInt64 = 0
    if case .tiff(let offset) = coding { directory = offset }
    let numbers = [Int(kind.rawValue), pixels.width, pixels.height, planes, profile, Int(directory)].map(String.init)
    var chunk: [String] = []
    if case .webp(let frame) = coding { chunk = [String(frame.chunks[0].offset), String(frame.chunks[0].size)] }
    let words = numbers + [folder("picture")] + chunk
    let ending = try await BuiltCommand.run(executable: Self.program, words, in: folder)
    #expect(ending.status == 0, "\(ending.errors)")
    return try #require(Int(ending.output.trimmingCharacters(in: .whitespacesAndNewlines)))
  }

  /// The sums of means of 128 × 128 pixels, which are not counted as working memory.
  var sumBytes: Int {
    let means = ((pixels.width + 127) / 128) * ((pixels.height + 127) / 128)
    return means * 4 * (planes + (hasAlpha ? 1 : 0))
  }
}
