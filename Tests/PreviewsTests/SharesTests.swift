import Foundation
import Testing

@testable import Previews

/// Whose requests come first.
@Suite struct SharesTests {
  @Test func aClientAloneHasNoPriority() { #expect(ClientShares.priority(own: 100, clients: 1, all: 100) == .normal) }

  @Test func theFirstRequestOfAClientComesBeforeThoseOfACrowd() {
    let shares = ClientShares()
    for _ in 1...50 { shares.enter("crowd") }
    shares.enter("new")
    #expect(shares.priority(of: "new") == .veryHigh)
    #expect(shares.priority(of: "crowd") == .normal)
    shares.enter("new")
    #expect(shares.priority(of: "new") == .high)
    for _ in 1...2 { shares.leave("new") }
    #expect(shares.priority(of: "crowd") == .normal)
  }
}
