import Files
import Foundation
import TestSupport
import Testing

@testable import Ledger

@Suite(.timeLimit(.minutes(5))) struct EntryTableTests {
  private let place = TemporaryFolder()

  private func texts(_ table: EntryTable) throws -> [[UInt8]] {
    var all: [[UInt8]] = []
    try table.visit { all.append($0) }
    return all
  }

  @Test func textsComeInTheOrderOfTheirKeysAndTheLastOneCounts() throws {
    let table = try EntryTable(Path("\(place.path)/entries"))
    #expect(place.files(below: "").isEmpty, "nothing is left of it, not even if the process is killed")
    for number in (0..<1000).shuffled() {
      table.store([UInt8(number % 7)], at: [UInt8(number >> 8), UInt8(number & 255)])
    }
    table.store([99], at: [0, 3])
    #expect(try texts(table) == (0..<1000).map { [$0 == 3 ? 99 : UInt8($0 % 7)] })
    table.remove([0, 3])
    table.remove([9, 9])
    table.remove(beginningWith: [1])
    #expect(try texts(table).count == 1000 - 1 - 256)
  }

  @Test func oneThatCannotBeMadeSaysWhy() {
    #expect(throws: LedgerError.self) { try EntryTable(Path("\(place.path)/no folder/entries")) }
  }

  @Test func severalThreadsMayStoreWhileOneReads() throws {
    let table = try EntryTable(Path("\(place.path)/entries"))
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for number in 0..<200 { table.store([UInt8(thread)], at: [UInt8(thread), UInt8(number)]) }
      if thread == 0 { #expect(throws: Never.self) { try table.visit { _ in } } }
    }
    #expect(try texts(table).count == 1600)
  }
}
