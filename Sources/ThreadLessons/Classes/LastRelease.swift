import Foundation
import Locking

/// An object dies on the thread that releases it last.
enum LastRelease: Lesson {
  static let name = "last-release"
  static let claim =
    "An object dies on the thread that releases it last, which may be one that must not touch what it holds."
  static let today =
    "True in Swift: `deinit` runs on any thread unless a class says otherwise (`isolated deinit` of an actor)."
  static let file = #fileID

  /// A view, which only its owner's thread may destroy.
  private final class View: Sendable {
    private let died: @Sendable (String) -> Void

    init(_ died: @escaping @Sendable (String) -> Void) { self.died = died }
    deinit { died(Thread.current.name ?? "") }
  }

  /// A reference that is handed over.
  private final class Box: Sendable {
    let view: Guarded<Locked<View?>>

    init(_ view: View) { self.view = Guarded(Locked(view)) }
    func take() -> View? {
      view.lock.write { view in
        defer { view = nil }
        return view
      }
    }
  }

  static func wrong() -> Outcome {
    let place = Guarded(Locked(""))
    let box = Box(View { name in place.lock.write { $0 = name } })
    // The owner lets go of it while the work still has it.
    let work = Player("work") { _ = box.take() }
    work.end.wait()
    return outcome(place.lock.read { $0 })
  }

  static func right() -> Outcome {
    let place = Guarded(Locked(""))
    let box = Box(View { name in place.lock.write { $0 = name } })
    let work = Player("work") { box.view.lock.read { _ in } }  // uses it, and takes no reference away
    let owner = Player("owner") {
      work.end.wait()
      _ = box.take()
    }
    owner.end.wait()
    return outcome(place.lock.read { $0 })
  }

  private static func outcome(_ thread: String) -> Outcome {
    Outcome(isFaulty: thread != "owner", "the view dies on the thread “\(thread)”")
  }
}
