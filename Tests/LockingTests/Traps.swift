import Foundation
import TestSupport

/// Lets a trap end the process at once. Swift's backtracer would read the symbols of the whole test program first.
func silenceBacktracer() {
  for number in [SIGILL, SIGTRAP] { signal(number, SIG_DFL) }
}

/// `onThread`, with a name that messages can show.
func onNamedThread(_ name: String, _ body: @escaping @Sendable () -> Void) async throws {
  try await onThread {
    Thread.current.name = name
    body()
  }
}
