import Foundation

/// A thread as the system and people know it.
final class ThreadIdentity: Sendable {
  let id: Int
  /// What it is called; a thread of Dispatch serves many queues, and is called after their kind.
  let name: String

  /// The thread this is asked on. Found out once for each thread.
  static var current: ThreadIdentity {
    if let known = pthread_getspecific(key) { return Unmanaged<ThreadIdentity>.fromOpaque(known).takeUnretainedValue() }
    let identity = ThreadIdentity()
    pthread_setspecific(key, Unmanaged.passRetained(identity).toOpaque())
    return identity
  }

  /// Where each thread keeps its identity, and lets go of it when it ends.
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let status = pthread_key_create(&key) { pointer in
      #if canImport(Glibc)
        guard let pointer else { return }
      #endif
      Unmanaged<ThreadIdentity>.fromOpaque(pointer).release()
    }
    precondition(status == 0, "pthread_key_create: \(String(cString: strerror(status)))")
    return key
  }()

  private init() {
    #if canImport(Glibc)
      // Of a thread, so not from `ProcessStatus`. The line begins with the number and, in parentheses, the name (proc_pid_stat(5)).
      let line = (try? String(contentsOfFile: "/proc/thread-self/stat", encoding: .utf8)) ?? ""
      id = line.split(separator: " ").first.flatMap { Int($0) } ?? 0
      let name = line.drop { $0 != "(" }.dropFirst().prefix { $0 != ")" }
      // Threads of Dispatch are called after their kind, cut off at fifteen bytes.
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
