/// A change in a run that is sent to listeners.
public enum StateChange: Sendable {
  /// An operation was accepted, began, entered a stage, or ended.
  case operation(OperationStatus)
  case pressure(PressureStatus)
  case limits(RunLimits)
  /// The run was paused or resumed, or is ending.
  case run(RunState)

  /// The name of the event that is sent, and its data.
  var event: (name: String, data: any Encodable) {
    switch self {
    case .operation(let status): ("operation", status)
    case .pressure(let status): ("pressure", status)
    case .limits(let limits): ("limits", limits)
    case .run(let state): ("run", RunChange(state: state))
    }
  }

  /// The data of the event `run`.
  struct RunChange: Codable, Sendable {
    let state: RunState
  }
}
