#if Endpoint
import NIOCore

/// Runs tasks on the thread of an event loop, so that requests are answered even if all threads of Swift's and Dispatch's
/// pools are busy.
package final class LoopExecutor: TaskExecutor {
  private let loop: any EventLoop

  package init(_ loop: any EventLoop) { self.loop = loop }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
#endif
