import Files
import Foundation
import JobSettings
import Ledger
import Locking

/// The sources that are under way, in a file in the run's folder. If the process dies, the next run finds their names
/// there.
///
/// The file has slots of one size, each with the length of a path (two bytes, the lower first; 0 if the slot is free) and
/// the path. It is not synced: it has to outlive the process, not the system.
///
/// *Concurrency*: every member may be called from any thread.
package final class UnderWay: Sendable {
  private struct Slots {
    var free: [Int] = []
    var count = 0
  }

  /// A source that was under way when a run died.
  package struct Interrupted: Sendable, Hashable {
    /// As a path from the output folder.
    package let source: Path
    /// The part of the sources that the run was to make; nil for all.
    package let part: String?
  }

  private static let prefix = "under-way"
  /// The longest path, and its length.
  static let slotSize = 2 + Int(PATH_MAX)
  /// More sources than run at once.
  private static let mostSlots = JobSettings.maxRange.upperBound

  package let file: Descriptor
  /// The paths lead from this folder.
  private let output: Path
  /// Guarded by its lock, which is not held while the file is written.
  private let slots = Locked(Slots())

  /// Makes the file; nil if that fails, for the run does not need it.
  ///
  /// - Parameters:
  ///   - folder: the open folder of the run.
  ///   - output: the absolute path of the output folder.
  ///   - part: the part of the sources that the run makes, as text without slashes; nil for all.
  package init?(in folder: CInt, output: Path, part: String?) {
    let name = Path(part.map { "\(Self.prefix)-\($0)" } ?? Self.prefix)
    guard let number = try? createFile(name, in: folder, flags: O_WRONLY | O_TRUNC) else { return nil }
    (file, self.output) = (Descriptor(number), output)
  }

  /// Runs `body` while the file names the source.
  package func run<Result>(_ source: Path, _ body: () throws -> Result) rethrows -> Result {
    let bytes = source.leading(from: output).bytes
    guard !bytes.isEmpty, bytes.count <= Self.slotSize - 2 else { return try body() }
    let slot = slots.withLock { slots in
      if let slot = slots.free.popLast() { return slot }
      slots.count += 1
      return slots.count - 1
    }
    write([UInt8(bytes.count & 0xFF), UInt8(bytes.count >> 8)] + bytes, to: slot)
    defer {
      write([0, 0], to: slot)
      slots.withLock { $0.free.append(slot) }
    }
    return try body()
  }

  private func write(_ bytes: [UInt8], to slot: Int) {
    _ = bytes.withUnsafeBytes { pwrite(file.number, $0.baseAddress, $0.count, off_t(slot * Self.slotSize)) }
  }

  /// The sources that a file of a dead run names; nil if it is no such file. Anyone may have written it.
  package static func read(_ name: Path, in folder: CInt) -> [Interrupted]? {
    let text = String(decoding: name.bytes, as: UTF8.self)
    guard text == prefix || text.hasPrefix("\(prefix)-") else { return nil }
    let part = text == prefix ? nil : String(text.dropFirst(prefix.count + 1))
    if let part, !Ledger.isPart(part) { return [] }
    guard let number = try? openToRead(name, in: folder, flags: O_NOFOLLOW | O_NONBLOCK) else { return [] }
    let file = Descriptor(number)
    var found: [Interrupted] = []
    for slot in 0..<mostSlots {
      guard let bytes = try? readAll(slotSize, from: file.number, at: slot * slotSize), bytes.count >= 2 else { break }
      let length = Int(bytes[0]) | Int(bytes[1]) << 8
      if length > 0, let source = Path(bytes: bytes.dropFirst(2).prefix(length)), source.length == length {
        found.append(Interrupted(source: source, part: part))
      }
    }
    return found
  }
}
