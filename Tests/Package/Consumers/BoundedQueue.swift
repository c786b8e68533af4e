import BoundedQueue

let sum = try await withBoundedQueue(name: "sums", maxConcurrentOperations: 2) { queue in
  try await queue.result(of: ResultOperation(title: "add") { 1 + 2 })
}
print(sum)
