import Files
import Thumbnails
import Yams

/// Turns the tree of a job file into what it says, and notes everything that is wrong on the way.
struct JobFileReader {
  static let outputKeys = [
    "out", "size", "sizes", "quality", "progressive", "subsample", "keep", "linear", "preset",
  ]
  static let jobKeys =
    [
      "sources", "files0-from", "include", "exclude", "follow", "outputs", "max", "backlog", "memory", "on-pressure",
      "pressure-source", "force", "fail-on",
      "limit-pixels", "timeout", "retries", "dry-run", "halt", "for", "json", "progress", "status", "trace", "verbose",
      "quiet",
    ] + outputKeys

  let file: Path
  private let statusProblem: (String) -> String?
  private(set) var problems: [JobFileProblem] = []

  init(file: Path, statusProblem: @escaping (String) -> String?) {
    self.file = file
    self.statusProblem = statusProblem
  }

  mutating func read(_ root: Node?) -> JobOverlay {
    var job = JobOverlay()
    guard let root, !isNothing(root) else {
      note(nil, "is empty; name at least the sources")
      return job
    }
    var preset: OutputOverlay?
    var (named, listed): ([SourceArgument]?, [SourceArgument]?)
    for (key, node) in entries(root, keys: Self.jobKeys, of: "a job") {
      switch key {
      case "sources": named = texts(node, key)?.map { SourceArgument(path($0)) }
      case "files0-from":
        guard let text = text(node, key) else { continue }
        listed = [.list(SourceList(from: text == "-" ? nil : path(text), separator: .nul))]
      case "include": job.includes = globs(node, key)
      case "exclude": job.excludes = globs(node, key)
      case "follow": job.followsLinks = flag(node, key)
      case "outputs": job.outputs = outputs(node)
      case "max": job.max = number(node, key, JobSettings.maxRange)
      case "backlog": job.backlog = number(node, key, JobSettings.backlogRange)
      case "memory": job.memory = parsed(node, key, MemorySize.init(parsing:for:))
      case "on-pressure": job.onPressure = word(node, key)
      case "pressure-source": job.pressureSource = word(node, key)
      case "force": job.force = flag(node, key)
      case "fail-on": job.failOn = word(node, key)
      case "limit-pixels": job.limitPixels = parsed(node, key, PixelCount.parse)
      case "timeout": job.timeout = parsed(node, key, DurationText.parse)
      case "retries": job.retries = number(node, key, JobSettings.retriesRange)
      case "dry-run": job.dryRun = flag(node, key)
      case "halt": job.halt = parsed(node, key, HaltLimit.init(parsing:for:))
      case "for": job.runFor = parsed(node, key, DurationText.parse)
      case "json": job.json = flag(node, key)
      case "progress": job.progress = word(node, key)
      case "status":
        job.status = parsed(node, key) { [statusProblem] text, key throws(TextProblem) in
          if let problem = statusProblem(text) { throw TextProblem("\(key): \(problem)") }
          return text
        }
      case "trace": job.trace = text(node, key).map { path($0) }
      case "verbose": job.verbose = flag(node, key)
      case "quiet": job.quiet = flag(node, key)
      default: read(key, node, into: &job.output, preset: &preset)
      }
    }
    if named != nil || listed != nil { job.sources = (named ?? []) + (listed ?? []) }
    if let preset { job.output = job.output.over(preset) }
    return job
  }

  private mutating func outputs(_ node: Node) -> [OutputOverlay]? {
    guard case .sequence(let list) = node, !list.isEmpty else {
      note(node, "outputs: expected a list of outputs, each with its out, found \(kind(of: node))")
      return nil
    }
    return list.map { node in
      var output = OutputOverlay()
      var preset: OutputOverlay?
      for (key, node) in entries(node, keys: Self.outputKeys, of: "an output") {
        read(key, node, into: &output, preset: &preset)
      }
      return preset.map { output.over($0) } ?? output
    }
  }

  /// One of the keys that a job and each of its outputs have in common.
  private mutating func read(
    _ key: String, _ node: Node, into output: inout OutputOverlay, preset: inout OutputOverlay?
  ) {
    switch key {
    case "out": output.folder = text(node, key).map { path($0) }
    case "size", "sizes":
      if output.sizes != nil { note(node, "\(key): size and sizes cannot both be given") }
      output.sizes = sizes(node, key)
    case "quality": output.quality = number(node, key, JobSettings.qualityRange)
    case "progressive": output.progressive = flag(node, key)
    case "subsample": output.subsample = word(node, key)
    case "keep": output.keep = texts(node, key).map { $0.isEmpty ? [] : kept(node, key) }
    case "linear": output.linear = flag(node, key)
    default: preset = (word(node, key) as Preset?)?.output
    }
  }

  /// `256`, `[small=320, 1024]` or `{small: 320}`.
  private mutating func sizes(_ node: Node, _ key: String) -> [SizeSpec]? {
    var sizes: [SizeSpec] = []
    let before = problems.count
    if case .mapping(let mapping) = node {
      for (name, value) in mapping {
        guard let name = text(name, key), let spec = text(value, key) else { continue }
        sizes += attempt(value) { () throws(TextProblem) in try SizeSpec(parsing: "\(name)=\(spec)", for: key) }
      }
    } else {
      for (item, text) in items(node, key) {
        sizes += attempt(item) { () throws(TextProblem) in try SizeSpec(parsing: text, for: key) }
      }
    }
    if sizes.isEmpty && problems.count == before { note(node, "\(key): name at least one size") }
    if let clash = OutputSettings.clash(in: sizes) { note(node, "\(key): \(clash)") }
    return sizes
  }

  // MARK: - Values

  private mutating func number(_ node: Node, _ key: String, _ range: ClosedRange<Int>) -> Int? {
    guard let text = text(node, key, "a number") else { return nil }
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2d }), let number = Int(text) else {
      note(node, "\(key): expected a whole number, found “\(shown(text))”")
      return nil
    }
    if range.contains(number) { return number }
    note(node, "\(key): \(number) is not within \(range.lowerBound) to \(range.upperBound)")
    return nil
  }

  private mutating func flag(_ node: Node, _ key: String) -> Bool? {
    guard let text = text(node, key, "yes or no") else { return nil }
    switch text.lowercased() {
    case "true", "yes", "on": return true
    case "false", "no", "off": return false
    default:
      note(node, "\(key): expected yes or no, found “\(shown(text))”")
      return nil
    }
  }

  private mutating func word<Word: RawRepresentable & CaseIterable>(_ node: Node, _ key: String) -> Word?
  where Word.RawValue == String {
    let words = Word.allCases.map(\.rawValue)
    guard let text = text(node, key, "one of \(words.joined(separator: ", "))") else { return nil }
    return check(text, node, key, words) ? Word(rawValue: text) : nil
  }

  private mutating func kept(_ node: Node, _ key: String) -> KeptMetadata {
    var kept: KeptMetadata = []
    for item in items(node, key) where check(item.text, item.node, key, KeptMetadata.words.map(\.key)) {
      kept.formUnion(KeptMetadata.words.first { $0.key == item.text }?.value ?? [])
    }
    return kept
  }

  private mutating func check(_ text: String, _ node: Node, _ key: String, _ words: [String]) -> Bool {
    if words.contains(text) { return true }
    let meant = NearestWord.to(text, among: words).map { "; did you mean “\($0)”?" }
    note(node, "\(key): “\(shown(text))” is not one of \(words.joined(separator: ", "))\(meant ?? "")")
    return false
  }

  private mutating func globs(_ node: Node, _ key: String) -> [Glob] {
    items(node, key).flatMap { item in
      attempt(item.node) { () throws(TextProblem) in
        do { return try Glob(item.text) } catch { throw TextProblem("\(key): \(error)") }
      }
    }
  }

  private mutating func parsed<Value>(
    _ node: Node, _ key: String, _ parse: (String, String) throws(TextProblem) -> Value
  ) -> Value? {
    guard let text = text(node, key) else { return nil }
    return attempt(node) { () throws(TextProblem) in try parse(text, key) }.first
  }

  /// The value, or nothing and the problem noted.
  private mutating func attempt<Value>(_ node: Node, _ body: () throws(TextProblem) -> Value) -> [Value] {
    do throws(TextProblem) {
      return [try body()]
    } catch {
      note(node, error.description)
      return []
    }
  }

  mutating func note(_ node: Node?, _ message: String) {
    problems.append(
      JobFileProblem(file: file, line: node?.mark?.line ?? 1, column: node?.mark?.column ?? 1, message: message))
  }

  /// A path of the file: relative ones start from the file's folder, `-` is standard input.
  private func path(_ text: String) -> Path {
    text == "-" ? "-" : file.parent.appending(Path(text)).withoutNeedlessParents
  }
}

extension Path {
  /// The path without `name/..` wherever `name` is a real folder and not a link, so that it leads to the same place:
  /// `jobs/../images` is `images`.
  fileprivate var withoutNeedlessParents: Path {
    let root: Path = isAbsolute ? "/" : ""
    var kept: [Path] = []
    for name in names where name != "." {
      if name == "..", let last = kept.last, last != "..",
        let status = try? FileStatus.of(root.appending(Path(names: kept)), followingLinks: false).get(),
        status.kind == .folder
      {
        kept.removeLast()
      } else {
        kept.append(name)
      }
    }
    let path = root.appending(Path(names: kept))
    return path.isEmpty ? "." : path
  }
}
