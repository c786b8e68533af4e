import Foundation
import Jobs
import TraceRecording

// Signals: USR1 lists the operations, HUP starts nothing new, USR2, INT and TERM cancel everything. A second INT or TERM
// ends the process at once.
extension RunSession {
  /// Handles a signal on the signal thread. Other threads print and stop, so it waits for nothing; before it ends the
  /// process, it waits up to 0.1 s for a socket that is being opened.
  func handle(_ signal: CInt, _ job: Job, _ endpoints: JobEndpoints?) {
    switch signal {
    case SIGUSR1:
      listing.print(to: messages) { columns, ellipsis in
        QueueListing.text(job.status(waitingLimit: ListingRequests.longest), columns: columns, ellipsis)
      }
    case SIGUSR2: stop(job, .cancelled(by: "USR2"))
    case SIGHUP: stop(job, .startNothingNew)
    default:
      switch ending.take(signal) {
      case .first: stop(job, .shutdown(by: signal == SIGINT ? "INT" : "TERM"))
      case .same: break
      case .second:
        // Unfinished files are removed without waiting for the threads that write them.
        job.closeOutputs()
        endpoints?.removeSockets()
        console.abandonBottom()
        _exit(128 + signal)
      }
    }
  }

  func stop(_ job: Job, _ cause: StopCause) {
    limitWrites()
    serviceManager?.send("STOPPING=1")
    let isNew = announced.withLock { announced in
      if announced.contains(cause) { return false }
      announced.append(cause)
      return true
    }
    if isNew {
      // At once: what runs may take a moment to stop. The summary says what was cancelled.
      messages.print(StyledText("thumbjob: stopped \(cause.text): \(Self.consequence(of: cause))", .warning))
    }
    stopper.async { job.trace.span("Job.stop") { _ = job.stop(cause) } }
  }

  private static func consequence(of cause: StopCause) -> String {
    switch cause {
    case .startNothingNew: "starting nothing new, finishing what runs"
    case .shutdown(let signal): "cancelling what runs and waits; a second \(signal) exits at once"
    default: "cancelling what runs and waits"
    }
  }
}
