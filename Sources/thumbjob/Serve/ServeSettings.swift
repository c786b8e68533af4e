import Files
import JobSettings
import Previews
import StatusEndpoint

/// All settings of `thumbjob serve`.
struct ServeSettings: Equatable, DefaultSettings {
  var previews = PreviewSettings()
  /// Where to listen; nil for ``usualAddress``.
  var givenAddress: StatusAddress?
  /// What clients must know; nil if anyone may ask.
  var key: String?
  /// The most clients at once.
  var connections = 512
  /// Where to serve the status besides the private socket; nil means nowhere else.
  var status: StatusAddress?
  /// The file for a trace; nil means none.
  var trace: Path?
  /// Print a JSON line for each answer to standard output.
  var json = false
  /// Print a line for each answer.
  var verbose = false
  /// Print nothing but failures.
  var quiet = false

  var address: StatusAddress { givenAddress ?? Self.usualAddress }

  static let usualAddress = StatusAddress.tcp(host: "127.0.0.1", port: 9000)
  /// The variable of the environment with the key, which other users cannot read as they can a command line.
  static let keyVariable = "THUMBJOB_KEY"

  static let settings: [Setting<ServeSettings>] = [
    Setting(
      "max", letter: "j", otherOptions: ["jobs"], otherKeys: ["jobs"], \.previews.max,
      .number(in: JobSettings.maxRange),
      value: "n", "Previews made at once.", default: "processors this process may use"),
    Setting(
      "backlog", \.previews.backlog, .number(in: 0...1_000_000), value: "n",
      "Requests that wait with their pictures received; more are held with their pictures unread."),
    Setting(
      "connections", \.connections, .number(in: 1...65_536), value: "n", "Clients at once."),
    Setting(
      "memory", \.previews.memory, .text(MemorySize.init(parsing:for:)), value: "size",
      "Memory for all running operations together: 256M, 1G, 25%.",
      default: "half of the free memory less a reserve, at most 1G"),
    Setting(
      "hold", \.previews.hold, .duration, value: "duration",
      "How long a request may wait for its answer before it gets 503 with Retry-After."),
    Setting("timeout", \.previews.timeout, .duration, value: "duration", "The most time for one preview."),
    Setting(
      "limit-bytes", \.previews.limitBytes, .bytes, value: "size", "The most bytes of a picture: 50M, 1G."),
    Setting("limit-pixels", \.previews.limitPixels, .pixels, value: "n", "The most pixels of a picture: 500M, 1G."),
    Setting(
      "spool", \.previews.spoolFolder, .path, value: "folder",
      "Where received pictures are, in files without names, until their previews are made.",
      default: "$TMPDIR or /tmp", completion: .folder),
    Setting(
      "spool-size", \.previews.spoolBytes, .text(MemorySize.init(parsing:for:)), value: "size",
      "The most bytes of all received pictures; clients wait for room with theirs.",
      default:
        "half of the free space, at most 1G or a third of the memory limit; an eighth of it where the folder is in memory"
    ),
    Setting(
      "cache", \.previews.cache, .text(MemorySize.init(parsing:for:)), value: "size",
      "Memory for previews, for requests that want the same of an equal picture. Computing the digests of pictures takes time.",
      default: "none"),
    Setting(
      "key", \.key,
      .text { text, subject throws(TextError) in
        guard (1...256).contains(text.utf8.count) else { throw TextError("\(subject): must have 1 to 256 characters") }
        return text
      }, value: "key",
      "What clients must send: API-Key or key= for imaginary's routes; the secret of signed paths, or API-Key, for imagor's. "
        + "\(keyVariable) in the environment is better: other users can read command lines."),
    Setting(
      "isolate", \.previews.isolate, .word, value: "pictures",
      "Decode in fenced helper processes: auto (all but JPEG without faults), always, require (always, and nothing where "
        + "the kernel refuses a part of the fence), never (without the fence)."),
    Setting(
      "on-pressure", \.previews.onPressure, .word, value: "response",
      "What to do at critical memory; requeue cancels operations and makes them again later."),
    Setting(
      "pressure-source", \.previews.pressureSource, .word, value: "name",
      "The signal of memory pressure; auto is the first that works."),
    Setting(
      "status", \.status, .status, value: "address",
      "Also serve the status page at unix:PATH or HOST:PORT; off: not even on the private socket.",
      completion: .words(["off", "127.0.0.1:8080"])),
    Setting(
      "trace", \.trace, .path, value: "file",
      "Write a trace of operations and counters that Perfetto opens; it grows with each request.",
      completion: .file(extensions: [])),
    Setting("json", \.json, .flag, "Write a JSON line for each answer to standard output."),
    Setting(
      "verbose", letter: "v", \.verbose, .flag, "Print a line for each answer.", overriding: \ServeSettings.quiet),
    Setting("quiet", \.quiet, .flag, "Print only failures and warnings.", overriding: \ServeSettings.verbose),
  ]
}
