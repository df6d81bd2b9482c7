import unittest
import xml.etree.ElementTree as xml

from draw_terminal import draw

SVG = "{http://www.w3.org/2000/svg}"


def texts(picture):
    return ["".join(element.itertext()) for element in xml.fromstring(picture).iter(f"{SVG}text")]


def colours(picture):
    return {"".join(part.itertext()): part.get("fill") for part in xml.fromstring(picture).iter(f"{SVG}tspan")}


class DrawTerminalTest(unittest.TestCase):
    def test_every_line_is_there_as_it_was(self):
        lines = ["  1.0s  ok     a <b> & 'c'", "", "  verdict          Passed"]
        self.assertEqual(texts(draw("\n".join(lines), "make demo")), ["$ make demo", lines[0], lines[2]])

    def test_what_is_good_is_green_and_what_is_bad_is_red(self):
        good = colours(draw("  1.0s  ok     images\n  lost             0\n  verdict          Passed\n", "t"))
        bad = colours(draw("  1.0s  FAILED images\n  lost             2\n  verdict          Failed: 2 are lost\n", "t"))
        self.assertEqual(set(good), {"ok", "0", "Passed"})
        self.assertEqual(set(bad), {"FAILED", "2", "Failed: 2 are lost"})
        self.assertFalse(set(good.values()) & set(bad.values()))

    def test_the_longest_line_fits(self):
        narrow, wide = (float(xml.fromstring(draw(text, "t")).get("width")) for text in ("x" * 40, "x" * 80))
        self.assertAlmostEqual(wide - narrow, 40 * 14 * 0.602, delta=1)


if __name__ == "__main__":
    unittest.main()
