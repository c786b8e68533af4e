import Locking

/// One request after the other.
enum NestedRequests: Lesson {
  static let name = "nested-requests"
  static let claim =
    "Nested closures have an end for each way out, and one is forgotten; a serial `try await` cannot forget any."
  static let today =
    "Use as little concurrency as you can: where both requests are quick, one after the other is right and easy "
    + "to read."
  static let file = #fileID

  private struct NoAnswer: Error {}

  static func wrong() -> Outcome {
    let hasEnded = Gate()
    func profile(_ done: (String?) -> Void) { done(nil) }  // fails
    func photos(_ done: (String?) -> Void) { done("photos") }
    func page(_ done: (String?) -> Void) {
      profile { profile in
        guard let profile else { return }  // nobody is told
        photos { photos in done(photos.map { "\(profile) \($0)" }) }
      }
    }
    page { _ in hasEnded.open() }
    return outcome(hasEnded.wait(seconds: 0))
  }

  static func right() -> Outcome {
    let hasEnded = Gate()
    Task {
      _ = try? await TwoRequests.nested({ throw NoAnswer() }, { "photos" })
      hasEnded.open()
    }
    return outcome(hasEnded.wait())
  }

  private static func outcome(_ hasEnded: Bool) -> Outcome {
    Outcome(isFaulty: !hasEnded, "the caller \(hasEnded ? "learns" : "never learns") that a request has failed")
  }
}
