import AccessRecording
import Locking

final class NameCache: Recorded, Sendable {
  private let lock = Locked(())
  private let names = Shared<[Int: String]>([:])

  func add(_ name: String, for id: Int) { recorded { lock.withLock { _ in names.modify { $0[id] = name } } } }
  func name(of id: Int) -> String? { recorded { names.read { $0[id] } } }  // a mistake
}

let cache = NameCache()
cache.add("one", for: 1)
print(cache.name(of: 1) ?? "none")
