import NIOCore

/// Runs tasks on the thread of an event loop, so that they never wait for the threads that Swift's tasks and Dispatch share
/// with everybody else: however busy those are, a request is answered.
final class LoopExecutor: TaskExecutor {
  private let loop: any EventLoop

  init(_ loop: any EventLoop) { self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
