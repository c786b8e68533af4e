import AccessRecording
import CDecoding
import CLinux
import Files
import Foundation

/// A process that decodes, or encodes, one picture after the other. After an error that replaces it (``SandboxError``), it has ended.
///
/// *Concurrency*: one thread at a time; only ``kill()`` may be called from any thread at any time.
package final class HelperProcess: Sendable {
  private let life: ProcessLife
  private let socket: Descriptor
  /// Never used: it is open as long as the process shall live.
  private let lifeline: Descriptor
  /// `/proc/PID/statm`; nil if the address space cannot be measured or is not limited.
  private let statistics: Descriptor?
  /// The address space of the process before its first picture, in bytes.
  private let idleSize: Int
  /// The requests so far. Only the thread that has the process uses them, and `bloated`.
  private let requests = Shared<UInt64>(0)
  private let bloated = Shared(false)
  package let report: FenceReport

  /// How much larger than computed the address space may be. The allocator rounds up, and takes a last mebibyte only as a
  /// whole.
  static let tolerance = 2 << 20

  /// How long a process may take until it says hello.
  static let longestStart = Duration.seconds(20)

  package var id: Int { Int(life.id) }
  /// The pictures so far.
  package var pictures: Int { Int(number) }
  /// The number of the last request.
  private var number: UInt64 { requests.read { $0 } }
  /// Whether the process has kept memory of a picture, so that it should be replaced.
  var isBloated: Bool { bloated.read { $0 } }

  /// Starts a process and waits until it is ready.
  ///
  /// - Throws: ``SandboxError``
  package init(_ program: Path, isFenced: Bool = true, isCancelled: () -> Bool = { false }) throws(SandboxError) {
    let started: ProcessStart.Started
    do throws(Errno) {
      started = try ProcessStart.start(program, isFenced: isFenced)
    } catch {
      throw Self.startError(error, program)
    }
    (life, socket, lifeline) = (ProcessLife(started.id), started.socket, started.lifeline)
    var hello: cdecoding_hello?
    do throws(SandboxError) {
      hello = try Self.hello(from: started.socket.number, isCancelled: isCancelled)
    } catch {
      life.end()
      throw error
    }
    guard let hello else {
      let ending = life.reap(within: .milliseconds(100))
      life.end()
      // Only SIGKILL comes from elsewhere. No picture has reached the process, so none is to blame for another end.
      if case .signalled(SIGKILL) = ending { throw Self.error(for: ending) }
      if ending == .exited(status: Int(CDECODING_SMALL_STACK)) { throw .stackTooSmall }
      throw .wrongProgram(program)
    }
    // Nothing hostile has reached the process yet, so its size is that of its program.
    let statistics = try? Descriptor.open("/proc/\(started.id)/statm", O_RDONLY)
    let size = statistics.flatMap { Self.size(in: $0) }
    idleSize = size ?? 0
    var limitFault: Errno? = size == nil ? .noSuchFileOrDirectory : nil
    if isFenced, let size, limitFault == nil { limitFault = Self.limit(started.id, to: size + Self.tolerance) }
    self.statistics = isFenced && limitFault == nil ? statistics : nil
    report = FenceReport(isFenced: isFenced, hello: hello, memoryLimit: limitFault, sealedMemory: Self.sealFault)
  }

  deinit { life.end() }

  /// Says that the process is given to another thread, and that the lock of whoever gives it orders the two.
  func handOver() {
    requests.handOver()
    bloated.handOver()
  }

  /// Kills the process. What ``run(_:isCancelled:progress:)`` is doing fails.
  package func kill() { life.kill() }

  /// Kills the process and waits until it has ended.
  package func end() { life.end() }

  /// Whether the process lives and has sent nothing since its last reply.
  var isReady: Bool {
    var state = pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0)
    return retryOnInterrupt { poll(&state, 1, 0) } == 0
  }

  /// Decodes a picture.
  ///
  /// - Parameters: as of ``run(_:isCancelled:progress:)``.
  /// - Throws: ``SandboxError``
  package func decode(
    _ order: DecodingOrder, isCancelled: () -> Bool = { false }, progress: (Double) -> Void = { _ in }
  ) throws(SandboxError) -> DecodedPlanes {
    try run(order, isCancelled: isCancelled, progress: progress)
  }

  /// Works on a picture.
  ///
  /// - Parameters:
  ///   - isCancelled: asked every ten milliseconds. If it returns true, the process is killed.
  ///   - progress: called every ten milliseconds with the part of the work that is done, 0 to 1.
  /// - Throws: ``SandboxError``
  func run<Order: HelperOrder>(
    _ order: Order, isCancelled: () -> Bool, progress: (Double) -> Void
  ) throws(SandboxError) -> Order.Result {
    guard let layout = order.layout else { throw .badRequest }
    requests.modify { $0 += 1 }
    let memory: SharedMemory
    do throws(Errno) {
      memory = try SharedMemory(size: layout.size)
      if statistics != nil {
        let size = idleSize &+ layout.size &+ Self.tolerance
        let (limit, isTooLarge) = size.addingReportingOverflow(order.workingBytes)
        if !isTooLarge, let error = Self.limit(life.id, to: limit) { throw error }
      }
    } catch {
      life.end()
      throw .refused(error)
    }
    do throws(SandboxError) {
      order.fill(memory, layout)
      try send(order, memory)
      memory.closeDescriptor()
      let reply = try awaitReply(memory, isCancelled: isCancelled, progress: progress).reply
      if reply.status == CDECODING_NO_MEMORY { throw .memoryLimit(order.workingBytes) }
      if let verdict = SandboxError.Verdict(reply.status) {
        throw .undecodable(verdict, Self.text(reply.message) ?? "no reason is given")
      }
      guard reply.status == CDECODING_OK else { throw .brokenProtocol("an impossible status") }
      let result = try order.result(of: reply, in: memory, layout)
      bloated.modify { $0 = hasGrown }
      return result
    } catch {
      if case .undecodable = error { bloated.modify { $0 = hasGrown } } else { life.end() }
      throw error
    }
  }

  /// - Parameter error: of the start of a program.
  private static func startError(_ error: Errno, _ program: Path) -> SandboxError {
    switch error {
    case .noMemory, .wouldBlock, .tooManyOpenFiles, .tooManyOpenFilesInSystem: .refused(error)
    default: .cannotStart(program, error)
    }
  }

  // MARK: The request

  private func send(_ order: some HelperOrder, _ memory: SharedMemory) throws(SandboxError) {
    var message = order.message
    message.magic = CDECODING_MAGIC
    message.number = number
    switch cdecoding_send_request(socket.number, &message, order.fileToRead ?? memory.descriptor, memory.descriptor) {
    case 0: break
    case EPIPE, ECONNRESET: throw endError(memory)
    case let error: throw .refused(Errno(rawValue: error))
    }
  }

  // MARK: The reply

  private func awaitReply(
    _ memory: SharedMemory, isCancelled: () -> Bool, progress: (Double) -> Void
  ) throws(SandboxError) -> cdecoding_reply_message {
    while true {
      if isCancelled() { throw .cancelled }
      if Self.awaitInput(socket.number) { break }
      // The process writes it. A value of any size is possible.
      let done = memory.bytes.load(as: UInt32.self)
      progress(Double(min(done, CDECODING_PROGRESS_WHOLE)) / Double(CDECODING_PROGRESS_WHOLE))
    }
    var reply = cdecoding_reply_message()
    switch Self.receive(&reply, from: socket.number) {
    case .whole: break
    case .closed: throw endError(memory)
    case .failed(let error): throw .refused(error)
    case .other: throw .brokenProtocol("something other than a reply")
    }
    guard reply.magic == CDECODING_MAGIC, reply.number <= number else { throw .brokenProtocol("an unknown message") }
    if reply.number < number { throw .staleReply }
    return reply
  }

  /// Why the process has closed its socket: it has ended, or is about to.
  private func endError(_ memory: SharedMemory) -> SandboxError {
    let ending = life.reap(within: .seconds(1))
    // Nothing of the picture was read. A picture that has taken the process over can write that, too; it is then tried again,
    // at last by a new process, which blames its first picture for every end.
    if number > 1, memory.bytes.load(fromByteOffset: Self.takenOffset, as: UInt32.self) == 0 { return .endedIdle }
    return Self.error(for: ending)
  }

  private static let takenOffset = MemoryLayout<cdecoding_shared_header>.offset(of: \.is_taken) ?? 0

  /// - Parameter ending: how a process has ended; nil if it has not.
  private static func error(for ending: ProcessLife.Ending?) -> SandboxError {
    switch ending {
    case nil: .brokenProtocol("nothing, and closed its socket")
    case .exited(let status): .ended(status: status)
    case .signalled(SIGSYS): .forbiddenCall
    case .signalled(let signal): faults.contains(signal) ? .crashed(signal: signal) : .killed(signal: signal)
    }
  }

  /// The signals that only a fault of the program itself brings.
  private static let faults: Set<CInt> = [SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGTRAP, SIGXFSZ]

  /// The text of a message, up to its first NUL, in printable ASCII characters; nil if it is empty.
  static func text<Characters>(_ characters: Characters) -> String? {
    let bytes = withUnsafeBytes(of: characters) { Array($0.prefix { $0 != 0 }) }
    let text = String(decoding: bytes.map { (0x20...0x7e).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    return text.isEmpty ? nil : text
  }

  // MARK: The socket

  /// - Returns: nil if the process says anything else, or ends.
  private static func hello(from socket: CInt, isCancelled: () -> Bool) throws(SandboxError) -> cdecoding_hello? {
    let deadline = ContinuousClock.now + longestStart
    repeat {
      if isCancelled() { throw .cancelled }
      if ContinuousClock.now > deadline { throw .startTimedOut(longestStart) }
    } while !awaitInput(socket)
    var hello = cdecoding_hello()
    let received = receive(&hello, from: socket)
    if case .failed(let error) = received { throw .refused(error) }
    guard received == .whole, hello.magic == CDECODING_MAGIC else { return nil }
    return hello
  }

  /// Waits for ten milliseconds at most.
  ///
  /// - Returns: whether something has arrived, or the other side has closed the socket.
  private static func awaitInput(_ socket: CInt) -> Bool {
    var state = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    return poll(&state, 1, 10) > 0
  }

  private enum Received: Equatable {
    case whole, closed, other
    case failed(Errno)
  }

  /// Takes a message. Descriptors that come with it are closed by the kernel.
  private static func receive<Message>(_ message: inout Message, from socket: CInt) -> Received {
    withUnsafeMutableBytes(of: &message) { bytes in
      // With MSG_TRUNC, the length of a longer message is returned too.
      let flags = CInt(MSG_DONTWAIT | MSG_TRUNC)
      let count = retryOnInterrupt { recv(socket, bytes.baseAddress, bytes.count, flags) }
      // The other side has closed the socket before it has read everything.
      if count == 0 || count < 0 && errno == ECONNRESET { return .closed }
      if count < 0 { return .failed(Errno(rawValue: errno)) }
      return count == bytes.count ? .whole : .other
    }
  }

  // MARK: The memory

  /// Whether the process keeps more memory than it had before its first picture.
  private var hasGrown: Bool {
    guard let statistics else { return false }
    guard let size = Self.size(in: statistics) else { return true }
    return size > idleSize + Self.tolerance / 2
  }

  /// The address space of a process in bytes, from `/proc/PID/statm`.
  private static func size(in statistics: Descriptor) -> Int? {
    guard let bytes = try? readAll(64, from: statistics.number, at: 0),
      let pages = Substring(decoding: bytes, as: UTF8.self).fields(" ").first.flatMap({ Int($0) }), pages > 0
    else { return nil }
    return pages * sysconf(CInt(_SC_PAGESIZE))
  }

  /// Limits the address space of a process, which the process itself cannot undo.
  ///
  /// - Returns: why not; nil on success.
  private static func limit(_ process: pid_t, to bytes: Int) -> Errno? {
    var limits = rlimit()
    // No privilege is needed for the process of the same user, nor to change the limit within the hard one.
    guard prlimit(process, addressSpace, nil, &limits) == 0 else { return Errno(rawValue: errno) }
    limits.rlim_cur = min(rlim_t(bytes), limits.rlim_max)
    return prlimit(process, addressSpace, &limits, nil) == 0 ? nil : Errno(rawValue: errno)
  }

  private static let addressSpace = CInt(RLIMIT_AS.rawValue)

  /// Why the system does not fix the size of shared memory; nil if it does.
  private static let sealFault: Errno? = {
    do throws(Errno) { return try SharedMemory(size: 1).sealFault } catch { return error }
  }()
}
