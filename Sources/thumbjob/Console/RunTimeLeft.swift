/// The time until the end of a run, as it is shown.
enum RunTimeLeft {
  /// How long a run goes on before the time is told: the first sources say little about the others.
  static let patience = Duration.seconds(3)

  /// The seconds in steps that grow with them, so that the text does not change all the time.
  static func rounded(_ seconds: Double) -> Double {
    let step = seconds < 10 ? 1.0 : seconds < 60 ? 5 : seconds < 600 ? 15 : seconds < 3600 ? 60 : 600
    return (seconds / step).rounded(.up) * step
  }
}
