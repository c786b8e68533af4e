/// The metrics of a run in Prometheus's text format, version 0.0.4, in base units. Written here, because no maintained
/// library formats values that are read at the request.
struct MetricsText {
  private var text = ""

  /// - Parameters:
  ///   - counters: those that the run declares.
  ///   - families: further metrics of the run.
  static func text(
    _ status: RunStatus, _ counters: [RunCounter], _ families: [MetricFamily], _ times: RunTimes
  ) -> String {
    var metrics = MetricsText()
    metrics.add(status)
    metrics.add(counters, status.counters)
    for family in families { metrics.add(family) }
    if let fetches = status.fetches { metrics.add(fetches) }
    metrics.add(status.memory, status.pressure)
    metrics.add(times)
    return metrics.text
  }

  // MARK: Metrics

  private mutating func add(_ status: RunStatus) {
    let counters = status.counters
    family("thumbjob_build_info", "gauge", "The version of thumbjob that runs.", [("version", status.version, 1)])
    sample("thumbjob_start_time_seconds", "gauge", "When the run began, in seconds since 1970.", status.startedAt)
    family(
      "thumbjob_state", "gauge", "1 for the current state of the run, 0 for the others.",
      RunState.allCases.map { ("state", $0.rawValue, $0 == status.state ? 1 : 0) })
    family(
      "thumbjob_operations", "gauge", "Operations that have not ended, by state.",
      [
        ("state", "waiting", counters.waiting - counters.waitingForDependencies),
        ("state", "waiting_for_dependencies", counters.waitingForDependencies),
        ("state", "running", counters.running - counters.waitingForMemory),
        ("state", "waiting_for_memory", counters.waitingForMemory),
      ])
    sample("thumbjob_operations_max", "gauge", "Operations that may run at once.", status.limits.max)
    sample("thumbjob_operations_backlog", "gauge", "Operations that may wait at once.", status.limits.backlog)
    sample(
      "thumbjob_operations_cancelled_for_dependencies_total", "counter",
      "Operations cancelled because one that they depend on did not succeed.", counters.cancelledForDependencies)
  }

  private mutating func add(_ counters: [RunCounter], _ values: RunCounters) {
    var outcomes: [(label: String, value: String, count: Int)] = []
    for counter in counters {
      switch counter.metric {
      case .outcome: outcomes.append(("outcome", counter.key, values[counter.key]))
      case .total(let name): sample("thumbjob_\(name)_total", "counter", counter.meaning, values[counter.key])
      case nil: break
      }
    }
    if !outcomes.isEmpty {
      family("thumbjob_sources_total", "counter", "Sources that have ended, by outcome.", outcomes)
    }
  }

  private mutating func add(_ family: MetricFamily) {
    head(family.name, family.kind.rawValue, family.help)
    for sample in family.samples {
      let labels = sample.labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
      text += "\(family.name)\(labels.isEmpty ? "" : "{\(labels)}") \(sample.value)\n"
    }
  }

  private mutating func add(_ fetches: FetchStatus) {
    family(
      "thumbjob_fetch_operations", "gauge", "Fetches from the network that have not ended, by state.",
      [("state", "waiting", fetches.waiting), ("state", "running", fetches.running)])
    family(
      "thumbjob_fetches_total", "counter", "Fetches from the network that have ended, by outcome.",
      [
        ("outcome", "fetched", fetches.fetched), ("outcome", "unchanged", fetches.unchanged),
        ("outcome", "failed", fetches.failed),
      ])
    sample(
      "thumbjob_fetched_bytes_total", "counter", "Bytes that have arrived of sources that could be fetched.",
      fetches.bytes)
  }

  private mutating func add(_ memory: MemoryStatus, _ pressure: PressureStatus) {
    sample("thumbjob_memory_reserved_bytes", "gauge", "Memory reserved by operations.", memory.reservedBytes)
    sample("thumbjob_memory_budget_bytes", "gauge", "Memory that operations may reserve.", memory.budgetBytes)
    sample("thumbjob_memory_resident_bytes", "gauge", "Memory held by the process.", memory.residentBytes)
    sample("thumbjob_memory_limit_bytes", "gauge", "Memory that the process may hold.", memory.limitBytes)
    let level = PressureStatus.Level.allCases.firstIndex(of: pressure.level) ?? 0
    sample("thumbjob_pressure_level", "gauge", "How tight memory is: 0 normal, 1 warning, 2 critical.", level)
    family(
      "thumbjob_pressure_events_total", "counter", "How often memory became tight, by level.",
      [("level", "warning", pressure.warnings), ("level", "critical", pressure.criticals)])
  }

  private mutating func add(_ times: RunTimes) {
    histogram(
      "thumbjob_operation_place_wait_seconds", "How long operations waited for a place.", times.waitingForPlace.counts)
    histogram(
      "thumbjob_operation_memory_wait_seconds", "How long running operations waited for memory.",
      times.waitingForMemory.counts)
    histogram("thumbjob_operation_work_seconds", "How long operations ran.", times.working.counts)
  }

  // MARK: Format

  private mutating func head(_ name: String, _ type: String, _ help: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
  }

  private mutating func sample(_ name: String, _ type: String, _ help: String, _ value: some Numeric) {
    head(name, type, help)
    text += "\(name) \(value)\n"
  }

  private mutating func family(
    _ name: String, _ type: String, _ help: String, _ samples: [(label: String, value: String, count: Int)]
  ) {
    head(name, type, help)
    for sample in samples {
      text += "\(name){\(sample.label)=\"\(Self.escaped(sample.value))\"} \(sample.count)\n"
    }
  }

  private mutating func histogram(_ name: String, _ help: String, _ counts: DurationHistogram.Counts) {
    head(name, "histogram", help)
    var total = 0
    for (bound, count) in zip(DurationHistogram.bounds, counts.buckets) {
      total += count
      text += "\(name)_bucket{le=\"\(bound)\"} \(total)\n"
    }
    total += counts.buckets[DurationHistogram.bounds.count]
    text += "\(name)_bucket{le=\"+Inf\"} \(total)\n\(name)_sum \(counts.sum)\n\(name)_count \(total)\n"
  }

  private static func escaped(_ value: String) -> String {
    value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }
}
