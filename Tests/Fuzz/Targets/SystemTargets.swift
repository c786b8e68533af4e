import Foundation

@testable import Comparison
@testable import MemoryPressure

extension FuzzTarget {
  /// Targets of the rooms MemoryPressure and Comparison.
  static let system = [FuzzTarget(name: "kernel", run: kernel), FuzzTarget(name: "messages", run: messages)]

  /// The kernel's files about memory and control groups, each ended by a zero byte.
  private static func kernel(_ input: UnsafeRawBufferPointer) {
    let parts = input.split(separator: 0, maxSplits: kernelFiles.count, omittingEmptySubsequences: false)
    for (file, part) in zip(kernelFiles, parts) { try? Data(part).write(to: kernelRoot.appending(path: file)) }
    let surroundings = Surroundings(root: kernelRoot.path, variables: [:])
    let limit = MemoryLimit.find(in: surroundings)
    precondition(limit.bytes > 0, "a limit of no memory")
    let usage = UsageReader(limit: limit, surroundings: surroundings).read()
    precondition(usage.resident >= 0 && usage.anonymous >= 0 && (usage.group ?? 0) >= 0)
    _ = usage.share(of: limit)
    for version in [ControlGroups.Version.v1, .v2] { _ = ControlGroups.find(version, in: surroundings) }
  }

  private static let kernelFiles = [
    "proc/self/cgroup", "proc/self/mountinfo", "proc/self/statm", "proc/meminfo", "cg/g/memory.max", "cg/g/memory.stat",
    "cg/g/memory.limit_in_bytes",
  ]

  private static let kernelRoot: URL = {
    let root = FileManager.default.temporaryDirectory.appending(path: "thumbjob-fuzz-\(getpid())")
    for folder in ["proc/self", "cg/g"] {
      try? FileManager.default.createDirectory(at: root.appending(path: folder), withIntermediateDirectories: true)
    }
    return root
  }()

  /// What the process of a variant writes for `compare`.
  private static func messages(_ input: UnsafeRawBufferPointer) {
    let bytes = Array(input)
    var reader = MessageReader(-1)
    var record = VariantRecord(.bounded, .round(1), sources: 10)
    for start in stride(from: 0, to: bytes.count, by: 97) {
      for message in reader.append(bytes[start..<min(start + 97, bytes.count)]) {
        record.receive(message, at: Double(start))
        _ = record.dueSignal(at: Double(start))
      }
    }
  }
}
