import Dispatch
import Foundation

/// A thread that carries out closures one after the other, in the order in which it gets them.
///
/// A serial dispatch queue does the same, but it asks for a thread when it gets work. Where the system gives none, it
/// asks again every second, in the caller, for ever (libdispatch, queue.c). The end of a run must not depend on that, so
/// this thread starts with its value. If not even that thread can be started, the callers carry out the closures.
///
/// *Concurrency*: every member may be called from any thread, except that a closure must not call ``drain(upTo:)``.
public final class SerialThread: Sendable {
  public typealias Work = @Sendable () -> Void

  private struct State {
    /// The closures that are not begun, in order.
    var waiting: [Work] = []
    /// Whether a caller is carrying out closures, because there is no thread.
    var isCallerBusy = false
    /// Whether the thread ends when no closure waits.
    var isOver = false
  }

  /// What the thread and the value share, so that the thread does not keep the value alive.
  private final class Shared: Sendable {
    let state = Locked(State())
    /// Signalled for each closure, and once at the end.
    let wake = DispatchSemaphore(value: 0)

    func next() -> Work? { state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() } }
  }

  private let shared = Shared()
  private let hasThread: Bool

  /// - Parameters:
  ///   - qos: the quality of service of the thread, on systems that have one; nil for the default.
  ///   - stack: the address space of its stack.
  public init(name: String, qos: DispatchQoS? = nil, stack: ThreadStack = .small) {
    hasThread = startThread(name: name, stack: stack) { [shared] in
      #if canImport(Darwin)
      if let qos { pthread_set_qos_class_self_np(qos.qosClass.rawValue, 0) }
      #endif
      repeat {
        shared.wake.wait()
        shared.next()?()
      } while !shared.state.withLock { $0.isOver && $0.waiting.isEmpty }
    }
  }

  deinit {
    shared.state.withLock { $0.isOver = true }
    shared.wake.signal()
  }

  /// Returns at once; the thread carries out the closure after all earlier ones.
  public func async(_ work: @escaping Work) {
    let isOwnWork = shared.state.withLock { state in
      state.waiting.append(work)
      guard !hasThread, !state.isCallerBusy else { return false }
      state.isCallerBusy = true
      return true
    }
    if hasThread { shared.wake.signal() }
    guard isOwnWork else { return }
    while let next = nextOfCaller() { next() }
  }

  /// Waits until all earlier closures are carried out.
  ///
  /// - Parameter timeout: how long to wait; nil means for ever.
  /// - Returns: false if the time is over.
  @discardableResult
  public func drain(upTo timeout: Duration? = nil) -> Bool {
    let done = TimedSignal()
    async { done.signal() }
    return done.wait(upTo: timeout ?? .seconds(1 << 33))
  }

  private func nextOfCaller() -> Work? {
    shared.state.withLock { state in
      guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
      state.isCallerBusy = false
      return nil
    }
  }
}

/// How much address space the stack of a thread has.
public enum ThreadStack: Sendable {
  /// 1 MiB. The system's is much where that space is limited.
  case small
  /// What the system gives by default, mostly 8 MiB; for foreign code.
  case ofSystem
}

/// Starts a thread that calls `body` once.
///
/// - Returns: false if the system gives no thread.
public func startThread(name: String, stack: ThreadStack = .small, _ body: @escaping @Sendable () -> Void) -> Bool {
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  if stack == .small { pthread_attr_setstacksize(&attributes, 1 << 20) }
  pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
  defer { pthread_attr_destroy(&attributes) }
  let start = Unmanaged.passRetained(ThreadStart(name: name, body: body))
  #if canImport(Glibc)
  var thread = pthread_t()
  #else
  var thread: pthread_t?
  #endif
  if pthread_create(&thread, &attributes, runThread, start.toOpaque()) == 0 { return true }
  start.release()
  return false
}

/// What a new thread is given.
private final class ThreadStart: Sendable {
  let name: String
  let body: @Sendable () -> Void

  init(name: String, body: @escaping @Sendable () -> Void) { (self.name, self.body) = (name, body) }
}

private func run(_ start: UnsafeMutableRawPointer) {
  let own = Unmanaged<ThreadStart>.fromOpaque(start).takeRetainedValue()
  Thread.current.name = own.name
  own.body()
}

#if canImport(Glibc)
private func runThread(_ start: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  if let start { run(start) }
  return nil
}
#else
private func runThread(_ start: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
  run(start)
  return nil
}
#endif
