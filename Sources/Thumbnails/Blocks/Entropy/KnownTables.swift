/// The step tables of the last sequential scan, and the value tables of the last one that needed them. Many encoders write
/// the example codes of ITU-T T.81, K.3, into every file, so the next scan often needs the same tables.
///
/// The entries take at most 128 KiB: for each of four components, two step tables and a value table.
///
/// *Concurrency*: for one thread at a time, as the workspace that owns it.
final class KnownTables {
  var steps: StepTables?
  var values: ValueTables?
}
