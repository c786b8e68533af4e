import Files
import Foundation
import JobSettings
import Sourcing

/// What a run tells other runs of itself, in the file that it keeps locked in its ``RunFolder``: one object of JSON.
package struct RunIdentity: Sendable, Hashable, Codable {
  /// The process, by its id; 0 if it is not known.
  package private(set) var process = 0
  /// The name of its machine.
  package private(set) var machine = ""
  /// When it began, in seconds since 1970; 0 if that is not known.
  package private(set) var began = 0
  /// Its sources as text; empty if they are not known.
  package private(set) var sources = ""
  /// Whether it is a watch.
  package private(set) var isWatch = false
  /// A hash of its sources. Those that make shares of the same sources have the same.
  private var set = ""
  /// Which share it makes; nil for all.
  private var share, shares: Int?

  /// The most sources to name, and the most bytes of their names: the rest must fit into ``LockedFolder/longestAbout``.
  private static let (mostSources, longestSources) = (3, 1000)

  /// A run of this process, of which nothing else is known.
  package init() {
    process = Int(getpid())
    machine = Self.thisMachine
    began = Int(Date().timeIntervalSince1970)
  }

  package init(_ settings: JobSettings) {
    self.init()
    let named = settings.sources.prefix(Self.mostSources).map { Self.text($0).description }
    let rest = settings.sources.count - named.count
    let text = named.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    sources = text.utf8.count <= Self.longestSources ? text : Units.count(settings.sources.count, "source")
    isWatch = settings.watch != nil
    (share, shares) = (settings.shard?.index, settings.shard?.count)
    var hash = Fingerprint()
    for source in settings.sources {
      var path = Self.text(source)
      // The lists of a split are in one folder.
      if settings.shard?.isList == true { path = path.parent }
      hash.append(path.bytes)
      hash.append([0])
    }
    set = String(decoding: hash.digits, as: UTF8.self)
  }

  private static func text(_ source: SourceArgument) -> Path {
    switch source {
    case .path(let path): path.absolute ?? path
    case .list(let list): list.file.map { $0.absolute ?? $0 } ?? list.name
    case .address(let address): Path("\(address)")
    }
  }

  /// Reads what another run has written. Anyone may have written it; nothing is known then.
  init(reading bytes: [UInt8]) {
    guard var read = try? JSONDecoder().decode(Self.self, from: Data(bytes)) else {
      (process, machine, began) = (0, "", 0)
      return
    }
    read.sources = printableText(of: Array(read.sources.utf8))
    read.machine = printableText(of: Array(read.machine.utf8))
    self = read
  }

  var bytes: [UInt8] { (try? JSONEncoder().encode(self)).map(Array.init) ?? [] }

  /// Whether both make different shares of the same sources, for which they are meant to work at once.
  package func isShareBeside(_ other: RunIdentity) -> Bool {
    guard let share, let shares, let theirs = other.share else { return false }
    return set == other.set && shares == other.shares && share != theirs
  }

  /// Who it is, for a message: `process 4711 (a watch of /photos, since 2026-11-26 23:10)`.
  package var description: String {
    let name = process > 0 ? "process \(process)" : "another process"
    let place = machine.isEmpty || machine == Self.thisMachine ? "" : " on \(machine)"
    let details =
      (sources.isEmpty ? [] : ["\(isWatch ? "a watch of " : "")\(sources)"])
      + (began > 0 ? ["since \(Units.minute(began))"] : [])
    return name + place + (details.isEmpty ? "" : " (\(details.joined(separator: ", ")))")
  }

  private static let thisMachine: String = {
    var name = utsname()
    guard uname(&name) == 0 else { return "" }
    return withUnsafeBytes(of: name.nodename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }()
}
