# SPDX-License-Identifier: BSL-1.0
"""The tables and the chart that bench/report.py makes of rows of bench_kernels and peers.py."""

import pathlib
import sys
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import chart
import report


def row(**other):
    return {"kernel": "layer_norm", "type": "float", "variant": "", "rows": 128, "columns": 768, "compiler": "g++ 12.2",
            "target": "AVX3", "peer": "memcpy", "peer_version": "", "ratio": 0.6, "spread": 0.01, "nanoseconds": 0.1,
            "peer_nanoseconds": 0.06, **other}


CONTEXT = {"processor": "one", "cores": 2, "caches": ["L1 48K"], "compiler": "g++ 12.2", "flags": "-O2",
           "flags of plain loops and Eigen": "-O3", "highway": "1.0.3", "target": "AVX3", "repetitions": 30, "time": "of a thread"}


def run(*rows):
    return {"context": CONTEXT, "rows": list(rows)}


class Merged(unittest.TestCase):
    def test_the_same_comparison_gives_its_median_and_its_largest_spread(self):
        found = report.merged([run(row(ratio=0.5, spread=0.03)), run(row(ratio=0.9)), run(row(ratio=0.6))])
        self.assertEqual(len(found["rows"]), 1)
        self.assertEqual((found["rows"][0]["ratio"], found["rows"][0]["spread"]), (0.6, 0.03))
        self.assertEqual(found["rows"][0]["runs"], 3)

    def test_another_version_of_a_peer_is_another_comparison(self):
        found = report.merged([run(row(peer="oneDNN", peer_version="2.6.3"), row(peer="oneDNN", peer_version="3.2.0"))])
        self.assertEqual(len(found["rows"]), 2)

    def test_what_was_merged_is_merged_again_as_it_is(self):
        once = report.merged([run(row(), row(peer="Eigen"))])
        self.assertEqual(report.merged([once])["contexts"], [CONTEXT])
        self.assertEqual([one["ratio"] for one in report.merged([once])["rows"]], [0.6, 0.6])

    def test_runs_that_differ_in_what_calls_cost_are_alike_and_their_median_counts(self):
        runs = [{"context": dict(CONTEXT, **{report.CALLS: {"torch": cost}}), "rows": []} for cost in (1.0, 5.0, 2.0)]
        self.assertEqual(report.merged([run(), *runs])["contexts"], [dict(CONTEXT, **{report.CALLS: {"torch": 2.0}})])


class Bars(unittest.TestCase):
    def test_a_bar_belongs_to_a_peer_and_the_major_version_it_names(self):
        self.assertEqual(report.bar(row(peer="oneDNN", peer_version="2.6.3")), 2.1)
        self.assertEqual(report.bar(row(peer="oneDNN", peer_version="3.13.1")), 1.6)
        self.assertEqual(report.bar(row(peer="torch.compile", peer_version="2.15.0")), 3.4)

    def test_none_for_other_peers_shapes_and_variants(self):
        for other in (row(peer="torch.compile, its call"), row(rows=7), row(variant="mean 1e5"), row(type="float16"),
                      row(rows=1), row(peer="Eigen", peer_version="3.4.0")):
            self.assertIsNone(report.bar(other))

    def test_a_bar_that_asks_for_less_than_reading_and_writing_takes_asks_for_a_share_of_it(self):
        memcpy = lambda ratio, limit: report.limited([row(ratio=ratio), row(peer="reading and writing", ratio=limit)])[0]
        self.assertEqual(report.bar(memcpy(0.6, 1.0)), 0.52)
        self.assertEqual(report.bar(memcpy(0.4, 0.8)), round(0.85 * 0.4 / 0.8, 2))
        self.assertEqual(report.bar(report.limited([row(), row(rows=7, peer="reading and writing")])[0]), 0.52)

    def test_what_misses_its_bar_is_bold(self):
        self.assertEqual(report.cell(row(ratio=0.51)), "**0.51** (0.52)")
        self.assertEqual(report.cell(row(ratio=0.52)), "0.52 (0.52)")


class Page(unittest.TestCase):
    def test_a_line_for_each_peer_and_a_column_for_each_shape(self):
        text = report.page(report.merged([run(row(), row(columns=1024, rows=512, ratio=0.7),
                                              row(peer="Eigen", peer_version="3.4.0", ratio=12.3))]))
        self.assertIn("| `layer_norm`, float | 128x768 | 512x1024 |\n", text)
        self.assertIn("| memcpy | 0.60 (0.52) | **0.70** (0.8) |\n", text)
        self.assertIn("| Eigen 3.4.0 | 12 |  |\n", text)
        self.assertIn("1 of 2 bars are met", text)

    def test_only_what_stands_between_the_markers_is_replaced(self):
        text = "before\n<!-- kernels: made -->\nold\n<!-- kernels end -->\nafter\n"
        found = report.replaced(text, "new\n")
        self.assertEqual(found, "before\n<!-- kernels: made -->\n\nnew\n<!-- kernels end -->\nafter\n")
        self.assertEqual(report.replaced(found, "new\n"), found)
        with self.assertRaises(ValueError):
            report.replaced("no markers", "new\n")


class Chart(unittest.TestCase):
    def titles(self, *rows):
        svg = xml.etree.ElementTree.fromstring(chart.drawn(list(rows)))
        return [one.text for one in svg.iter("{http://www.w3.org/2000/svg}title")]

    def test_a_bar_for_each_peer_of_the_newest_version(self):
        self.assertEqual(self.titles(row(), row(peer="oneDNN", peer_version="3.13.0", ratio=1.5),
                                     row(peer="oneDNN", peer_version="3.2.0", ratio=1.7)), ["memcpy 0.60", "oneDNN 1.50"])

    def test_other_kernels_types_and_variants_are_left_out(self):
        self.assertEqual(self.titles(row(kernel="rms_norm"), row(type="float16"), row(variant="ping-pong")), [])

    def test_slower_ones_stand_above_the_line_of_fuse(self):
        self.assertLess(chart.height_of(2), chart.height_of(1))
        self.assertEqual(chart.height_of(1000), chart.TOP)


if __name__ == "__main__":
    unittest.main()
