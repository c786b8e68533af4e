/// A big-endian number of up to four bytes.
func bigEndian(_ bytes: some Sequence<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

/// A little-endian number of up to four bytes.
func littleEndian(_ bytes: some BidirectionalCollection<UInt8>) -> Int { bigEndian(bytes.reversed()) }
