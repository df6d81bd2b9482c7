package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"commitlab.dev/demo/stage"
)

func TestCasesAreChosenByNameInTheirOwnOrder(t *testing.T) {
	all, err := choose("")
	if err != nil || len(all) != len(cases) {
		t.Errorf("without names: %d cases, %v", len(all), err)
	}
	some, err := choose("switchover,create")
	if err != nil || len(some) != 2 || some[0].name != "create" || some[1].name != "switchover" {
		t.Errorf("%+v, %v", some, err)
	}
	if _, err := choose("create,nonsense"); err == nil || !strings.Contains(err.Error(), `"nonsense"`) {
		t.Errorf("an unknown name: %v", err)
	}
}

func TestEachCaseHasANameOfItsOwnAndIsDocumented(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, c := range cases {
		if seen[c.name] {
			t.Errorf("two cases are called %s", c.name)
		}
		seen[c.name] = true
		if c.shows == "" || c.act == nil || !strings.Contains(string(readme), "| `"+c.name+"` |") {
			t.Errorf("%s shows nothing, does nothing or is not in README.md", c.name)
		}
		if _, err := choose(c.name); err != nil {
			t.Error(err)
		}
	}
}

func TestTheLedgerReadsTheServersThatThereAreInTheEnd(t *testing.T) {
	manifest, err := os.ReadFile(filepath.Join("..", "..", "chaos", "ledger.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	made, err := ledgerManifest(manifest, []string{"demo-0", "demo-1"}, "registry.example/ledger:1")
	text := string(made)
	if err != nil || strings.Count(text, "--server=") != 2 || strings.Contains(text, "demo-2") || strings.Contains(strings.ToLower(text), "nodeport: ") {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, want := range []string{"--server=demo-1=tcp(demo-1.demo:3306)/$(DB_NAME)\n", "image: registry.example/ledger:1\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if _, err := ledgerManifest([]byte("kind: Service"), nil, ""); err == nil {
		t.Error("another manifest was taken")
	}
}

func TestAWayIsReadOffWhatKubectlSays(t *testing.T) {
	if address, ok := forwardedFrom("Forwarding from 127.0.0.1:43567 -> 8099\n"); !ok || address != "127.0.0.1:43567" {
		t.Errorf("%q %v", address, ok)
	}
	if _, ok := forwardedFrom("error: no pod\n"); ok {
		t.Error("an error was taken for an address")
	}
}

func passed(name string, faults ...stage.Fault) result {
	return result{Case: name, Verdict: stage.Verdict{Result: "Passed", Acknowledged: 4321, Faults: faults}}.passed()
}

func TestOnlyARunWithoutAFailureIsGood(t *testing.T) {
	for name, c := range map[string]struct {
		results []result
		asked   int
		good    bool
	}{
		"all passed":        {[]result{passed("create"), passed("scale")}, 2, true},
		"one was skipped":   {[]result{passed("create"), result{}.skipped("Chaos Mesh is not there")}, 2, true},
		"one failed":        {[]result{passed("create"), result{}.failed("2 lost")}, 2, false},
		"it was broken off": {[]result{passed("create")}, 2, false},
		"none was played":   {[]result{result{}.skipped("Chaos Mesh is not there")}, 1, false},
		"one says nothing":  {[]result{passed("create"), {}}, 2, false},
	} {
		if r := (report{Cases: c.results}); r.good(c.asked) != c.good {
			t.Errorf("%s: good is %v", name, !c.good)
		}
	}
}

func TestTheTableHasTheLongestRTOOfEachPlay(t *testing.T) {
	r := report{Cases: []result{
		passed("partition", stage.Fault{RTOSeconds: 0.25, RecoveredBy: "unnoticed"}, stage.Fault{RTOSeconds: 7.25, RecoveredBy: "failover"},
			stage.Fault{RTOSeconds: 99, LedgerAway: true, RecoveredBy: "restart"}),
		passed("create"),
		passed("partition", stage.Fault{RTOSeconds: 6.25, RecoveredBy: "restart"}),
		result{Case: "volume", Verdict: stage.Verdict{Lost: 2}}.failed("verdict Failed; 2 acknowledged commits are lost"),
	}}
	var out bytes.Buffer
	r.print(&out)
	for _, want := range []string{"partition        2/2       6.75   7.25  failover,restart           8642     0", "create           1/1          -      -  ",
		"volume           0/1          -      -                                0     2",
		"volume: failed: verdict Failed; 2 acknowledged commits are lost"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

func TestAnUnknownKindOfClusterIsRefused(t *testing.T) {
	p := place{kind: "minikube"}
	if _, err := p.bringUp(t.Context()); err == nil || !strings.Contains(err.Error(), `"minikube"`) {
		t.Error(err)
	}
}

func TestAReportIsKeptAsJSON(t *testing.T) {
	r := report{Commit: "0123456789ab", At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Cluster: "local",
		Cases: []result{passed("partition", stage.Fault{Name: "partition", RTOSeconds: 7.1, RecoveredBy: "failover"})}}
	file, err := r.keep(t.TempDir())
	if err != nil || filepath.Base(file) != "20260102-030405.json" {
		t.Fatalf("%s, %v", file, err)
	}
	text, err := os.ReadFile(file)
	var read report
	if err != nil || json.Unmarshal(text, &read) != nil || read.Commit != r.Commit || read.Cases[0].Verdict.Faults[0].RTOSeconds != 7.1 {
		t.Errorf("%v\n%s", err, text)
	}
}
