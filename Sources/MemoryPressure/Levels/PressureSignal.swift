/// One signal of memory pressure.
struct PressureSignal: Equatable {
  let level: PressureLevel
  let cause: PressureCause
  /// The number of events it stands for; 0 for a lasting state that was already reported.
  let count: Int
}
