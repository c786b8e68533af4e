/// A change in a run that is sent to listeners.
public enum StateChange: Sendable {
  /// An operation was accepted, began, entered a stage, or ended.
  case operation(OperationStatus)
  case pressure(PressureStatus)
  case limits(RunLimits)
  /// The run was paused or resumed, or is ending. `pausedBy` says why it is paused; nil if it is not.
  case run(RunState, pausedBy: [PauseCause]? = nil)

  /// The name of the event that is sent, and its data.
  var event: (name: String, data: any Encodable) {
    switch self {
    case .operation(let status): ("operation", status)
    case .pressure(let status): ("pressure", status)
    case .limits(let limits): ("limits", limits)
    case .run(let state, let pausedBy): ("run", RunChange(state: state, pausedBy: pausedBy))
    }
  }

  /// The data of the event `run`.
  struct RunChange: Codable, Sendable {
    let state: RunState
    let pausedBy: [PauseCause]?

    enum CodingKeys: String, CodingKey {
      case state
      case pausedBy = "paused_by"
    }
  }
}
