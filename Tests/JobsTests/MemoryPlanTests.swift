import BoundedQueue
import Testing

@testable import JobSettings
@testable import MemoryPressure
@testable import PictureMaking

@Suite struct MemoryPlanTests {
  private static let mebibyte = 1 << 20

  private func budget(_ size: MemorySize?, limit: Int, held: Int = 20, byOthers: Int? = nil) -> MemoryBudget {
    let usage = MemoryUsage(resident: held << 20, group: byOthers.map { ($0 + held) << 20 })
    let plan = MemoryPlan(size, limit: MemoryLimit(bytes: limit << 20, origin: .machine), usage: usage)
    #expect(plan.baseline == held << 20)
    return plan.budget
  }

  @Test func theDefaultBudgetIsHalfOfTheFreeMemoryAndOneOperationAloneMayUseMore() {
    // 192 − 64 reserve − 20 held = 108 MiB, half of it is 54.
    let small = budget(nil, limit: 192)
    #expect(small.bytes == 54 << 20)
    #expect(small.largest == Int(192.0 * 0.85 * 0x1p20) - 20 << 20)
    // 2000 − 100 reserve (5 %) − 100 held = 1800 MiB, half of it is 900.
    #expect(budget(nil, limit: 2000, held: 100).bytes == 900 << 20)
    #expect(budget(nil, limit: 100_000).bytes == 1 << 30)
  }

  @Test func memoryThatOthersHoldUnderTheSameLimitIsNotFree() {
    #expect(budget(nil, limit: 512, byOthers: 200).bytes == (512 - 64 - 220) << 19)
  }

  @Test(arguments: [16, 64, 96, 100]) func theDefaultBudgetIsAtLeast8MiB(limit: Int) {
    let budget = budget(nil, limit: limit, held: 30)
    #expect(budget.bytes == 8 << 20)
    #expect(budget.largest == max(8 << 20, Int(Double(limit) * 0.85 * 0x1p20) - 30 << 20))
  }

  @Test func aBudgetInTheSettingsIsUsed() {
    #expect(budget(.bytes(64 << 20), limit: 192) == MemoryBudget(bytes: 64 << 20))
    #expect(budget(.percent(25), limit: 192) == MemoryBudget(bytes: 48 << 20))
    #expect(budget(.percent(0.001), limit: 192) == MemoryBudget(bytes: 1 << 20))
  }

  @Test func amountsOfMemoryAreNumbersWithUnits() throws {
    for (text, size) in [
      ("256M", MemorySize.bytes(256 << 20)), ("1g", .bytes(1 << 30)), ("1.5G", .bytes(3 << 29)),
      ("2048K", .bytes(2 << 20)),
      ("1048576", .bytes(1 << 20)), ("25%", .percent(25)), ("0.5%", .percent(0.5)), ("1024T", .bytes(1 << 50)),
    ] {
      #expect(try MemorySize(parsing: text, for: "--memory") == size)
    }
  }

  @Test(arguments: [
    "", "M", "%", "0", "12", "1023K", "0%", "101%", "-5M", "5 M", "1e9", "0x10M", "nan", "inf", "2000T", "1.2.3G", "٣M",
  ])
  func textsThatAreNotAmountsOfMemoryAreRejected(text: String) {
    #expect(
      throws: TextError(
        "--memory: “\(text)” is not an amount of memory; write 256M, 1G or 25% (at least 1M)")
    ) { try MemorySize(parsing: text, for: "--memory") }
  }
}
