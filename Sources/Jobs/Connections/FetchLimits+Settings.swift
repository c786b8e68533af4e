import Fetching
import JobSettings

extension FetchLimits {
  /// The limits that the settings set; the others have their defaults.
  init(_ settings: NetworkSettings) {
    self.init()
    (connections, perHost) = (settings.connections, settings.perHost)
    (largest, allowsPrivate) = (settings.largest, settings.allowsPrivate)
  }
}
