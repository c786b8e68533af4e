import ArgumentParser
import Files
import Foundation
import JobSettings
import Sourcing
import StatusEndpoint

/// `thumbjob serve`: reads the options. `ServeSession` does the work.
struct ServeCommand: Subcommand {
  static let name = "serve"
  static let handlesSignals = true
  static let configuration = CommandConfiguration(
    commandName: name, abstract: "Makes previews of pictures that clients send over HTTP.",
    usage: "thumbjob serve [<address>] [options]",
    discussion: """
      It answers the requests that clients of imaginary (Nextcloud) and imagor (OpenCloud) send: the picture is in the \
      request, and the preview in the answer. The address is HOST:PORT or unix:PATH; 127.0.0.1:9000 if none is given. A \
      job file (*.yml) may have the same settings, and HUP reads it again.

      docs/serve.md lists the routes.
      """)

  @Argument(
    help: ArgumentHelp("HOST:PORT or unix:PATH, or a job file with settings (*.yml).", valueName: "address"),
    completion: .file(extensions: ["yml", "yaml"]))
  var word: String?

  @OptionGroup var options: SettingOptions<ServeGroup>

  func run() throws {
    try BuildTrait.endpoint.require(if: true)
    #if Endpoint
    let reader = ServeSettingsReader(word: word, given: options.given)
    throw try ServeSession(reader.read(), reader).run()
    #endif
  }
}

enum ServeGroup: SettingGroup {
  static let settings = ServeSettings.settings
}

/// Reads the settings of a server, at its start and again at HUP.
struct ServeSettingsReader: Sendable {
  private let word: String?
  private let given: GivenOptions<ServeSettings>

  init(word: String?, given: GivenOptions<ServeSettings>) { (self.word, self.given) = (word, given) }

  private static let keys: [JobFileKey<ServeSettings>] =
    [JobFileKey(Setting<ServeSettings>("listen", \.givenAddress, .status, value: "address", "HOST:PORT or unix:PATH."))]
    + ServeSettings.settings.map { JobFileKey($0) }

  /// The defaults, changed by the job file and then by the command line.
  ///
  /// - Throws: `JobFileError` or `TextError`, depending on which of the two is wrong.
  func read() throws -> ServeSettings {
    var settings = ServeSettings()
    settings.key = ProcessInfo.processInfo.environment[ServeSettings.keyVariable]
    // A variable that was to have the key, and has none, must not open the server to everyone.
    if settings.key == "" {
      throw TextError("\(ServeSettings.keyVariable) is empty; unset it if clients need no key")
    }
    let path = word.map { CommandWords.path(of: $0) }
    if let path, JobFile.isName(path) {
      try JobFile.read(path, keys: Self.keys, dash: SourceList.standardInput, into: &settings)
    } else if let word {
      settings.givenAddress = try StatusAddress(setting: word, for: "serve")
    }
    try given.apply(to: &settings)
    guard settings.address != .off else {
      throw TextError("serve: off is no address; write 127.0.0.1:9000 or unix:PATH")
    }
    try BuildTrait.ledger.require("cache", if: settings.previews.cache != nil)
    if settings.verbose, settings.quiet { throw TextError(in: "quiet", "cannot be asked for together with verbose") }
    return settings
  }
}
