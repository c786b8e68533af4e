import Thumbnails

let options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "320x240")])
do {
  try ThumbnailMaker().makeThumbnails(of: ByteReader(bytes: [0xFF, 0xD8]), options: options) { _ in }
} catch {
  print(error)
}
