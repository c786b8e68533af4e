import Foundation

/// Runs each body on a thread of its own, all from the same moment on, and returns when all are through.
public func together(_ bodies: [@Sendable () -> Void]) {
  let ready = DispatchGroup()
  let go = DispatchSemaphore(value: 0)
  let through = DispatchGroup()
  for body in bodies {
    ready.enter()
    through.enter()
    let thread = Thread {
      ready.leave()
      go.wait()
      body()
      through.leave()
    }
    thread.start()
  }
  ready.wait()
  for _ in bodies { go.signal() }
  through.wait()
}

/// Keeps this thread's processor busy, as work would.
public func work(nanoseconds duration: UInt64) {
  let end = nanoseconds() + duration
  while nanoseconds() < end {}
}
