import JobSettings

/// Settings whose options stand together in help.
protocol SettingGroup: SendableMetatype {
  /// What the settings are a part of.
  associatedtype Settings: DefaultSettings

  static var settings: [Setting<Settings>] { get }
  /// Whether help hides an option, because the command refuses it.
  static func hides(_ info: SettingInfo) -> Bool
}

extension SettingGroup {
  static func hides(_ info: SettingInfo) -> Bool { false }
}

extension [Setting<JobSettings>] {
  /// The settings of a job as those of its run.
  fileprivate var ofRun: [Setting<RunSettings>] { map { $0.within(\.job) } }
}

/// The same settings as options of a watch.
enum WatchGroup<Group: SettingGroup>: SettingGroup {
  static var settings: [Setting<Group.Settings>] { Group.settings }
  static func hides(_ info: SettingInfo) -> Bool { info.watchRefusal != nil }
}

/// The same settings as options of a kind of job that makes no thumbnails.
enum OtherKindGroup<Group: SettingGroup>: SettingGroup {
  static var settings: [Setting<Group.Settings>] { Group.settings }
  static func hides(_ info: SettingInfo) -> Bool { info.isOnlyForThumbnails }
}

/// Those that determine the bytes of a thumbnail and its place.
enum ThumbnailGroup: SettingGroup {
  static let settings: [Setting<RunSettings>] = JobSettings.thumbnailSettings.ofRun
}

/// Those that determine how much work rendering and encoding a thumbnail is.
enum EncodingGroup: SettingGroup {
  static let settings: [Setting<RunSettings>] = JobSettings.encodingSettings.ofRun
}

/// Those that make something of all thumbnails.
enum JoinGroup: SettingGroup {
  static let settings: [Setting<RunSettings>] = JobSettings.joinSettings.ofRun
}

/// Those that choose sources and determine how faulty ones are treated.
enum SourceGroup: SettingGroup {
  static let settings: [Setting<RunSettings>] = JobSettings.sourceSettings.ofRun
}

/// Those that choose files of a walk.
enum FilterGroup: SettingGroup {
  static let settings: [Setting<RunSettings>] = JobSettings.filterSettings.ofRun
}

/// Those of sources that are fetched from the network.
enum NetworkGroup: SettingGroup {
  static let settings: [Setting<RunSettings>] = JobSettings.networkSettings.ofRun
}

/// Those that limit a run and show its progress.
enum RunningGroup: SettingGroup {
  static let settings: [Setting<RunSettings>] = JobSettings.runningSettings.ofRun + RunSettings.ownSettings
}

/// How many operations run at once.
enum MaxGroup: SettingGroup {
  static let settings: [Setting<RunSettings>] = [JobSettings.maxSetting].ofRun
}

enum QuietGroup: SettingGroup {
  static let settings: [Setting<RunSettings>] = [RunSettings.quietSetting]
}

enum PollGroup: SettingGroup {
  static let settings: [Setting<RunSettings>] = [RunSettings.pollSetting]
}
