import JobSettings

/// Settings whose options stand together in help.
protocol SettingGroup: SendableMetatype {
  static var settings: [Setting<RunSettings>] { get }
  /// Whether help hides an option, because the command refuses it.
  static func hides(_ info: SettingInfo) -> Bool
}

extension SettingGroup {
  static func hides(_ info: SettingInfo) -> Bool { false }

  /// A setting of the job as one of the run.
  fileprivate static func ofRun(_ setting: Setting<JobSettings>) -> Setting<RunSettings> { setting.within(\.job) }
}

/// The same settings as options of a watch.
enum WatchGroup<Group: SettingGroup>: SettingGroup {
  static var settings: [Setting<RunSettings>] { Group.settings }
  static func hides(_ info: SettingInfo) -> Bool { info.watchRefusal != nil }
}

/// The same settings as options of a kind of job that makes no thumbnails.
enum OtherKindGroup<Group: SettingGroup>: SettingGroup {
  static var settings: [Setting<RunSettings>] { Group.settings }
  static func hides(_ info: SettingInfo) -> Bool { info.isOnlyForThumbnails }
}

/// Those that determine the bytes of a thumbnail and its place.
enum ThumbnailGroup: SettingGroup {
  static let settings = JobSettings.thumbnailSettings.map(ofRun)
}

/// Those that determine how much work rendering and encoding a thumbnail is.
enum EncodingGroup: SettingGroup {
  static let settings = JobSettings.encodingSettings.map(ofRun)
}

/// Those that make something of all thumbnails.
enum JoinGroup: SettingGroup {
  static let settings = JobSettings.joinSettings.map(ofRun)
}

/// Those that choose sources and determine how faulty ones are treated.
enum SourceGroup: SettingGroup {
  static let settings = JobSettings.sourceSettings.map(ofRun)
}

/// Those that choose files of a walk.
enum FilterGroup: SettingGroup {
  static let settings = JobSettings.filterSettings.map(ofRun)
}

/// Those of sources that are fetched from the network.
enum NetworkGroup: SettingGroup {
  static let settings = JobSettings.networkSettings.map(ofRun)
}

/// Those that limit a run and show its progress.
enum RunningGroup: SettingGroup {
  static let settings = JobSettings.runningSettings.map(ofRun) + RunSettings.ownSettings
}

/// How many operations run at once.
enum MaxGroup: SettingGroup {
  static let settings = [ofRun(JobSettings.maxSetting)]
}

enum QuietGroup: SettingGroup {
  static let settings = [RunSettings.quietSetting]
}

enum PollGroup: SettingGroup {
  static let settings = [RunSettings.pollSetting]
}
