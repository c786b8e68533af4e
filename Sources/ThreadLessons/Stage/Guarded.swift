import Locking

/// A guard that several threads of a lesson share: it cannot be copied, but a reference to it can.
final class Guarded<Lock: Guard & ~Copyable>: Sendable {
  let lock: Lock

  init(_ lock: consuming Lock) { self.lock = lock }
}
