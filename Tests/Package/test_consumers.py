"""Whoever depends on a library resolves no other package, and sees no warning."""

import os
import unittest

import consumers


class ConsumerTests(unittest.TestCase):
    def test_a_library_brings_no_other_package_and_no_warning(self):
        results = list(consumers.build_all(consumers.PRODUCTS, swift=os.environ.get("SWIFT", "swift")))
        self.assertEqual(
            [result.product for result in results], ["AccessRecording", "BoundedQueue", "MemoryPressure", "Thumbnails"]
        )
        for result in results:
            with self.subTest(result.product):
                self.assertEqual(result.packages, ["thumbjob"])
                self.assertEqual(result.warnings, [])


if __name__ == "__main__":
    unittest.main()
