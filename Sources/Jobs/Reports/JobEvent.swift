import Files
import Ledger
import MemoryPressure
import PictureMaking
import Places
import Sourcing

/// A report of a job about its progress.
package enum JobEvent: Sendable {
  /// A source is done. There is no event for a source that is up to date; it is only counted.
  case source(SourceReport)
  /// The source was under way when an earlier run died. It is tried last, alone.
  case postponed(Source)
  /// Pictures that need a decoder process will fail, because none can be started. Sent at most once, before any source.
  case noDecoder(DecoderObstacle)
  /// Parts of the fence around decoder processes do not hold, for the reasons in this line. Sent once.
  case fence(String)
  /// The job cannot use its ledger, or no longer. It goes on without: later runs know less of this one.
  case ledger(LedgerError)
  /// Another process already works on an output of this job. If the job waits for others, it now waits for this one too.
  case otherRun(RunIdentity, output: Path)
  /// The walk could not read something.
  case walkError(WalkError)
  /// A manifest, a contact sheet or a gallery is done, or will not be made.
  case join(JoinReport)
  /// The job has opened its signals of memory pressure. Each report says whether one of the possible signals can be
  /// used; there is none if memory pressure is not watched. A job that ends before it opens
  /// them (``PressureRules/openingDelay``) never sends this.
  case watching([PressureSignalReport])
  /// The job responded to memory pressure.
  case pressure(PressureNote)
  /// A job that watches its folders has something to say about them.
  case watch(WatchNote)
  /// A thumbnail was removed, because its source is gone, and had this many bytes; or it could not be removed.
  case removal(Path, Result<Int, OutputError>)
  /// The job ends before all sources are done. A later event may have a cause that ends more operations.
  case stopping(StopCause)
}
