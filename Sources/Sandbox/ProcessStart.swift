import CDecoding
import CLinux
import Files
import Foundation

/// Starts the program of a decoder process.
enum ProcessStart {
  /// What this process keeps of a started one.
  struct Started {
    let id: pid_t
    let socket: Descriptor
    /// The end of a pipe. As long as it is open, the process lives.
    let lifeline: Descriptor
  }

  /// - Throws: the error of the system.
  static func start(_ program: Path, isFenced: Bool) throws(Errno) -> Started {
    var ends: (CInt, CInt) = (-1, -1)
    let pair = withUnsafeMutablePointer(to: &ends) { ends in
      ends.withMemoryRebound(to: CInt.self, capacity: 2) {
        socketpair(AF_UNIX, CInt(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0, $0)
      }
    }
    if pair != 0 { throw Errno(rawValue: errno) }
    let (socket, otherSocket) = (Descriptor(ends.0), try aboveReserved(Descriptor(ends.1)))
    let pipe = withUnsafeMutablePointer(to: &ends) { ends in
      ends.withMemoryRebound(to: CInt.self, capacity: 2) { pipe2($0, O_CLOEXEC) }
    }
    if pipe != 0 { throw Errno(rawValue: errno) }
    let (otherEnd, lifeline) = (try aboveReserved(Descriptor(ends.0)), Descriptor(ends.1))
    let id = try spawn(program, isFenced: isFenced, socket: otherSocket.number, lifeline: otherEnd.number)
    return Started(id: id, socket: socket, lifeline: lifeline)
  }

  /// The same open file under a number that the new process does not use before it has its own.
  private static func aboveReserved(_ descriptor: Descriptor) throws(Errno) -> Descriptor {
    if descriptor.number >= CDECODING_FIRST_FREE { return descriptor }
    let copy = fcntl(descriptor.number, F_DUPFD_CLOEXEC, CInt(CDECODING_FIRST_FREE))
    if copy < 0 { throw Errno(rawValue: errno) }
    return Descriptor(copy)
  }

  private static func spawn(
    _ program: Path, isFenced: Bool, socket: CInt, lifeline: CInt
  ) throws(Errno) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    try check(posix_spawn_file_actions_init(&actions))
    defer { posix_spawn_file_actions_destroy(&actions) }
    try check(posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDWR, 0))
    try check(posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDOUT_FILENO))
    try check(posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDERR_FILENO))
    try check(posix_spawn_file_actions_adddup2(&actions, socket, CDECODING_SOCKET))
    try check(posix_spawn_file_actions_adddup2(&actions, lifeline, CDECODING_LIFELINE))
    try check(posix_spawn_file_actions_addclosefrom_np(&actions, CDECODING_FIRST_FREE))
    var attributes = posix_spawnattr_t()
    try check(posix_spawnattr_init(&attributes))
    defer { posix_spawnattr_destroy(&attributes) }
    // All signals are blocked until the process ignores those that are not for it.
    var all = sigset_t()
    sigfillset(&all)
    try check(posix_spawnattr_setsigmask(&attributes, &all))
    try check(posix_spawnattr_setsigdefault(&attributes, &all))
    try check(posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)))
    var process = pid_t()
    let words = [String(decoding: program.lastName.bytes, as: UTF8.self)] + (isFenced ? [] : [CDECODING_UNFENCED])
    let status = withCStrings(words) { words in
      withCStrings(environment) { environment in
        withUsualPersonality {
          program.withCString { posix_spawn(&process, $0, &actions, &attributes, words, environment) }
        }
      }
    }
    try check(status)
    return process
  }

  /// Runs `body` with the personality(2) of this thread that a process usually has. A new process inherits it, and some would
  /// make its memory executable or its addresses known: those that setarch(8) sets with `-X` and `-R`.
  private static func withUsualPersonality<Result>(_ body: () -> Result) -> Result {
    let own = personality(question)
    let isUsual = own < 0 || own & ~domain == 0
    if !isUsual { _ = personality(CUnsignedLong(own & domain)) }
    defer { if !isUsual { _ = personality(CUnsignedLong(UInt32(bitPattern: own))) } }
    return body()
  }

  /// Changes nothing.
  private static let question: CUnsignedLong = 0xFFFF_FFFF
  /// The bits of the execution domain, which is not the processor's mode; the others are flags.
  private static let domain: CInt = 0xFF

  /// Nothing of this process's environment, except the place of the libraries. glibc is not to look for a terminal where it
  /// could print why it aborts. Its allocator writes over what is freed, and keeps no list of it for each thread.
  private static var environment: [String] {
    let libraries = getenv("LD_LIBRARY_PATH").map { ["LD_LIBRARY_PATH=" + String(cString: $0)] }
    let allocator = "GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.perturb=90"
    return ["LIBC_FATAL_STDERR_=1", allocator] + (libraries ?? [])
  }

  private static func check(_ status: CInt) throws(Errno) {
    if status != 0 { throw Errno(rawValue: status) }
  }

  private static func withCStrings<Result>(
    _ words: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let copies = words.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
  }
}
