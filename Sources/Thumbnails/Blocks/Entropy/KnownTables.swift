/// The lookup tables of the last sequential scan. Encoders that do not optimise them write the same Huffman codes into
/// every file (ITU-T T.81, K.3), so the next scan often needs the same tables.
///
/// They take at most 128 KiB: for each of four components, two step tables and a value table.
///
/// *Concurrency*: for one thread at a time, as the workspace that owns it.
final class KnownTables {
  var steps: StepTables?
  var values: ValueTables?
}
