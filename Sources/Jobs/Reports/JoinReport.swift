import BoundedQueue
import ContactSheet
import Files
import JobSettings
import PictureMaking
import Places

/// What became of a manifest, a contact sheet or a gallery.
package struct JoinReport: Sendable {
  package enum Result: Sendable {
    /// It is in place.
    case made
    /// An equal one was in place, and stays.
    case unchanged
    /// The job stopped before it was made, or its operation was cancelled. An older one stays.
    case notMade(CancelReason)
    /// A source is missing, or a folder could not be read, so it would lack photos. An older one stays.
    case withheld
    case failed(JoinError)
  }

  package let kind: JoinKind
  package let path: Path
  package let result: Result
  /// How many sources it lists, or pages it has; 0 unless it is in place.
  package let count: Int
  /// Thumbnails that a contact sheet could not show.
  package var unusable: [UnusablePicture] = []
  /// Texts that a contact sheet could not show as they are; nil if there are none.
  package var unshown: UnshownTexts?

  /// Whether it is in place, made by this job or equal to what it would have made.
  package var isInPlace: Bool {
    switch result {
    case .made, .unchanged: true
    case .notMade, .withheld, .failed: false
    }
  }

  /// Whether a later run must make it.
  package var isLeft: Bool { if case .notMade = result { true } else { false } }
}

/// Why a manifest, a contact sheet or a gallery could not be made.
package enum JoinError: Error, Sendable, CustomStringConvertible {
  case output(OutputError)
  /// A page of the contact sheet needs more memory than `plan` gives to one operation.
  case memory(BudgetExceededError, plan: MemoryPlan)
  /// An error that the job does not know.
  case other(String)

  init(_ error: any Error) {
    self =
      switch error {
      case let error as JoinError: error
      case let error as OutputError: .output(error)
      default: .other("\(error)")
      }
  }

  /// Whether the whole disk is at fault: full, faulty or read-only.
  package var isDiskFault: Bool { if case .output(let error) = self { error.isDiskFault } else { false } }

  /// One line, with the path of an output error.
  package var description: String {
    switch self {
    case .output(let error): "\(error)"
    case .memory(let error, _): "a page \(error)"
    case .other(let text): text
    }
  }
}
