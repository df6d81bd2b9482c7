"""The runner: what is judged and how, what the catalogue holds, what a report says, and real runs of cheap scenarios."""

import contextlib
import io
import json
import os
import pathlib
import re
import queue
import shutil
import random
import subprocess
import sys
import tempfile
import types
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "peers")]

import bench  # noqa: E402
import catalogue  # noqa: E402
import judge  # noqa: E402
import leaks  # noqa: E402
import recipes  # noqa: E402
import record  # noqa: E402
import replicas  # noqa: E402
import report  # noqa: E402
import scaling  # noqa: E402
import semisync_reader  # noqa: E402
import servers  # noqa: E402
import tables  # noqa: E402
import tour  # noqa: E402

SAMPLES = json.loads((HERE / "testdata" / "samples.json").read_text())
PROGRAM = pathlib.Path(servers.COMMITD)


class JudgeTest(unittest.TestCase):
    def test_two_runs_of_one_build_flag_nothing_in_ten_tries(self):
        self.assertEqual(len(SAMPLES["one_build"]), 10)
        for number, (first, second) in enumerate(SAMPLES["one_build"]):
            for figure, by in bench.BUILDS_DIFFER.items():
                self.assertFalse(judge.differ(first[figure], second[figure], by).flagged, f"try {number + 1}, {figure}")

    def test_two_builds_that_differ_are_flagged(self):
        """Here one with everything at its default and one with commitd_durability=xa: it syncs three times."""
        for first, second in SAMPLES["two_settings"]:
            self.assertTrue(judge.differ(first["syncs"], second["syncs"], bench.BUILDS_DIFFER["syncs"]).flagged)

    def test_one_legacy_switch_is_flagged_every_time(self):
        self.assertEqual(len(SAMPLES["legacy"]), 10)
        for fixed, legacy in SAMPLES["legacy"]:
            self.assertTrue(judge.is_more(fixed, legacy, catalogue.scenarios()["R5"].judged.by).flagged)

    def test_ranks_are_exact(self):
        self.assertAlmostEqual(judge.rank_test([1, 2, 3, 4], [5, 6, 7, 8]), 1 / 70)
        self.assertAlmostEqual(judge.rank_test([5, 6, 7, 8], [1, 2, 3, 4]), 1)
        self.assertAlmostEqual(judge.rank_test([1, 1], [1, 1]), 1)

    def test_noise_flags_as_seldom_as_it_says(self):
        chance = random.Random(1)
        draw = lambda: [chance.gauss(100, 10) for _ in range(4)]
        flagged = sum(judge.is_more(draw(), draw(), 1.0).flagged for _ in range(1000))
        self.assertLess(flagged, 1000 * judge.LEVEL)
        self.assertGreater(flagged, 0)

    def test_two_rounds_and_one_slow_round_prove_nothing_but_a_count_that_was_zero_does(self):
        self.assertFalse(judge.is_more([1, 1.1], [9, 9], 2).flagged)
        self.assertFalse(judge.is_more([1, 1.1, 1, 1, 9], [2, 2.1, 2, 2, 2.2], 1.5).flagged)
        self.assertFalse(judge.is_more([1, 1.1, 1.2, 1], [1.3, 1.4, 1.3, 1.4], 1.5).flagged)
        self.assertTrue(judge.is_more([0, 0, 0, 0], [1, 2, 1, 1], 2).flagged)
        self.assertFalse(judge.is_more([0, 0, 0, 0], [0, 0, 0, 0], 2).flagged)


class CatalogueTest(unittest.TestCase):
    def test_every_regression_is_there_with_its_switch(self):
        known = catalogue.scenarios()
        self.assertEqual([id for id in known if id.startswith("R")], [f"R{n}" for n in range(1, 17)])
        for id in (f"R{n}" for n in range(1, 17)):
            self.assertTrue(known[id].seed and known[id].switch and known[id].fixed and known[id].legacy, id)

    def test_what_is_judged_is_measured_and_a_load_exists(self):
        for scenario in catalogue.scenarios().values():
            if scenario.load:
                self.assertTrue(bench.load_of(scenario, False).unit, scenario.id)
                self.assertTrue(scenario.clients and scenario.readers, scenario.id)
            if scenario.judged:
                self.assertIn(scenario.judged.figure, {*scenario.figures, *record.ALWAYS}, scenario.id)
                self.assertIn(scenario.judged_value(), scenario.legacy)

    def test_the_recipes_of_the_seeds_are_verbatim(self):
        recipes = catalogue.document()["recipes"]
        self.assertEqual({recipe["seed"] for recipe in recipes.values()}, {"000", "001"})
        slap = recipes["000-readers"]["foreground"].split()
        self.assertIn("--number-of-queries=1000000", slap)
        self.assertIn("--stop-never", recipes["000-readers"]["background"])

    def test_all_scenarios_short_are_planned_for_less_than_a_quarter_of_an_hour(self):
        options = bench.arguments([])
        planned = bench.planned_seconds(options.known.values(), options)
        self.assertLessEqual(planned, 15 * 60)
        self.assertGreater(planned, len(options.known) * options.seconds)

    def test_a_figure_of_two_counts_is_their_ratio(self):
        figures = {"each": {"of": ["a"], "per": ["b"]}, "plain": ["a"]}
        self.assertEqual(dict(record.series_of(figures)), {("each", "of"): ["a"], ("each", "per"): ["b"], "plain": ["a"]})
        self.assertEqual(record.with_ratios({("each", "of"): 6.0, ("each", "per"): 2.0, "plain": 3.0}, figures), {"each": 3.0, "plain": 3.0})
        self.assertEqual(record.with_ratios({("each", "of"): 0.0, ("each", "per"): 0.0}, {"each": figures["each"]}), {"each": 0})

    def test_pairs_of_readers_are_run_as_they_are_and_the_first_two_in_a_short_run(self):
        scenario = catalogue.of("X", {"title": "t", "clients": [100], "readers_and_semisync": [[0, 0], [40, 0], [30, 3]]})
        self.assertEqual(scenario.cells(short=True), [(100, 0, 0), (100, 40, 0)])
        self.assertEqual(scenario.cells(short=False), [(100, 0, 0), (100, 40, 0), (100, 30, 3)])

    def test_variants_differ_by_the_switch_alone(self):
        scenario = catalogue.of("X", {"title": "t", "switch": "s", "fixed": "OFF", "legacy": ["ON"], "options": ["--a"]})
        self.assertEqual([v.options for v in scenario.variants()], [("--a", "--s=OFF"), ("--a", "--s=ON")])


def options_for(out, **more):
    return types.SimpleNamespace(out=out, disk="native", relaxed=False, build=None, rounds=4, seconds=1, full=False, tries=1, **more)


def rounds_of(rate, wakeups):
    blank = {figure: 1.0 for figure in record.ALWAYS}
    return [dict(blank, rate=rate + i, **{"wake-ups": wakeups + i / 100}) for i in range(4)]


class ReportTest(unittest.TestCase):
    def setUp(self):
        self.out = self.enterContext(tempfile.TemporaryDirectory())
        self.known = catalogue.scenarios()
        self.found = record.Results(self.out)
        self.found.describe_host([100.0, 110.0, 300.0], 0.1)
        for clients, fixed, legacy in ((1, 1000, 900), (16, 9000, 4000), (64, 12000, 3000), (100, 11000, 2500)):
            self.found.put(self.known["R5"], clients, (0, 0), options_for(self.out), "inserts",
                           {"targeted": rounds_of(fixed, 1), "broadcast": rounds_of(legacy, 3)}, {})
        self.found.put(self.known["peer-slap-write"], 16, (0, 0), options_for(self.out), "inserts", {"commitd": rounds_of(200, 0), "mariadb": rounds_of(100, 0)}, {})
        for readers, cpu in ((0, 30), (40, 70)):
            rounds = [dict(r, cpu_us=cpu) for r in rounds_of(200, 0)]
            self.found.put(self.known["peer-readers"], 100, (readers, 0), options_for(self.out), "inserts", {"commitd": rounds, "mariadb": rounds}, {})
        for clients, semisync, rate in ((100, 0, 200), (400, 0, 400), (100, 1, 150), (400, 1, 350)):
            rounds = [dict(r, cpu_us=30) for r in rounds_of(rate, 0)]
            self.found.put(self.known["peer-late-acknowledgement"], clients, (1, semisync), options_for(self.out), "inserts", {"commitd": rounds, "mariadb": rounds}, {})
        self.found.skip("R6", "the server has no variable x")

    def test_what_a_reader_costs_is_counted_from_the_run_without_any(self):
        table = tables.readers(self.found, self.known)
        self.assertIn("| 100 | 0 | 0 | commitd | 202 (200–203) | 1.00 | 30 |  |", table)
        self.assertIn("| 100 | 40 | 0 | mariadb | 202 (200–203) | 1.00 | 70 | 1.00 |", table)
        self.assertIn("| 100 | 1 | 1, 1 ms late | commitd | 152 (150–153) | 0.75 | 30 |  |", table)
        self.assertIn("| 400 | 1 | 1, 1 ms late | commitd | 352 (350–353) | 0.88 | 30 |  |", table)
        self.assertNotIn("40 readers", tables.peers(self.found, self.known))
        self.assertNotIn("| peer-readers", tables.regressions(self.found, self.known))

    def test_a_page_holds_everything_in_itself(self):
        self.assertEqual(report.main(["--out", self.out]), 0)
        page = pathlib.Path(self.out, "report.html").read_text()
        self.assertGreaterEqual(page.count("<svg"), 10)
        self.assertNotRegex(page, r'(src|href)="http')
        for text in ("the server has no variable x", "Model, not a measurement", "1623042", "p50 110 µs", "× 2.97"):
            self.assertIn(text, page)
        self.assertIn("<td><code>broadcast</code></td>", page)
        self.assertNotIn("`", re.sub(r"(?s)<(svg|style)\b.*?</\1>", "", page))

    def test_a_run_that_skipped_all_says_so(self):
        with tempfile.TemporaryDirectory() as out:
            self.assertEqual(report.main(["--out", out]), 1)
            found = record.Results(out)
            found.describe_host([100.0], 0.1)
            found.skip("R6", "the server has no variable x")
            self.assertEqual(report.main(["--out", out]), 0)
            self.assertIn("R6: the server has no variable x", pathlib.Path(out, "report.md").read_text())

    def test_the_summary_has_ratios_ranges_and_the_model(self):
        text = report.summary(self.found, self.known)
        self.assertIn("| R5 |  | 16 clients | `broadcast` | 4,002 (4,000–4,003) | 0.44 | wake-ups 3.01 | × 2.97, p 0.014 |", text)
        self.assertIn("| slap-write | 16 clients | commitd | 202 (200–203) | 1.99 |", text)
        self.assertIn("Model, not a measurement", text)

    def test_a_cell_that_is_measured_again_replaces_the_first_and_a_skipped_one_too(self):
        before = len(self.found.cells)
        self.found.put(self.known["R5"], 16, (0, 0), options_for(self.out), "inserts", {"targeted": rounds_of(1, 1), "broadcast": rounds_of(1, 1)}, {})
        again = record.Results(self.out)
        self.assertEqual(len(again.cells), before)
        self.assertFalse(again.cells[-1]["judgement"]["flagged"])
        self.assertEqual(again.skipped, {"R6": "the server has no variable x"})

    def test_tables_of_a_readme_are_filled_and_drift_is_seen(self):
        path = pathlib.Path(self.out, "README.md")
        path.write_text("before\n<!-- results: regressions -->\n<!-- end -->\nbehind\n")
        self.assertFalse(tables.fill(path, self.found, self.known, check=True))
        tables.fill(path, self.found, self.known, check=False)
        self.assertTrue(tables.fill(path, self.found, self.known, check=True))
        self.assertRegex(path.read_text(), r"(?s)^before\n.*\| R5 \|.*behind\n$")
        path.write_text(path.read_text().replace("4,002", "9,999"))
        self.assertFalse(tables.fill(path, self.found, self.known, check=True))

    def test_the_committed_tables_are_what_the_committed_results_say(self):
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(report.main(["--check"]), 0, said.getvalue())


class LawTest(unittest.TestCase):
    def test_a_law_is_found_again(self):
        true = scaling.Law(1000, 0.05, 0.002, 0)
        law = scaling.fit([(n, true.at(n)) for n in (1, 2, 4, 8, 16, 32)])
        self.assertAlmostEqual(law.contention, 0.05, 6)
        self.assertAlmostEqual(law.coherence, 0.002, 6)
        self.assertAlmostEqual(law.at(64) / true.at(64), 1, 5)
        self.assertLess(law.error, 1e-6)

    def test_noise_is_told_as_an_error_and_nothing_comes_out_negative(self):
        law = scaling.fit([(1, 1000), (2, 2300), (4, 4100), (8, 9500)])
        self.assertGreaterEqual(min(law.contention, law.coherence), 0)
        self.assertGreater(law.error, 0.01)

    def test_too_few_points_are_refused_or_have_no_error(self):
        with self.assertRaises(ValueError):
            scaling.fit([(1, 10), (2, 20), (2, 21)])
        self.assertEqual(scaling.fit([(1, 10), (2, 18), (4, 30)]).error, float("inf"))


class LeaksTest(unittest.TestCase):
    REPORT = """==7== 4,321 bytes in 1 blocks are definitely lost in loss record 2 of 2
==7==    at 0x4846828: malloc (in /usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so)
==7==    by 0x{0}
==7==    by 0x1234: main (unload_probe.cc:16)
==7==
==7== 9 bytes in 1 blocks are definitely lost in loss record 1 of 2
==7==    at 0x4846828: ???
"""

    def test_frames_of_the_one_leak_are_counted(self):
        self.assertEqual(leaks.frames_without_name(self.REPORT.format("4F5D11F: leak_in_plugin (leaky_plugin.c:9)")), 0)
        self.assertEqual(leaks.frames_without_name(self.REPORT.format("4F5D11F: ???")), 1)
        with self.assertRaises(ValueError):
            leaks.frames_without_name("==7== All heap blocks were freed")


class RecipesTest(unittest.TestCase):
    def test_only_the_host_and_the_number_of_queries_are_replaced(self):
        line = 'mysqlslap --query="insert into db1.t1 values(rand() * 1000)" --number-of-queries=10000000 --host=master_host --silent'
        self.assertEqual(recipes.command_line(line, full=True),
                         ["mysqlslap", "--query=insert into db1.t1 values(rand() * 1000)", "--number-of-queries=10000000", "--host=127.0.0.1", "--silent"])
        self.assertIn(f"--number-of-queries={recipes.SHORT_QUERIES}", recipes.command_line(line, full=False))


class CommandLineTest(unittest.TestCase):
    def test_an_unknown_scenario_and_a_single_build_are_refused(self):
        for arguments in (["R99"], ["R5", "--build", "a=/x"]):
            with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit):
                bench.arguments(arguments)


    def test_a_missing_switch_is_named(self):
        with tempfile.TemporaryDirectory() as out, contextlib.redirect_stdout(io.StringIO()) as said:
            made = bench.Bench(bench.arguments(["R6", "--out", out]))
            made.variables = {"another"}
            self.assertEqual(made.run(made.options.known["R6"]), [])
        self.assertIn("R6: skipped: the server has no variable commitd_gtid_persister", said.getvalue())
        self.assertEqual(set(made.results.skipped), {"R6"})


@unittest.skipUnless(PROGRAM.exists(), f"{PROGRAM} is not built")
class RealTest(unittest.TestCase):
    def bench(self, *arguments):
        with tempfile.TemporaryDirectory() as out:
            done = subprocess.run([str(HERE / "bench.py"), *arguments, "--seconds", "1", "--out", out], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            return done.stdout, json.loads(pathlib.Path(out, "results.json").read_text())

    def test_the_broadcast_is_flagged(self):
        _, found = self.bench("R5", "--rounds", "4")
        (cell,) = found["cells"]
        self.assertTrue(cell["judgement"]["flagged"], cell["judgement"])
        self.assertEqual(len(cell["rounds"]["broadcast"]), 4)
        self.assertEqual(len(found["host"]["fdatasync_us"]), 400)

    def test_commits_overtake_each_other_in_a_table_with_a_key(self):
        _, found = self.bench("R13", "--rounds", "4")
        self.assertTrue(found["cells"][0]["judgement"]["flagged"], found["cells"][0]["judgement"])

    @unittest.skipUnless(shutil.which("valgrind"), "there is no valgrind")
    def test_a_report_without_names_is_flagged(self):
        _, found = self.bench("R14", "--rounds", "3")
        self.assertTrue(found["cells"][0]["judgement"]["flagged"], found["cells"][0]["judgement"])

    def test_switches_of_closing_of_acknowledgements_and_of_replicas_are_flagged(self):
        _, found = self.bench("R8", "R15", "R16", "--rounds", "4")
        self.assertEqual([cell["key"]["scenario"] for cell in found["cells"]], ["R8", "R15", "R16"])
        for cell in found["cells"]:
            self.assertTrue(cell["judgement"]["flagged"], cell["judgement"])

    def test_switches_of_gtids_are_flagged(self):
        _, found = self.bench("R6", "R7", "--rounds", "4")
        self.assertEqual([cell["key"]["scenario"] for cell in found["cells"]], ["R6", "R7"])
        for cell in found["cells"]:
            self.assertTrue(cell["judgement"]["flagged"], cell["judgement"])

    def test_a_peer_is_loaded_in_turns_in_the_same_run(self):
        output, found = self.bench("peer-slap-write", "--rounds", "2")
        self.assertEqual(set(found["cells"][0]["figures"]), {"commitd", "mariadb"})
        self.assertIn("round 2 of 2: commitd ", output)


class SemisyncReaderTest(unittest.TestCase):
    def test_events_are_told_from_the_stream(self):
        header = semisync_reader.HEADER.pack(0, semisync_reader.ROTATE_EVENT, 1, 0, 1234, 0)
        asked, kind, end, body = next(semisync_reader.events([b"\0\xef\1" + header + b"rest"]))
        self.assertEqual((asked, kind, end, body), (True, semisync_reader.ROTATE_EVENT, 1234, b"rest"))
        with self.assertRaises(RuntimeError):
            next(semisync_reader.events([b"\xff\xd4\4#HY000error"]))

    def test_packets_are_cut_by_their_length_and_the_end_is_no_packet(self):
        stream = semisync_reader.packets(io.BytesIO(b"\2\0\0\5ab\1\0\0\6c"))
        self.assertEqual([next(stream), next(stream)], [b"ab", b"c"])
        with self.assertRaises(EOFError):
            next(stream)

    def test_late_acknowledgements_keep_their_order_and_do_not_add_up(self):
        waiting, sent, now = queue.SimpleQueue(), [], [10.0]
        for packet in ((9.0, b"a"), (9.5, b"b"), (9.75, b"c"), None):
            waiting.put(packet)
        clock = types.SimpleNamespace(monotonic=lambda: now[0], sleep=lambda seconds: now.__setitem__(0, now[0] + seconds))
        semisync_reader.send_late(lambda packet: sent.append((now[0], packet)), waiting, 2, clock)
        self.assertEqual(sent, [(11.0, b"a"), (11.5, b"b"), (11.75, b"c")])

    def test_an_acknowledgement_names_position_and_file(self):
        self.assertEqual(semisync_reader.acknowledgement(0x1234, b"f.1"), b"\x0c\0\0\0\xef\x34\x12" + 6 * b"\0" + b"f.1")


@unittest.skipUnless(PROGRAM.exists(), f"{PROGRAM} is not built")
class ReadersTest(unittest.TestCase):
    def semisync(self, make, names):
        """Three readers, two of which acknowledge: readers, how many acknowledge, commits that have waited and have not."""
        bench.sync_counters.build()
        with tempfile.TemporaryDirectory() as directory, make("s", [], True, bench.sync_counters.Disk("native"), directory) as server:
            load = bench.loads.load("slap-write")
            load.prepare(server)
            with bench.log_readers.reading(server, 3, semisync=2):
                load.slap(server, 4, 100)
                clients, waited = (float(server.sql(f"SHOW STATUS LIKE '{name}'")[0][1]) for name in names)
                return server.readers_of_the_log(), clients, waited, server.commits_without_acknowledgement()

    def test_commits_wait_for_the_readers_that_acknowledge(self):
        for make, names in ((servers.Commitd, ("Rpl_semi_sync_source_clients", "Rpl_semi_sync_source_yes_tx")),
                            (servers.MariaDb, ("Rpl_semi_sync_master_clients", "Rpl_semi_sync_master_yes_tx"))):
            with self.subTest(make.__name__):
                readers, clients, waited, without = self.semisync(make, names)
                self.assertEqual((readers, clients, without), (3, 2, 0))
                self.assertGreaterEqual(waited, 100)


@unittest.skipUnless(PROGRAM.exists(), f"{PROGRAM} is not built")
class ReplicasTest(unittest.TestCase):
    def test_the_load_is_the_sources_and_its_commits_wait_for_the_replica(self):
        bench.sync_counters.build()
        with tempfile.TemporaryDirectory() as directory, \
                replicas.pair(servers.Commitd, catalogue.Variant("v"), [], True, bench.sync_counters.Disk("native"), directory) as pair:
            load = bench.loads.load("slap-write")
            load.prepare(pair)
            load.slap(pair, 4, 100)
            found = pair.metrics()
            self.assertGreaterEqual(found["commitd_semisync_yes_tx_total"], 100)
            self.assertEqual(found["commitd_semisync_no_tx_total"], 0)
            self.assertGreaterEqual(found["replica:commitd_replica_received_transactions_total"], 100)


@unittest.skipUnless(PROGRAM.exists() and tour.PROMETHEUS.exists(), "commitd or Prometheus is not there")
class TourTest(unittest.TestCase):
    def test_a_switch_is_flipped_and_back_and_prometheus_has_seen_it(self):
        with tempfile.TemporaryDirectory() as out:
            done = subprocess.run([str(HERE / "tour.py"), "R5", "R6", "R11", "R12", "R14", "R16", "--seconds", "4", "--clients", "4", "--out", out], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            found = json.loads(pathlib.Path(out, "results.json").read_text())
            self.assertEqual([c["key"]["scenario"] for c in found["cells"]], ["R5", "R6", "R11", "R12", "R16"])
            self.assertGreater(found["cells"][0]["figures"]["broadcast"]["wake-ups"]["median"], found["cells"][0]["figures"]["targeted"]["wake-ups"]["median"])
            self.assertEqual(set(found["skipped"]), {"R14"})
            self.assertIn("R14: skipped: no load shows it: make bench SCENARIO=R14", done.stdout)
            targets = json.loads(pathlib.Path(out, "targets.json").read_text())
            self.assertEqual([target["labels"]["instance"] for target in targets], ["tour-0", "R6-replica", "tour-xa", "R16-replica"])
            self.assertTrue(any(pathlib.Path(out, "prometheus").iterdir()))
            self.assertTrue(pathlib.Path(out, "report.html").exists())


if __name__ == "__main__":
    unittest.main()
