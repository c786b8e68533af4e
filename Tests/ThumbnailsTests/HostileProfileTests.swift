import Testing

@testable import Thumbnails

/// Profiles come from untrusted files, and Little CMS, which reads them, cannot be interrupted.
@Suite(.timeLimit(.minutes(5))) struct HostileProfileTests {
  private static func outcome(
    _ profile: [UInt8], _ kind: ProfileKind = .rgb, limit: Int? = nil
  ) -> (isUsed: Bool, peak: Int) {
    let reader = ProfileReader { limit ?? ProfileContext.allowance(forProfileOf: $0) }
    let conversion = profile.withUnsafeBufferPointer { reader.conversion(for: $0, kind: kind) }
    if case .unusable = conversion { return (false, reader.peak) }
    return (true, reader.peak)
  }

  @Test func aUsualProfileIsUsed() {
    for (profile, kind) in [(TestProfile.wide(), ProfileKind.rgb), (TestProfile.inks(), .cmyk)] {
      let (isUsed, peak) = Self.outcome(profile, kind)
      #expect(isUsed)
      #expect(peak < ProfileContext.allowance(forProfileOf: profile.count) * 2 / 3)
    }
    let extra = TestProfile.adding([("text", 0, 40)], [UInt8](repeating: 0, count: 40), to: TestProfile.wide())
    #expect(Self.outcome(extra).isUsed)
  }

  @Test(arguments: ["D2B0", "D2B1", "D2B2", "D2B3", "B2D0", "B2D1", "B2D2", "B2D3"])
  func listsOfProcessingElementsAreRejectedUnread(_ tag: String) {
    let list = TestProfile.elements(20_000)
    let (isUsed, peak) = Self.outcome(TestProfile.adding([(tag, 0, list.count)], list, to: TestProfile.wide()))
    #expect(!isUsed)
    #expect(peak < 1 << 20)
  }

  @Test func overlappingTagsAreRejected() {
    let data = [UInt8](repeating: 0, count: 90_000)
    let overlapping = (1...3).map { ("tst\($0)", 0, data.count - $0) }
    #expect(!Self.outcome(TestProfile.adding(overlapping, data, to: TestProfile.wide())).isUsed)
    // Several tags may share the same data.
    let shared = ["tst1", "tst2", "tst3"].map { ($0, 0, data.count) }
    #expect(Self.outcome(TestProfile.adding(shared, data, to: TestProfile.wide())).isUsed)
  }

  @Test(arguments: ["link", "nmcl", "abst"]) func profilesOfNoDeviceAreRejected(_ deviceClass: String) {
    var profile = TestProfile.inks()
    profile.replaceSubrange(12..<16, with: deviceClass.utf8)
    #expect(!Self.outcome(profile, .cmyk).isUsed)
  }

  @Test func aTableLargerThanItsProfileIsRejectedAtTheLimit() {
    var table = Array("mft2".utf8) + [0, 0, 0, 0, 3, 3, 255, 0] + [UInt8](repeating: 0, count: 36) + [0, 2, 0, 2]
    table += [0, 0, 255, 255, 0, 0, 255, 255, 0, 0, 255, 255, 0, 0, 0, 0, 0, 0]
    let profile = TestProfile.adding([("A2B0", 0, table.count)], table, to: TestProfile.wide())
    #expect(!Self.outcome(profile).isUsed)
    #expect(Self.outcome(profile).peak < 3 << 19)
  }

  /// A profile is not used if memory runs out, at whatever point. The leak sanitizer would report memory that Little
  /// CMS then leaks.
  @Test func everyMemoryLimitIsObserved() {
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
      #expect(used < Array(limits).count, "every limit was enough for the profile")
    }
  }

  /// The cache stays small, however many profiles are read.
  @Test func theProfileCacheIsBounded() {
    let reader = ProfileReader()
    for round in 0..<20 {
      let filler = [UInt8](repeating: UInt8(round), count: 700_000)
      let profile = TestProfile.adding([("text", 0, filler.count)], filler, to: TestProfile.wide())
      _ = profile.withUnsafeBufferPointer { reader.conversion(for: $0, kind: .rgb) }
      #expect(reader.bytesRemembered <= ProfileReader.bytesKept)
    }
    #expect(reader.bytesRemembered > 700_000)
  }

  /// The same profile cannot be used for a picture of other colours.
  @Test func aProfileIsCachedForOneKindOfPicture() {
    let reader = ProfileReader()
    let profile = TestProfile.wide()
    for _ in 0..<2 {
      for (kind, isUsed) in [(ProfileKind.rgb, true), (.grey, false), (.cmyk, false)] {
        var isUnusable = false
        if case .unusable = profile.withUnsafeBufferPointer({ reader.conversion(for: $0, kind: kind) }) {
          isUnusable = true
        }
        #expect(isUnusable != isUsed)
      }
    }
  }
}
