import ContactSheet
import Files
import Thumbnails
import Yams

// The keys of a job and of its outputs. Their order is the order in which values are applied.

extension JobSettings {
  static let jobFileKeys: [JobFileKey<JobSettings>] = ownKeys + commonOutputKeys + [outputsKey]

  private static let ownKeys: [JobFileKey<JobSettings>] = [
    JobFileKey(names: ["sources"]) { value, name, reader, job in
      job.sources = reader.sources(value, name)
    },
    JobFileKey(names: ["files0-from"]) { value, name, reader, job in
      if let list = reader.list(value, name) { job.sources.append(.list(list)) }
    },
    JobFileKey("include", \.filter.includes) { value, name, reader in reader.globs(value, name) },
    JobFileKey("exclude", \.filter.excludes) { value, name, reader in reader.globs(value, name) },
    .flag("hidden", \.filter.takesHidden),
    .flag("follow", \.followsLinks),
    .text("shard", \.shardChoice) { text, key throws(TextError) in try ShardChoice(parsing: text, for: key) },
    JobFileKey("max", \.max) { value, name, reader in reader.number(value, name, maxRange) },
    JobFileKey("backlog", \.backlog) { value, name, reader in reader.number(value, name, backlogRange) },
    .text("memory", \.memory) { text, key throws(TextError) in try MemorySize(parsing: text, for: key) },
    .word("on-pressure", \.onPressure),
    .word("pressure-source", \.pressureSource),
    .flag("force", \.force),
    .word("verify", \.verify),
    .flag("durable", \.durable),
    JobFileKey("prune", \.prune) { $2.pruneMode($0, $1) },
    .word("fail-on", \.failOn),
    .word("isolate", \.isolate),
    .text("limit-pixels", \.limitPixels) { text, key throws(TextError) in try PixelCount.parse(text, for: key) },
    .text("timeout", \.timeout) { text, key throws(TextError) in try DurationText.parse(text, for: key) },
    .flag("retry-failed", \.retryFailed),
    JobFileKey("retries", \.retries) { value, name, reader in reader.number(value, name, retriesRange) },
    JobFileKey("per-host", \.network.perHost) { value, name, reader in
      reader.number(value, name, NetworkSettings.perHostRange)
    },
    .flag("allow-private", \.network.allowsPrivate),
    .word("fetch", \.network.extent),
    .text("limit-bytes", \.network.largest) { text, key throws(TextError) in
      try NetworkSettings.parseLargest(text, for: key)
    },
    .flag("dry-run", \.dryRun),
    .text("halt", \.halt) { text, key throws(TextError) in try HaltLimit(parsing: text, for: key) },
    .path("manifest", \.joins.manifest),
    .path("contact-sheet", \.joins.contactSheet),
    .text("sheet-grid", \.joins.sheetGrid) { text, key throws(TextError) in try SheetGrid(parsing: text, for: key) },
    .path("html", \.joins.gallery),
    .text("for", \.runFor) { text, key throws(TextError) in try DurationText.parse(text, for: key) },
  ]

  /// At the top level, the keys of an output set the first output. Each entry of `outputs` starts from a copy of it.
  private static let commonOutputKeys: [JobFileKey<JobSettings>] = OutputSettings.jobFileKeys.map {
    $0.within(\.outputs[0])
  }

  private static let outputsKey = JobFileKey<JobSettings>(names: ["outputs"]) { value, _, reader, job in
    if let outputs = reader.outputs(value, from: job.outputs[0]) { job.outputs = outputs }
  }
}

extension OutputSettings {
  static let jobFileKeys: [JobFileKey<OutputSettings>] = [
    JobFileKey("out", \.folder) { value, name, reader in reader.output(value, name) },
    .text("name", \.name) { text, key throws(TextError) in try NamePattern(parsing: text, for: key) },
    // A preset comes before the keys that override it.
    JobFileKey(names: ["preset"]) { value, name, reader, output in
      (reader.word(value, name) as Preset?)?.apply(to: &output)
    },
    JobFileKey(names: ["size", "sizes"]) { value, name, reader, output in
      if let sizes = reader.sizes(value, name) { output.sizes = sizes }
    },
    JobFileKey("quality", \.quality) { value, name, reader in reader.number(value, name, JobSettings.qualityRange) },
    .flag("progressive", \.progressive),
    .word("subsample", \.subsample),
    JobFileKey("keep", \.keep) { value, name, reader in reader.keptMetadata(value, name) },
    .flag("linear", \.linear),
    .word("previews", \.previews),
    .text("background", \.background) { text, key throws(TextError) in try RGBColor(parsing: text, for: key) },
  ]
}
