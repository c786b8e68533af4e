// The keys of a job and of its outputs. Their order is the order in which values are applied.

extension JobSettings {
  static let jobFileKeys: [JobFileKey<JobSettings>] =
    [sourcesKey] + ownSettings.map { JobFileKey($0) } + commonOutputKeys + [outputsKey]

  private static let sourcesKey = JobFileKey<JobSettings>(names: ["sources"]) { value, name, reader, job in
    job.sources = reader.sources(value, name)
  }

  /// At the top level, the keys of an output set the first output. Each entry of `outputs` starts from a copy of it.
  private static let commonOutputKeys: [JobFileKey<JobSettings>] = OutputSettings.jobFileKeys.map {
    $0.within(\.outputs[0])
  }

  private static let outputsKey = JobFileKey<JobSettings>(names: ["outputs"]) { value, _, reader, job in
    if let outputs = reader.outputs(value, from: job.outputs[0]) { job.outputs = outputs }
  }
}

extension OutputSettings {
  static let jobFileKeys: [JobFileKey<OutputSettings>] = settings.map { JobFileKey($0) }
}
