import BoundedQueue
import Locking

let seen = Locked<[Int]>([])
let sum = try await withBoundedQueue(name: "sums", maxConcurrentOperations: 2) { queue in
  try await queue.result(
    of: ResultOperation(title: "add") {
      seen.withLock { $0.append(1) }
      return 1 + 2
    })
}
print(sum, seen.withLock { $0 })
