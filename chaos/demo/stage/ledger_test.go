package stage

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

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
	ledger, ctx := Ledger{URL: server.URL}, context.Background()

	if v, err := ledger.Verdict(ctx); v != nil || err != nil {
		t.Errorf("while it verifies: %+v, %v", v, err)
	}
	verdictCode, verdictBody = http.StatusConflict, `{"verdict":"Failed","lost":3}`
	if v, err := ledger.Verdict(ctx); err != nil || v == nil || v.Result != "Failed" || v.Lost != 3 {
		t.Errorf("a failure: %+v, %v", v, err)
	}
	if err := ledger.Mark(ctx, Mark{Name: "kill-master"}); err == nil || !strings.Contains(err.Error(), "the load has ended") {
		t.Errorf("a refused mark: %v", err)
	}
}
