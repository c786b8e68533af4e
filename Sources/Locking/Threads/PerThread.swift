import Foundation

/// An object for each thread, which is released when the thread ends.
struct PerThread<Object: AnyObject>: Sendable {
  private let key: pthread_key_t

  /// A process has few keys (1,024 in glibc) and keeps them, so only for values that are as old as the process.
  init() {
    var key = pthread_key_t()
    let status = pthread_key_create(&key) { pointer in
      #if canImport(Glibc)
      guard let pointer else { return }
      #endif
      Unmanaged<AnyObject>.fromOpaque(pointer).release()
    }
    precondition(status == 0, "pthread_key_create: \(String(cString: strerror(status)))")
    self.key = key
  }

  /// That of the current thread. The first call of a thread calls `make`.
  func object(_ make: () -> Object) -> Object {
    if let known = pthread_getspecific(key) { return Unmanaged<Object>.fromOpaque(known).takeUnretainedValue() }
    let object = make()
    pthread_setspecific(key, Unmanaged.passRetained(object).toOpaque())
    return object
  }
}
