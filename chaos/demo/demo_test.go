package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"commitlab.dev/demo/stage"
)

func test(t *testing.T, status string) (found recoveryTest) {
	t.Helper()
	if err := json.Unmarshal([]byte(`{"status": `+status+`}`), &found); err != nil {
		t.Fatal(err)
	}
	return found
}

func TestOnlyACompletePassIsGood(t *testing.T) {
	pass := outcome{
		killed: "demo-0", newMaster: "demo-1", epochBefore: 2, epochAfter: 3,
		test: test(t, `{"verdict": "Passed", "acknowledged": 10, "lost": 0, "duplicated": 0, "faults": [{"name": "kill-master"}]}`),
	}
	one := 1
	if !pass.good() {
		t.Error("a pass is not good")
	}
	for name, spoil := range map[string]func(*outcome){
		"lost commits":        func(o *outcome) { o.test.Status.Lost = &one },
		"duplicated commits":  func(o *outcome) { o.test.Status.Duplicated = &one },
		"inconclusive":        func(o *outcome) { o.test.Status.Verdict = "Inconclusive" },
		"no verdict":          func(o *outcome) { o.test = recoveryTest{} },
		"loss is not known":   func(o *outcome) { o.test.Status.Lost = nil },
		"no fault on record":  func(o *outcome) { o.test.Status.Faults = nil },
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
		page: "/src/build/demo-verdict.html",
		test: test(t, `{"verdict": "Failed", "message": "2 acknowledged commits are lost", "acknowledged": 1234, "lost": 2, "indeterminate": 7,
			"faults": [{"name": "kill-replica", "rto": "61ms", "recoveredBy": "unnoticed"}, {"name": "kill-master", "rto": "4.25s", "recoveredBy": "failover"}],
			"servers": [{"name": "demo-1", "equal": true}, {"name": "demo-2", "message": "3 rows missing"}]}`),
	}.print(&out, tools{Tools: stage.Tools{Root: "/src", Kubeconfig: "/src/build/kubeconfig"}, address: "192.168.77.2", ports: ports{30190}})
	for _, want := range []string{
		"demo-0", "demo-2", "1234", "4.2 s", "failover", "Failed: 2 acknowledged commits are lost",
		"1 of 2; demo-2 is not: 3 rows missing", "KUBECONFIG=/src/build/kubeconfig", "http://192.168.77.2:30190", "/src/build/demo-verdict.html", "0.1 s from the last commit before kill-replica", "duplicated       not known",
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

func TestAPortThatIsTakenIsExplained(t *testing.T) {
	taken := errors.New(`The Service "prometheus" is invalid: spec.ports[0].nodePort: Invalid value: 30090: provided port is already allocated`)
	if err := explainPort(taken, "PROMETHEUS_PORT"); !strings.Contains(err.Error(), "make demo PROMETHEUS_PORT=") {
		t.Error(err)
	}
	other := errors.New("no API server")
	if err := explainPort(other, "PROMETHEUS_PORT"); err != other {
		t.Error(err)
	}
	if err := explainPort(nil, "PROMETHEUS_PORT"); err != nil {
		t.Error(err)
	}
}
