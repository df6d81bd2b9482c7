package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"commitlab.dev/demo/stage"
)

// recoveryTest is the part of a RecoveryTest that is shown.
type recoveryTest struct {
	Status struct {
		Phase         string       `json:"phase"`
		Verdict       string       `json:"verdict"`
		Message       string       `json:"message"`
		Acknowledged  int          `json:"acknowledged"`
		Lost          *int         `json:"lost"`
		Duplicated    *int         `json:"duplicated"`
		Indeterminate int          `json:"indeterminate"`
		Faults        []testFault  `json:"faults"`
		Servers       []testServer `json:"servers"`
	} `json:"status"`
}

type testFault struct {
	Name        string `json:"name"`
	Phase       string `json:"phase"`
	InjectedAt  string `json:"injectedAt"`
	RTO         string `json:"rto"`
	RecoveredBy string `json:"recoveredBy"`
	Message     string `json:"message"`
	Objects     []struct {
		Name string `json:"name"`
	} `json:"objects"`
}

type testServer struct {
	Name    string `json:"name"`
	Equal   bool   `json:"equal"`
	Message string `json:"message"`
}

// object that the fault hits.
func (f testFault) object() string {
	var names []string
	for _, o := range f.Objects {
		names = append(names, o.Name)
	}
	return strings.Join(names, ", ")
}

// fault of that name; empty when there is none yet.
func (t recoveryTest) fault(name string) testFault {
	for _, f := range t.Status.Faults {
		if f.Name == name {
			return f
		}
	}
	return testFault{}
}

// passed says whether nothing acknowledged was lost, and everything was proved.
func (t recoveryTest) passed() bool {
	s := t.Status
	return s.Verdict == "Passed" && s.Lost != nil && *s.Lost == 0 && s.Duplicated != nil && *s.Duplicated == 0
}

func (d *demo) recoveryTest(ctx context.Context) (t recoveryTest, err error) {
	err = d.tools.Get(ctx, &t, "recoverytest", testName)
	return t, err
}

// awaitFault waits until a fault is so far. A test that has its verdict before comes no further.
func (d *demo) awaitFault(ctx context.Context, name string, soFar func(testFault) bool) (t recoveryTest, err error) {
	err = stage.Poll(ctx, func() (bool, error) {
		now, err := d.recoveryTest(ctx)
		if err != nil {
			return false, err
		}
		t = now
		f := t.fault(name)
		return soFar(f) || t.Status.Verdict != "", fmt.Errorf("%s: %s %s; %s: %s", t.Status.Phase, t.Status.Message, name, f.Phase, f.Message)
	})
	if err == nil && !soFar(t.fault(name)) {
		err = fmt.Errorf("%s: %s", t.Status.Verdict, t.Status.Message)
	}
	return t, err
}

// seconds of a duration of the API, as a person reads them.
func seconds(text string) string {
	d, err := time.ParseDuration(text)
	if err != nil {
		return text
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
