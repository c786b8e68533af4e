import Foundation
import TestSupport
import Testing

@testable import StatusEndpoint

@Suite(.timeLimit(.minutes(5))) struct MetricsTests {
  private func metrics() async throws -> String {
    let served = try await ServedRun.open()
    for seconds in [0.002, 0.3, 120] { served.times.working.record(.seconds(seconds)) }
    let answer = try await served.ask("GET", "/metrics")
    #expect(answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
    return answer.text
  }

  @Test func theMetricsMatchTheRun() async throws {
    let lines = Set(try await metrics().split(separator: "\n"))
    for line in [
      "thumbjob_build_info{version=\"1.2.3\"} 1", "thumbjob_operations{state=\"running\"} 1",
      "thumbjob_operations{state=\"waiting\"} 0", "thumbjob_operations{state=\"waiting_for_dependencies\"} 1",
      "thumbjob_operations_cancelled_for_dependencies_total 2",
      "thumbjob_sources_total{outcome=\"made\"} 1", "thumbjob_sources_total{outcome=\"failed\"} 1",
      "# HELP thumbjob_sources_mended_total Sources that were \"mended\".", "thumbjob_sources_mended_total 7",
      "thumbjob_fetch_operations{state=\"running\"} 2", "thumbjob_fetch_operations{state=\"waiting\"} 3",
      "thumbjob_fetches_total{outcome=\"fetched\"} 5", "thumbjob_fetches_total{outcome=\"unchanged\"} 6",
      "thumbjob_fetches_total{outcome=\"failed\"} 7", "thumbjob_fetched_bytes_total 80000",
      "thumbjob_memory_reserved_bytes 1048576", "thumbjob_memory_budget_bytes 1073741824",
      "thumbjob_memory_resident_bytes 3145728", "thumbjob_pressure_level 1",
      "thumbjob_pressure_events_total{level=\"critical\"} 1", "thumbjob_state{state=\"running\"} 1",
      "thumbjob_operation_work_seconds_bucket{le=\"0.005\"} 1", "thumbjob_operation_work_seconds_bucket{le=\"60.0\"} 2",
      "thumbjob_operation_work_seconds_bucket{le=\"+Inf\"} 3", "thumbjob_operation_work_seconds_count 3",
    ] { #expect(lines.contains(line[...]), "\(line)") }
  }

  @Test func everyFamilyHasItsHelpAndTypeOnceAndBeforeItsSamples() async throws {
    var known: Set<Substring> = []
    for line in try await metrics().split(separator: "\n") {
      let words = line.split(separator: " ", maxSplits: 3)
      if line.hasPrefix("# TYPE") { #expect(known.insert(words[2]).inserted, "\(line)") }
      guard !line.hasPrefix("#") else { continue }
      let name = line.prefix { $0 != "{" && $0 != " " }
      let family = known.contains(name) ? name : name[..<(name.lastIndex(of: "_") ?? name.endIndex)]
      #expect(known.contains(family), "\(line)")
      #expect(Double(words.last ?? "") != nil, "\(line)")
    }
    #expect(known.count > 20)
  }
}
