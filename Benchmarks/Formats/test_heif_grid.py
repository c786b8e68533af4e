import unittest

from heif_grid import Tile, box, boxes, extent, grid, read_tile

HVCC = box(b"hvcC", b"configuration")
ISPE = box(b"ispe", bytes(4) + (64).to_bytes(4) * 2)
TILES = [Tile(b"heic", b"hvc1", (HVCC, ISPE), bytes([number]) * (10 + number)) for number in range(6)]


class GridTests(unittest.TestCase):
    def test_the_description_is_the_primary_item(self) -> None:
        tile = read_tile(grid(TILES, 3, (180, 120)))
        self.assertEqual((tile.kind, tile.brand), (b"grid", b"heic"))
        self.assertEqual(tile.data, bytes([0, 0, 1, 2]) + (180).to_bytes(2) + (120).to_bytes(2))
        self.assertEqual(tile.properties, (box(b"ispe", bytes(4) + (180).to_bytes(4) + (120).to_bytes(4)),))

    def test_each_tile_is_found_where_the_file_says(self) -> None:
        file = grid(TILES, 3, (180, 120))
        places = dict(boxes(dict(boxes(file))[b"meta"][4:]))[b"iloc"]
        for number, tile in enumerate(TILES, 2):
            start, length = extent(places, number)
            self.assertEqual(file[start:start + length], tile.data)

    def test_equal_properties_are_written_once(self) -> None:
        file = grid(TILES, 3, (180, 120))
        self.assertEqual((file.count(HVCC), file.count(ISPE)), (1, 1))

    def test_rows_that_are_not_full_make_no_grid(self) -> None:
        with self.assertRaises(ValueError):
            grid(TILES, 4, (180, 120))


if __name__ == "__main__":
    unittest.main()
