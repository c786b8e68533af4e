import Files

/// The tree by which a reader finds a page: pages in nodes of up to 64, below one root, so that the last of ten thousand
/// pages is found as fast as the first.
///
/// *Source*: ISO 32000-1, 7.7.3.
struct PageTree {
  private static let nodeSize = 64

  /// The object number of the root.
  let root: Int
  private var nodes: [Int] = []
  /// The node that further pages belong to, with its pages; nil if the next page begins one.
  private var open: (node: Int, pages: [Int])?
  private(set) var pageCount = 0

  init(root: Int) { self.root = root }

  /// The node that the next page belongs to.
  mutating func parent(_ objects: inout ObjectWriter) -> Int {
    if let open { return open.node }
    let node = objects.reserveNumber()
    open = (node, [])
    return node
  }

  /// Adds a page after all others.
  mutating func add(_ page: Int, to objects: inout ObjectWriter) throws(Errno) {
    open?.pages.append(page)
    pageCount += 1
    if let open, open.pages.count == Self.nodeSize { try close(open, in: &objects) }
  }

  private mutating func close(_ last: (node: Int, pages: [Int]), in objects: inout ObjectWriter) throws(Errno) {
    let kids = last.pages.map { "\($0) 0 R" }.joined(separator: " ")
    try objects.write(
      last.node, "<< /Type /Pages /Parent \(root) 0 R /Count \(last.pages.count) /Kids [\(kids)] >>")
    nodes.append(last.node)
    open = nil
  }

  /// Writes the root.
  ///
  /// - Parameter attributes: the entries that all pages inherit.
  mutating func finish(_ objects: inout ObjectWriter, attributes: String) throws(Errno) {
    if let open { try close(open, in: &objects) }
    try objects.begin(root)
    try objects.append("<< /Type /Pages \(attributes) /Count \(pageCount) /Kids [")
    for node in nodes { try objects.append("\(node) 0 R ") }
    try objects.append("] >>\nendobj\n")
  }
}
