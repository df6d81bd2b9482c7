package stage

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestAFailedStepSaysWhereToLook(t *testing.T) {
	var out bytes.Buffer
	err := NewProgress(&out).Do(context.Background(), Step{
		Title: "operator", Limit: time.Minute,
		Run:  func(context.Context) (string, error) { return "", errors.New("no image") },
		Look: []string{"kubectl describe pods"},
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
	err := NewProgress(&out).Together(t.Context(), []Step{
		{Title: "one", Limit: time.Minute, Run: meet(one, other)}, {Title: "other", Limit: time.Minute, Run: meet(other, one)},
	})
	if err != nil || strings.Count(out.String(), "ok") != 2 {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestAFailureEndsTheOthersAndIsTheOneThatIsTold(t *testing.T) {
	var out bytes.Buffer
	err := NewProgress(&out).Together(t.Context(), []Step{
		{Title: "waits", Limit: time.Minute, Look: []string{"its pods"}, Run: func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}},
		{Title: "fails", Limit: time.Minute, Run: func(context.Context) (string, error) { return "", errors.New("no image") }},
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
	err := Poll(ctx, func() (bool, error) { return false, errors.New("1 of 2 replicas are attached") })
	if err == nil || !strings.Contains(err.Error(), "1 of 2 replicas are attached") {
		t.Errorf("error is %v", err)
	}
}

func TestATryThatTheEndCutsShortDoesNotHideWhatWasMissing(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	tries := 0
	err := Poll(ctx, func() (bool, error) {
		if tries++; tries == 2 {
			cancel()
			return false, errors.New("signal: killed")
		}
		return false, errors.New("the master is gone")
	})
	if err == nil || !strings.Contains(err.Error(), "the master is gone") {
		t.Errorf("error is %v", err)
	}
}
