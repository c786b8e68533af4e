import Testing

@testable import Thumbnails

/// A profile is a stranger's data handed to a library that nobody can stop at work.
@Suite(.timeLimit(.minutes(1))) struct HostileProfileTests {
  private static func outcome(
    _ profile: [UInt8], _ kind: ProfileKind = .rgb, limit: Int = ProfileContext.usualLimit
  ) -> (isUsed: Bool, peak: Int) {
    let context = ProfileContext(limit: limit)
    let reader = ProfileReader(context: context)
    let conversion = profile.withUnsafeBufferPointer { reader.conversion(for: $0, kind: kind) }
    if case .unusable = conversion { return (false, context.peak) }
    return (true, context.peak)
  }

  @Test func aUsualProfileIsUsed() {
    for (profile, kind) in [(TestProfile.wide(), ProfileKind.rgb), (TestProfile.inks(), .cmyk)] {
      let (isUsed, peak) = Self.outcome(profile, kind)
      #expect(isUsed && peak < 2 << 20)
    }
    let extra = TestProfile.adding([("text", 0, 40)], [UInt8](repeating: 0, count: 40), to: TestProfile.wide())
    #expect(Self.outcome(extra).isUsed)
  }

  @Test(arguments: ["D2B0", "D2B1", "D2B2", "D2B3", "B2D0", "B2D1", "B2D2", "B2D3"])
  func listsOfElementsAreNotEvenRead(_ tag: String) {
    let list = TestProfile.elements(20_000)
    let (isUsed, peak) = Self.outcome(TestProfile.adding([(tag, 0, list.count)], list, to: TestProfile.wide()))
    #expect(!isUsed)
    #expect(peak < 1 << 20)
  }

  @Test func tagsThatOverlapAreNotRead() {
    let data = [UInt8](repeating: 0, count: 90_000)
    let overlapping = (0..<3).map { ("A2B\($0)", 0, data.count - $0) }
    #expect(!Self.outcome(TestProfile.adding(overlapping, data, to: TestProfile.wide())).isUsed)
    // Several tags may well have the very same data.
    let shared = ["tst1", "tst2", "tst3"].map { ($0, 0, data.count) }
    #expect(Self.outcome(TestProfile.adding(shared, data, to: TestProfile.wide())).isUsed)
  }

  @Test(arguments: ["link", "nmcl", "abst"]) func whatDescribesNoDeviceIsNotRead(_ deviceClass: String) {
    var profile = TestProfile.wide()
    profile.replaceSubrange(12..<16, with: deviceClass.utf8)
    #expect(!Self.outcome(profile).isUsed)
  }

  @Test func aTableLargerThanItsProfileIsRefusedAtTheLimit() {
    var table = Array("mft2".utf8) + [0, 0, 0, 0, 3, 3, 255, 0] + [UInt8](repeating: 0, count: 36) + [0, 2, 0, 2]
    table += [0, 0, 255, 255, 0, 0, 255, 255, 0, 0, 255, 255, 0, 0, 0, 0, 0, 0]
    let profile = TestProfile.adding([("A2B0", 0, table.count)], table, to: TestProfile.wide())
    #expect(!Self.outcome(profile).isUsed)
    #expect(Self.outcome(profile).peak < ProfileContext.usualLimit)
  }

  /// Wherever memory runs out, the profile is not used, and all is given back.
  @Test func everyLimitOnMemoryIsTaken() {
    for (profile, kind) in [
      (TestProfile.wide(), ProfileKind.rgb), (TestProfile.inks(), .cmyk), (TestProfile.grey(gamma: 1), .grey),
    ] {
      let needed = Self.outcome(profile, kind).peak
      var used = 0
      let limits = stride(from: 20_000, to: needed, by: needed / 80)
      for limit in limits {
        let (isUsed, peak) = Self.outcome(profile, kind, limit: limit)
        #expect(peak <= limit)
        if isUsed { used += 1 }
      }
      #expect(used < Array(limits).count, "the limit refuses nothing")
      let context = ProfileContext()
      let idle = context.held
      do {
        let reader = ProfileReader(context: context)
        _ = profile.withUnsafeBufferPointer { reader.conversion(for: $0, kind: kind) }
        reader.trim()
      }
      #expect(context.held == idle)
    }
  }
}
