package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestOnlyACompletePassIsGood(t *testing.T) {
	pass := outcome{
		killed: "demo-0", newMaster: "demo-1", epochBefore: 2, epochAfter: 3,
		verdict: verdict{Result: "Passed", Acknowledged: 10, Faults: []fault{{Name: "kill-master"}}},
	}
	if !pass.good() {
		t.Error("a pass is not good")
	}
	for name, spoil := range map[string]func(*outcome){
		"lost commits":        func(o *outcome) { o.verdict.Lost = 1 },
		"duplicated commits":  func(o *outcome) { o.verdict.Duplicated = 1 },
		"inconclusive":        func(o *outcome) { o.verdict.Result = "Inconclusive" },
		"no verdict":          func(o *outcome) { o.verdict = verdict{} },
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
		verdict: verdict{
			Result: "Failed", Reasons: []string{"2 acknowledged commits are lost"},
			Acknowledged: 1234, Lost: 2, Indeterminate: 7,
			Faults:  []fault{{Name: "kill-master", RTOSeconds: 4.25, RecoveredBy: "failover"}},
			Servers: []server{{Name: "demo-1", Equal: true}, {Name: "demo-2", Error: "3 rows missing"}},
		},
	}.print(&out, tools{root: "/src", kubeconfig: "/src/build/kubeconfig", address: "192.168.77.2", ports: ports{30190, 30199}})
	for _, want := range []string{
		"demo-0", "demo-2", "1234", "4.2 s", "failover", "Failed: 2 acknowledged commits are lost",
		"1 of 2; demo-2 is not: 3 rows missing", "KUBECONFIG=/src/build/kubeconfig", "http://192.168.77.2:30190", "curl http://192.168.77.2:30199/verdict",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, out.String())
		}
	}
}

func TestAFailedStepSaysWhereToLook(t *testing.T) {
	var out bytes.Buffer
	err := newProgress(&out).run(context.Background(), step{
		title: "operator", limit: time.Minute,
		run:  func(context.Context) (string, error) { return "", errors.New("no image") },
		look: []string{"kubectl describe pods"},
	})
	if err == nil || !strings.Contains(err.Error(), "operator: no image") {
		t.Errorf("error is %v", err)
	}
	if !strings.Contains(out.String(), "look at: kubectl describe pods") {
		t.Errorf("output is %q", out.String())
	}
}

func TestStepsThatNeedNothingOfEachOtherRunTogether(t *testing.T) {
	var out bytes.Buffer
	one, other := make(chan struct{}), make(chan struct{})
	meet := func(own, others chan struct{}) func(context.Context) (string, error) {
		return func(ctx context.Context) (string, error) {
			close(own)
			select {
			case <-others:
				return "met", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
	}
	err := newProgress(&out).together(t.Context(), []step{
		{title: "one", limit: time.Minute, run: meet(one, other)}, {title: "other", limit: time.Minute, run: meet(other, one)},
	})
	if err != nil || strings.Count(out.String(), "ok") != 2 {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestAFailureEndsTheOthersAndIsTheOneThatIsTold(t *testing.T) {
	var out bytes.Buffer
	err := newProgress(&out).together(t.Context(), []step{
		{title: "waits", limit: time.Minute, look: []string{"its pods"}, run: func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}},
		{title: "fails", limit: time.Minute, run: func(context.Context) (string, error) { return "", errors.New("no image") }},
	})
	if err == nil || err.Error() != "fails: no image" {
		t.Errorf("error is %v", err)
	}
	if strings.Count(out.String(), "FAILED") != 1 || strings.Contains(out.String(), "its pods") {
		t.Errorf("output is %q", out.String())
	}
}

func TestPollingThatGivesUpSaysWhatWasMissing(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	err := poll(ctx, func() (bool, error) { return false, errors.New("1 of 2 replicas are attached") })
	if err == nil || !strings.Contains(err.Error(), "1 of 2 replicas are attached") {
		t.Errorf("error is %v", err)
	}
}

func TestReadiness(t *testing.T) {
	const attached = `{"spec":{"replicas":2},"status":{"readyReplicas":%d,"conditions":[%s]}}`
	for name, c := range map[string]struct {
		object string
		ready  bool
	}{
		"complete":             {fmt.Sprintf(attached, 2, `{"type":"Ready","status":"True"}`), true},
		"a replica is missing": {fmt.Sprintf(attached, 1, `{"type":"Ready","status":"True"}`), false},
		"not Ready":            {fmt.Sprintf(attached, 2, `{"type":"Ready","status":"False","message":"no quorum"}`), false},
		"nothing reported yet": {fmt.Sprintf(attached, 2, ``), false},
	} {
		var cluster commitCluster
		if err := json.Unmarshal([]byte(c.object), &cluster); err != nil {
			t.Fatal(err)
		}
		if err := cluster.readiness(); (err == nil) != c.ready {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheLedgersAnswers(t *testing.T) {
	verdictCode, verdictBody := http.StatusServiceUnavailable, `{"verdict":"","phase":"verifying"}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/verdict":
			w.WriteHeader(verdictCode)
			fmt.Fprint(w, verdictBody)
		case r.URL.Path == "/fault" && r.Method == http.MethodPost && r.FormValue("name") != "kill-master":
			t.Errorf("fault is called %q", r.FormValue("name"))
		case r.URL.Path == "/fault":
			w.WriteHeader(http.StatusConflict)
			fmt.Fprint(w, `{"error":"the load has ended"}`)
		}
	}))
	defer server.Close()
	ledger, ctx := ledgerClient{url: server.URL}, context.Background()

	if v, err := ledger.verdict(ctx); v != nil || err != nil {
		t.Errorf("while it verifies: %+v, %v", v, err)
	}
	verdictCode, verdictBody = http.StatusConflict, `{"verdict":"Failed","lost":3}`
	if v, err := ledger.verdict(ctx); err != nil || v == nil || v.Result != "Failed" || v.Lost != 3 {
		t.Errorf("a failure: %+v, %v", v, err)
	}
	if err := ledger.markFault(ctx, "kill-master"); err == nil || !strings.Contains(err.Error(), "the load has ended") {
		t.Errorf("a refused mark: %v", err)
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
