import Foundation
import TestSupport
import Testing

extension CommandTests {
  @Suite struct Trace {
    /// The fields of an event of the Trace Event Format that these tests read.
    private struct Event: Decodable {
      let ph, name: String
      let pid, tid, ts: Int
      let cat: String?
      let id, dur: Int?
      let args: [String: Value]?
    }

    private enum Value: Decodable, Equatable {
      case number(Int)
      case text(String)

      init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int.self) {
          self = .number(number)
        } else {
          self = .text(try container.decode(String.self))
        }
      }
    }

    private func traced(_ arguments: String...) async throws -> (TemporaryFolder, BuiltCommand.Ending) {
      let folder = try TemporaryFolder.withPhotos(12)
      let ending = try await BuiltCommand.run(
        executable: BuiltCommand.path, ["images", "--max", "3", "--trace", "run.json", "--json"] + arguments, in: folder
      )
      return (folder, ending)
    }

    @Test func everyOperationIsASpanThatContainsItsStages() async throws {
      let (folder, ending) = try await traced()
      #expect(ending.status == 0)
      let events = try JSONDecoder().decode([Event].self, from: folder.bytes("run.json"))
      let phases = Set(events.map(\.ph))
      #expect(phases.isSuperset(of: ["M", "b", "e", "X"]) && phases.isSubset(of: ["M", "b", "e", "X", "C"]))
      #expect(events.allSatisfy { $0.ts >= 0 && $0.pid == events[0].pid && $0.tid > 0 })
      let operations = Dictionary(grouping: events.filter { $0.cat == "operation" }) { $0.id }
      #expect(operations.count == 12 && operations[nil] == nil)
      for spans in operations.values {
        var open: [String] = []
        #expect(spans.map(\.ts) == spans.map(\.ts).sorted())
        for span in spans where span.ph == "b" { open.append(span.name) }
        // The outermost span is the operation. Its stages follow one another within it, and every span has ended.
        #expect(open[0].hasPrefix("thumbnail images/") && Set(open).isSuperset(of: ["waiting", "decoding", "writing"]))
        #expect(spans.filter { $0.ph == "e" }.map(\.name).sorted() == open.sorted())
        let (first, last) = (spans.map(\.ts).min(), spans.map(\.ts).max())
        #expect(spans.first { $0.ph == "b" && $0.name == open[0] }?.ts == first)
        let end = spans.first { $0.ph == "e" && $0.name == open[0] }
        #expect(end?.ts == last && end?.args?["note"] == .text("succeeded"))
      }
    }

    @Test func countersAndThreadsAreRecorded() async throws {
      // The job lasts at least half a second, in which the counters are recorded five times.
      let folder = try TemporaryFolder.withHeldPlaces()
      let arguments = TemporaryFolder.heldArguments + ["--trace", "run.json", "--json"]
      _ = try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: folder) { run in
        var elapsed = 0.0
        while elapsed < 0.5 {
          let status = try await BuiltCommand.run("status", "--json", in: folder)
          elapsed = status.summary["elapsed_seconds"] as? Double ?? 0
        }
        run.send(SIGUSR2)
      }
      let events = try JSONDecoder().decode([Event].self, from: folder.bytes("run.json"))
      let counters = Dictionary(grouping: events.filter { $0.ph == "C" }, by: \.name)
      #expect(Set(counters.keys) == ["operations", "memory in MiB", "pressure"])
      #expect(counters["operations"]?.allSatisfy { Set($0.args?.keys ?? [:].keys) == ["running", "waiting"] } == true)
      let named = Set(events.filter { $0.ph == "M" && $0.name == "thread_name" }.map(\.tid))
      #expect(named == Set(events.map(\.tid)))
      #expect(events.filter { $0.ph == "X" }.allSatisfy { ($0.dur ?? -1) >= 0 })
    }

    @Test func theThreadReportShowsWhichMethodsRanOnSeveralThreads() async throws {
      let (folder, _) = try await traced()
      let report = try await BuiltCommand.run("report", "--threads", "run.json", in: folder)
      let rows = report.output.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 4) }
      func row(_ method: String) -> [Substring]? { rows.first { $0[0] == method } }
      #expect(report.status == 0 && rows[0][0] == "METHOD")
      #expect(
        row("Job.add")?.dropFirst().first == "12" && row("Job.add")?.last?.hasSuffix(" single-thread (main)") == true)
      #expect(row("ThumbnailOperation.makeAll")?.last?.hasSuffix(" multi-thread") == true)
    }

    @Test func aTraceDoesNotOverwriteAPhoto() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      let photo = try folder.bytes("images/0/photo 0.jpg")
      let ending = try await BuiltCommand.run("images", "--trace", "images/0/photo 0.jpg", in: folder)
      #expect(ending.status == 73 && ending.errors.contains("holds something else than a trace"))
      #expect(try folder.bytes("images/0/photo 0.jpg") == photo)
    }

    @Test func aFileThatIsNotATraceCannotBeReported() async throws {
      let folder = try TemporaryFolder.withPhotos(1)
      let photo = try await BuiltCommand.run("report", "--threads", "images/0/photo 0.jpg", in: folder)
      #expect(photo.status == 65 && photo.errors.contains("is not a trace of thumbjob's"))
      let none = try await BuiltCommand.run("report", "--threads", "none.json", in: folder)
      #expect(none.status == 66)
    }
  }
}
