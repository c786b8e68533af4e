import Files
import JobSettings
import MemoryPressure

/// What a server of previews may do.
package struct PreviewSettings: Sendable, Equatable {
  /// Operations running at once; nil for the processors that this process may use.
  package var max: Int?
  /// Operations waiting for a place.
  package var backlog = 256
  /// The memory of all running operations together; nil for half of what is free.
  package var memory: MemorySize?
  package var onPressure = PressureResponse.requeue
  package var pressureSource = PressureSignalChoice.auto
  package var isolate = Isolation.auto
  /// The most bytes of a picture.
  package var limitBytes = 256 << 20
  /// The most pixels of a picture.
  package var limitPixels = 1_000_000_000
  /// How long an operation may run.
  package var timeout = Duration.seconds(60)
  /// How long a request may wait for its answer.
  package var hold = Duration.seconds(100)
  /// The folder for pictures that were received; nil for that of temporary files.
  package var spoolFolder: Path?
  /// The most bytes of all pictures that were received; nil for what the folder has room for.
  package var spoolBytes: MemorySize?
  /// The memory for previews that are kept.
  package var cache: MemorySize?

  package init() {}

  package var maxInUse: Int { max ?? ProcessorCount.usable() }
}
