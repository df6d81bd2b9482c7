package recovery

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commitlab.dev/operator/api/v1alpha1"
)

func ledgerContainer() corev1.Container {
	t := &v1alpha1.RecoveryTest{ObjectMeta: metav1.ObjectMeta{Name: "t", Namespace: "n"}}
	t.Spec.Workload.Writers, t.Spec.Workload.Accounts, t.Status.Run = 2, 8, "rt_1"
	c := &v1alpha1.CommitCluster{ObjectMeta: metav1.ObjectMeta{Name: "demo", Namespace: "n"}}
	c.Spec.Replicas = 2
	return BuildLedger(t, c, "ledger").Spec.Containers[0]
}

func TestNoPasswordStandsInTheLedgersArguments(t *testing.T) {
	for _, arg := range ledgerContainer().Args {
		if strings.Contains(arg, "PASSWORD") {
			t.Errorf("%s: every process listing would show it, and the ledger refuses it", arg)
		}
	}
}

// The real program takes the pod's arguments and environment: it starts to look for its master, which is not there.
func TestTheLedgerTakesItsArguments(t *testing.T) {
	program := os.Getenv("LEDGER")
	if program == "" {
		t.Skip("LEDGER= names no ledger; `make test` builds one")
	}
	container := ledgerContainer()
	values := map[string]string{"DB_USER": "app", "DB_PASSWORD": "secret", "DB_NAME": "app"}
	expand := func(text string) string {
		for name, value := range values {
			text = strings.ReplaceAll(text, "$("+name+")", value)
		}
		return text
	}
	var args []string
	for _, arg := range container.Args {
		switch {
		case strings.HasPrefix(arg, "--file="):
			arg = "--file=" + filepath.Join(t.TempDir(), "journal")
		case strings.HasPrefix(arg, "--http="):
			arg = "--http=127.0.0.1:0"
		}
		args = append(args, expand(arg))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	command := exec.CommandContext(ctx, program, args...)
	for _, v := range container.Env {
		if v.Name == "LEDGER_DSN" {
			// An address on this machine at which nobody listens.
			dsn := expand(v.Value)
			at, end := strings.Index(dsn, "tcp("), strings.Index(dsn, ")/")
			command.Env = append(os.Environ(), "LEDGER_DSN="+dsn[:at]+"tcp(127.0.0.1:1"+dsn[end:])
		}
	}
	if out, err := command.CombinedOutput(); ctx.Err() == nil {
		t.Errorf("it ended by itself (%v):\n%s", err, out)
	}
}
