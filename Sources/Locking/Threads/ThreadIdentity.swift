import Foundation
import Synchronization

/// The number and the name of a thread.
package final class ThreadIdentity: Sendable {
  package let id: Int
  /// Unique within the process, and not zero. The kernel gives ``id`` to a later thread again.
  package let serialNumber = ThreadIdentity.lastNumber.add(1, ordering: .relaxed).newValue
  /// Unique within a process. A thread of Dispatch is called `dispatch`, because it serves many queues.
  package let name: String

  /// The current thread. Determined once for each thread.
  package static var current: ThreadIdentity { perThread.object { ThreadIdentity() } }

  private static let lastNumber = Atomic(0)

  private static let perThread = PerThread<ThreadIdentity>()

  private init() {
    #if canImport(Glibc)
    // Begins with the number and, in parentheses, the name: proc_pid_stat(5). `ProcessStatus` does not read threads.
    let line = (try? String(contentsOfFile: "/proc/thread-self/stat", encoding: .utf8)) ?? ""
    id = line.split(separator: " ").first.flatMap { Int($0) } ?? 0
    let name = line.drop { $0 != "(" }.dropFirst().prefix { $0 != ")" }
    // Dispatch names a thread after the kind of its queue, truncated to 15 bytes.
    let kind = name.contains("-qos") || name.contains("com.apple") ? "dispatch" : String(name)
    self.name = id == getpid() ? "main" : "\(kind) \(id)"
    #else
    var number: UInt64 = 0
    pthread_threadid_np(nil, &number)
    id = Int(number)
    var buffer = [CChar](repeating: 0, count: 64)
    pthread_getname_np(pthread_self(), &buffer, buffer.count)
    let name = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    self.name = pthread_main_np() == 1 ? "main" : "\(name) \(id)"
    #endif
  }
}
