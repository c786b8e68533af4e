import Foundation
import Jobs
import TraceRecording

// Signals: USR1 lists the operations, HUP starts nothing new, USR2, INT and TERM cancel everything. A second INT or TERM
// ends the process at once.
extension RunSession {
  /// A TERM that follows the first one within a second is the same: who signals all processes of a group, as schedulers
  /// and timeout(1) do, also signals the script that passes the signal on. Nobody types INT (Ctrl-C) twice by accident.
  private static let sameMoment = UInt64(1_000_000_000)

  /// The most waiting operations to list.
  private static let listedOperations = 10_000

  /// Handles a signal on the signal thread. Other threads print and stop, so it waits for nothing; before it ends the
  /// process, it waits up to 0.1 s for a socket that is being opened.
  func handle(_ signal: CInt, _ job: Job, _ endpoints: JobEndpoints?) {
    switch signal {
    case SIGUSR1:
      guard !isListing.exchange(true, ordering: .acquiringAndReleasing) else { return }
      messages.print { [self] console in
        isListing.store(false, ordering: .releasing)
        let terminal = console.terminal
        console.print(
          QueueListing.text(
            job.status(waitingLimit: Self.listedOperations), columns: terminal.columns, terminal.charset.ellipsis))
      }
    case SIGUSR2: stop(job, .cancelled(by: "USR2"))
    case SIGHUP: stop(job, .startNothingNew)
    default:
      let now = DispatchTime.now().uptimeNanoseconds
      if endingSignal.load(ordering: .acquiring) != 0 {
        if signal == SIGTERM, now - endingTime.load(ordering: .relaxed) < Self.sameMoment { return }
        // The second INT or TERM. Unfinished files are removed without waiting for the threads that write them.
        job.closeOutputs()
        endpoints?.removeSockets()
        console.abandonBottom()
        _exit(128 + signal)
      }
      endingTime.store(now, ordering: .relaxed)
      endingSignal.store(signal, ordering: .releasing)
      stop(job, .shutdown(by: signal == SIGINT ? "INT" : "TERM"))
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
