import Testing

@testable import Fetching
@testable import Sourcing

/// Whether a listing goes on, page by page.
@Suite struct ListingCourseTests {
  private let obstacle = FetchError.badReply("the listing does not go on")

  private func page(_ keys: [String], next: Int?, of folder: StoreLocation) throws -> ObjectPage {
    let contents = keys.map { "<Contents><Key>\($0)</Key></Contents>" }.joined()
    let token = next.map { "<IsTruncated>true</IsTruncated><NextContinuationToken>\($0)</NextContinuationToken>" }
    return try ObjectPage(Array("<ListBucketResult>\(token ?? "")\(contents)</ListBucketResult>".utf8), of: folder)
  }

  private func folder(_ bucket: String = "b") throws -> StoreLocation {
    try StoreLocation(parsing: "s3://\(bucket)/a/".utf8)
  }

  @Test func pagesInOrderAreTaken() throws {
    let folder = try folder()
    var course = ListingCourse()
    for (number, keys) in [["a/1", "a/2"], [], ["a/20"], ["a/3", "a/é"]].enumerated() {
      #expect(course.obstacle(in: try page(keys, next: number, of: folder)) == nil)
      #expect(course.next == "\(number)")
    }
    #expect(course.obstacle(in: try page([], next: nil, of: folder)) == nil)
    #expect(course.next == nil)
  }

  @Test func aTokenThatRepeatsIsAnObstacle() throws {
    let folder = try folder()
    var course = ListingCourse()
    #expect(course.obstacle(in: try page(["a/1"], next: 7, of: folder)) == nil)
    #expect(course.obstacle(in: try page(["a/2"], next: 7, of: folder)) == obstacle)
  }

  @Test func keysThatRepeatAreAnObstacleExceptWhereTheyHaveNoOrder() throws {
    for (bucket, isOrdered) in [("b", true), ("b--use1-az4--x-s3", false)] {
      let folder = try folder(bucket)
      var course = ListingCourse()
      #expect(course.obstacle(in: try page(["a/1", "a/2"], next: 1, of: folder)) == nil)
      #expect(course.obstacle(in: try page(["a/2"], next: 2, of: folder)) == (isOrdered ? obstacle : nil))
    }
  }

  @Test func pagesWithoutAnObjectEndSomeTime() throws {
    let folder = try folder()
    var course = ListingCourse()
    for number in 1...1000 { #expect(course.obstacle(in: try page([], next: number, of: folder)) == nil) }
    #expect(course.obstacle(in: try page([], next: 1001, of: folder)) == obstacle)
  }
}
