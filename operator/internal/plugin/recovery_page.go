package plugin

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/recovery"
	"commitlab.dev/operator/internal/recovery/ledger"
)

//go:embed recovery_page.html
var recoveryPage string

// historyFile is what --json writes: the test as it ended, and the ledger's verdict as it was given.
type historyFile struct {
	Test    *v1alpha1.RecoveryTest `json:"test"`
	Verdict json.RawMessage        `json:"verdict"`
}

func (s *session) writeReport(t *v1alpha1.RecoveryTest, history *corev1.ConfigMap, page, data string) error {
	raw := history.Data[recovery.HistoryVerdict]
	if data != "" {
		text, err := json.MarshalIndent(historyFile{Test: t, Verdict: json.RawMessage(raw)}, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(data, append(text, '\n'), 0o644); err != nil {
			return err
		}
	}
	if page == "" {
		return nil
	}
	var verdict ledger.Verdict
	if err := json.Unmarshal([]byte(raw), &verdict); err != nil {
		return fmt.Errorf("the history of %s: %w", t.Name, err)
	}
	file, err := os.Create(page)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := WriteRecoveryPage(file, t, &verdict); err != nil {
		return err
	}
	return file.Close()
}

// The timeline's size, in pixels.
const (
	chartWidth  = 1000
	chartHeight = 160
)

type chartBar struct {
	X, Y, Width, Height float64
	Label               string
	// Odd bars have another colour than those beside them.
	Odd bool
}

type recoveryView struct {
	Test    *v1alpha1.RecoveryTest
	Verdict *ledger.Verdict
	Lost    []string
	Report  string
	Width   float64
	Height  float64
	Rate    []chartBar
	Epochs  []chartBar
	Faults  []chartBar
	Pauses  []chartBar
	Peak    int
	Begin   string
	End     string
}

// WriteRecoveryPage writes one page without anything from elsewhere: a timeline of acknowledgements, epochs and faults, and the verdict.
func WriteRecoveryPage(out io.Writer, t *v1alpha1.RecoveryTest, v *ledger.Verdict) error {
	page, err := template.New("page").Parse(recoveryPage)
	if err != nil {
		return err
	}
	var text strings.Builder
	if err := PrintRecoveryTest(&text, t); err != nil {
		return err
	}
	view := recoveryView{Test: t, Verdict: v, Report: text.String(), Width: chartWidth, Height: chartHeight}
	for _, l := range t.Status.LostCommits {
		view.Lost = append(view.Lost, recovery.DescribeLost(l))
	}
	view.draw(newAxis(v))
	return page.Execute(out, view)
}

// axis maps moments to pixels.
type axis struct {
	from    time.Time
	seconds float64
}

func newAxis(v *ledger.Verdict) axis {
	return axis{from: v.Rate.From, seconds: float64(max(1, len(v.Rate.Seconds)))}
}

func (a axis) x(at time.Time) float64 {
	return min(max(at.Sub(a.from).Seconds()/a.seconds, 0), 1) * chartWidth
}

// bar from one moment to another is at least a line.
func (a axis) bar(from, to time.Time, label string) chartBar {
	x := a.x(from)
	return chartBar{X: x, Width: max(a.x(to)-x, 1.5), Height: chartHeight, Label: label}
}

func (r *recoveryView) draw(a axis) {
	v := r.Verdict
	r.Begin, r.End = v.Rate.From.UTC().Format("15:04:05"), v.Rate.From.Add(time.Duration(a.seconds)*time.Second).UTC().Format("15:04:05 UTC")
	for _, n := range v.Rate.Seconds {
		r.Peak = max(r.Peak, n)
	}
	for second, n := range v.Rate.Seconds {
		height := chartHeight * float64(n) / float64(max(1, r.Peak))
		r.Rate = append(r.Rate, chartBar{X: chartWidth * float64(second) / a.seconds, Y: chartHeight - height, Width: max(chartWidth/a.seconds-0.5, 0.5), Height: height,
			Label: fmt.Sprintf("%s: %d acknowledged", v.Rate.From.Add(time.Duration(second)*time.Second).UTC().Format("15:04:05"), n)})
	}
	for i, m := range v.Masters {
		bar := a.bar(m.FirstOK, m.LastOK, fmt.Sprintf("epoch %d, %s", m.Epoch, m.ID))
		bar.Odd = i%2 == 1
		r.Epochs = append(r.Epochs, bar)
	}
	for _, p := range v.Pauses {
		r.Pauses = append(r.Pauses, a.bar(p.LastOK, p.FirstOK, fmt.Sprintf("nothing acknowledged for %.3f s", p.Seconds)))
	}
	for _, f := range v.Faults {
		if f.Injected() {
			r.Faults = append(r.Faults, a.bar(f.InjectedAt, f.InjectedAt, fmt.Sprintf("%s, RTO %.3f s, %s", f.Name, f.RTOSeconds, f.RecoveredBy)))
		}
	}
}
