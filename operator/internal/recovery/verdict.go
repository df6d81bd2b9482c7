package recovery

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/recovery/ledger"
)

// maxMessage bounds what the status says; the history has all of it.
const maxMessage = 2000

// maxReason bounds why a fault is unsupported: it goes to the ledger in the address of a request.
const maxReason = 500

// takeVerdict copies the ledger's verdict. It does not count when the ledger does not know of a fault.
func (d *decision) takeVerdict() {
	v := d.view.Verdict
	d.status.Acknowledged, d.status.Lost, d.status.Duplicated, d.status.Indeterminate = &v.Acknowledged, &v.Lost, &v.Duplicated, &v.Indeterminate
	d.status.History = historyName(d.view.Test)
	d.takeServers(v.Servers)
	d.takeEpochs(v.Masters)
	d.takeLost(v.LostCommits)
	d.status.MaxRTO = nil
	for i := range d.status.Faults {
		known := ledger.Find(v.Faults, d.status.Faults[i].Name)
		if known == nil {
			d.giveUp("the ledger's journal does not know of the fault %s", d.status.Faults[i].Name)
			return
		}
		if known.AckedAfter && known.Injected() {
			d.rememberRTO(*known, &d.status.Faults[i])
		}
	}
	d.finish(verdictOf(v.Result), shorten(strings.Join(v.Reasons, "; "), maxMessage))
}

// verdictOf takes no word that it does not know for a good one.
func verdictOf(result string) v1alpha1.Verdict {
	switch verdict := v1alpha1.Verdict(result); verdict {
	case v1alpha1.VerdictPassed, v1alpha1.VerdictFailed, v1alpha1.VerdictUnsupported:
		return verdict
	}
	return v1alpha1.VerdictInconclusive
}

func shorten(text string, longest int) string {
	if len(text) > longest {
		return strings.ToValidUTF8(text[:longest], "") + " …"
	}
	return text
}

func (d *decision) takeServers(images []ledger.ServerImage) {
	equal := len(images) > 0
	d.status.Servers = nil
	for _, s := range images {
		message := strings.Trim(s.Error+" "+s.GTIDs, " ")
		d.status.Servers = append(d.status.Servers, v1alpha1.ServerVerdict{Name: s.Name, Rows: s.Rows, Equal: s.Equal, Message: shorten(message, maxMessage)})
		equal = equal && s.Equal && s.GTIDs == ""
	}
	d.status.ReplicasEqual = &equal
}

func (d *decision) takeEpochs(tenures []ledger.Tenure) {
	d.status.Epochs = nil
	for _, t := range tenures {
		d.status.Epochs = append(d.status.Epochs, v1alpha1.EpochStatus{ServerUUID: t.ID, Epoch: t.Epoch, FirstOK: micro(t.FirstOK), LastOK: micro(t.LastOK)})
	}
}

func (d *decision) takeLost(commits []ledger.LostCommit) {
	d.status.LostCommits = nil
	for _, l := range commits {
		d.status.LostCommits = append(d.status.LostCommits, v1alpha1.LostCommitStatus{
			ID: l.ID, AcknowledgedAt: micro(l.AcknowledgedAt), ServerUUID: l.AcknowledgedBy.ID, Epoch: l.AcknowledgedBy.Epoch, StillOn: l.StillOn})
	}
}

func micro(t time.Time) metav1.MicroTime { return metav1.NewMicroTime(t.Truncate(time.Microsecond)) }

// DescribeLost says everything that is known of a lost commit.
func DescribeLost(l v1alpha1.LostCommitStatus) string {
	still := "on no server"
	if len(l.StillOn) > 0 {
		still = "still on " + strings.Join(l.StillOn, ", ")
	}
	return fmt.Sprintf("id %d, acknowledged at %s by %s in epoch %d, %s",
		l.ID, l.AcknowledgedAt.UTC().Format(time.RFC3339Nano), l.ServerUUID, l.Epoch, still)
}
