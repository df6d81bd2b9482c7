package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"commitlab.dev/demo/stage"
)

func TestOnlyACompletePassIsGood(t *testing.T) {
	pass := outcome{
		killed: "demo-0", newMaster: "demo-1", epochBefore: 2, epochAfter: 3,
		verdict: stage.Verdict{Result: "Passed", Acknowledged: 10, Faults: []stage.Fault{{Name: "kill-master"}}},
	}
	if !pass.good() {
		t.Error("a pass is not good")
	}
	for name, spoil := range map[string]func(*outcome){
		"lost commits":        func(o *outcome) { o.verdict.Lost = 1 },
		"duplicated commits":  func(o *outcome) { o.verdict.Duplicated = 1 },
		"inconclusive":        func(o *outcome) { o.verdict.Result = "Inconclusive" },
		"no verdict":          func(o *outcome) { o.verdict = stage.Verdict{} },
		"no fault on record":  func(o *outcome) { o.verdict.Faults = nil },
		"the same mastership": func(o *outcome) { o.epochAfter = o.epochBefore },
		"no master any more":  func(o *outcome) { o.newMaster = "" },
	} {
		spoiled := pass
		spoil(&spoiled)
		if spoiled.good() {
			t.Errorf("%s: good", name)
		}
	}
}

func TestTheSummaryShowsTheFigures(t *testing.T) {
	var out bytes.Buffer
	outcome{
		killed: "demo-0", newMaster: "demo-2",
		verdict: stage.Verdict{
			Result: "Failed", Reasons: []string{"2 acknowledged commits are lost"},
			Acknowledged: 1234, Lost: 2, Indeterminate: 7,
			Faults:  []stage.Fault{{Name: "kill-master", RTOSeconds: 4.25, RecoveredBy: "failover"}},
			Servers: []stage.Server{{Name: "demo-1", Equal: true}, {Name: "demo-2", Error: "3 rows missing"}},
		},
	}.print(&out, tools{Tools: stage.Tools{Root: "/src", Kubeconfig: "/src/build/kubeconfig"}, address: "192.168.77.2", ports: ports{30190, 30199}})
	for _, want := range []string{
		"demo-0", "demo-2", "1234", "4.2 s", "failover", "Failed: 2 acknowledged commits are lost",
		"1 of 2; demo-2 is not: 3 rows missing", "KUBECONFIG=/src/build/kubeconfig", "http://192.168.77.2:30190", "curl http://192.168.77.2:30199/verdict",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, out.String())
		}
	}
}

func TestAMetricThatIsNotThereIsNotZero(t *testing.T) {
	result := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[%s]}}`, result)
	}))
	defer server.Close()
	prometheus, ctx := prometheusClient{url: server.URL}, context.Background()
	if value, err := prometheus.value(ctx, "commitd_epoch"); err == nil {
		t.Errorf("no result gives %v", value)
	}
	result = `{"metric":{},"value":[1700000000.1,"2.5"]}`
	if value, err := prometheus.value(ctx, "commitd_epoch"); value != 2.5 || err != nil {
		t.Errorf("%v, %v", value, err)
	}
	if path, err := prometheus.commitPath(ctx, "demo-1"); err != nil || path != (commitPath{2.5, 2.5, 2.5}) {
		t.Errorf("%+v, %v", path, err)
	}
}

func TestTheLedgersManifestTakesTheChosenPort(t *testing.T) {
	manifest, err := os.ReadFile(filepath.Join("..", "ledger.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	changed, err := withNodePort(manifest, 30150)
	if err != nil || !strings.Contains(string(changed), "nodePort: 30150}") || strings.Contains(string(changed), "nodePort: 30099") {
		t.Errorf("%v\n%s", err, changed)
	}
	if _, err := withNodePort([]byte("kind: Service"), 30150); err == nil {
		t.Error("a manifest without a NodePort was taken")
	}
}

func TestAPortThatIsTakenIsExplained(t *testing.T) {
	taken := errors.New(`The Service "ledger" is invalid: spec.ports[0].nodePort: Invalid value: 30099: provided port is already allocated`)
	if err := explainPort(taken, "LEDGER_PORT"); !strings.Contains(err.Error(), "make demo LEDGER_PORT=") {
		t.Error(err)
	}
	other := errors.New("no API server")
	if err := explainPort(other, "LEDGER_PORT"); err != other {
		t.Error(err)
	}
	if err := explainPort(nil, "LEDGER_PORT"); err != nil {
		t.Error(err)
	}
}
