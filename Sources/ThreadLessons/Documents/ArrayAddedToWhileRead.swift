import Locking

/// A list of documents that grows while it is read.
enum ArrayAddedToWhileRead: Lesson {
  static let name = "array-added-to-while-read"
  static let claim =
    "A thread that walks through an array by index, while another one removes from it, leaves its bounds."
  static let today =
    "Swift traps at the index; without a lock it is a race as well, which the thread sanitizer names (`make "
    + "lessons`)."
  static let file = #fileID

  static func wrong() -> Outcome {
    let documents = Guarded(Locked(["a", "b"]))
    let (hasCounted, isRemoved) = (Gate(), Gate())
    let other = remover(of: documents, after: hasCounted, isRemoved)
    // Each access is under the lock, and the walk is not.
    let count = documents.lock.read { $0.count }
    hasCounted.open()
    isRemoved.wait()
    let last = documents.lock.read { $0.indices.contains(count - 1) ? $0[count - 1] : nil }
    other.end.wait()
    return outcome(last)
  }

  static func right() -> Outcome {
    let documents = Guarded(Locked(["a", "b"]))
    let (hasCounted, isRemoved) = (Gate(), Gate())
    let other = remover(of: documents, after: hasCounted, isRemoved)
    let copy = documents.lock.read { $0 }
    hasCounted.open()
    isRemoved.wait()
    let last = copy[copy.count - 1]
    other.end.wait()
    return outcome(last)
  }

  private static func remover(of documents: Guarded<Locked<[String]>>, after gate: Gate, _ isRemoved: Gate) -> Player {
    Player("other") {
      gate.wait()
      documents.lock.write { _ = $0.removeLast() }
      isRemoved.open()
    }
  }

  private static func outcome(_ last: String?) -> Outcome {
    Outcome(
      isFaulty: last == nil, last.map { "the last document is \($0)" } ?? "the index of the last document is outside")
  }

  private final class Manager: @unchecked Sendable {  // that is the fault
    var documents: [Int] = []
  }

  /// The wrong form as it is written, in a process of its own, which the thread sanitizer watches.
  static func race() {
    let manager = Manager()
    manager.documents.reserveCapacity(10_000)  // so that the race is one on memory that stays
    _ = Threads.values([true, false]) { adds in
      for number in 0..<1000 {
        if adds { manager.documents.append(number) } else { _ = manager.documents.count }
      }
    }
  }
}
