import CDecoding
import Files

/// Which parts of the fence hold, as the first decoder process found out.
package struct FenceReport: Sendable, Equatable {
  package enum Part: Sendable, CaseIterable {
    /// The process and its children get no further privileges.
    case noNewPrivileges
    /// The process has none of the privileges that root has beyond other users.
    case capabilities
    /// The kernel allows only the system calls that decoding needs.
    case systemCalls
    /// No core files, no further processes, no growing files, few descriptors.
    case limits
    /// The kernel ends the process when thumbjob ends, however that ends.
    case lifeline
    /// The OOM killer takes the process before any other.
    case oomKiller
    /// The address space is limited for each picture.
    case memoryLimit
    /// The process cannot change the size of the memory that it shares with thumbjob.
    case sealedMemory
  }

  /// Whether the processes are fenced at all.
  package let isFenced: Bool
  /// The parts that do not hold, in the order of `Part`, each with the reason.
  package let missing: [(part: Part, error: Errno)]

  /// Nil if all parts hold, or if the processes are not fenced; else one line about what is missing.
  package var shortfall: String? {
    guard isFenced, !missing.isEmpty else { return nil }
    let parts = missing.map { "\(Self.name(of: $0.part)) (\(systemText($0.error.rawValue)))" }
    return "decoder processes go without " + parts.joined(separator: ", ")
  }

  /// Whether the process is kept from files, network and other processes, which is what matters most.
  package var filtersSystemCalls: Bool { isFenced && !missing.contains { $0.part == .systemCalls } }

  init(isFenced: Bool, hello: cdecoding_hello, memoryLimit: Errno?, sealedMemory: Errno?) {
    self.isFenced = isFenced
    var faults = hello.faults
    let numbers = withUnsafeBytes(of: &faults) { Array($0.bindMemory(to: Int32.self)) }
    func fault(_ part: cdecoding_fence_part) -> Errno? {
      let number = numbers[Int(part.rawValue)]
      return number == 0 ? nil : Errno(rawValue: number > 0 ? number : Errno.notSupported.rawValue)
    }
    let found: [(Part, Errno?)] = [
      (.noNewPrivileges, fault(CDECODING_FENCE_PRIVILEGES)), (.capabilities, fault(CDECODING_FENCE_CAPABILITIES)),
      (.systemCalls, fault(CDECODING_FENCE_CALLS)), (.limits, fault(CDECODING_FENCE_LIMITS)),
      (.lifeline, fault(CDECODING_FENCE_LIFELINE)),
      (.oomKiller, fault(CDECODING_FENCE_OOM)),
      (.memoryLimit, memoryLimit), (.sealedMemory, sealedMemory),
    ]
    missing = found.compactMap { part, error in error.map { (part, $0) } }
  }

  private static func name(of part: Part) -> String {
    switch part {
    case .noNewPrivileges: "the promise of no new privileges"
    case .capabilities: "an end of root's privileges"
    case .systemCalls: "a filter of system calls"
    case .limits: "limits of processes and files"
    case .lifeline: "an end together with thumbjob"
    case .oomKiller: "the first place on the list of the kernel's OOM killer"
    case .memoryLimit: "a memory limit"
    case .sealedMemory: "shared memory of fixed size"
    }
  }

  package static func == (left: FenceReport, right: FenceReport) -> Bool {
    left.isFenced == right.isFenced && left.missing.map(\.part) == right.missing.map(\.part)
      && left.missing.map(\.error) == right.missing.map(\.error)
  }
}
