import Foundation
import Locking

/// Lets a trap end the process at once. Swift's backtracer would read the symbols of the whole test program first.
func silenceBacktracer() {
  for number in [SIGILL, SIGTRAP] { signal(number, SIG_DFL) }
}

/// Runs `body` on a new thread with a name. Foundation's own threads cannot be given one while they are being started.
func onNamedThread(_ name: String, _ body: @escaping @Sendable () -> Void) async {
  await withCheckedContinuation { continuation in
    let isStarted = startThread(name: name) {
      body()
      continuation.resume()
    }
    precondition(isStarted, "the system gives no thread")
  }
}
