package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"commitlab.dev/operator/api/v1alpha1"
)

const recoveryPoll = 500 * time.Millisecond

func newRecoveryCommand(s *session) *cobra.Command {
	command := &cobra.Command{
		Use:   "recovery",
		Short: "Break a cluster under load, and see whether an acknowledged commit was lost",
	}
	command.AddCommand(newRecoveryRunCommand(s), newRecoveryWatchCommand(s), newRecoveryReportCommand(s))
	return command
}

// runOptions describe a test that is made from flags.
type runOptions struct {
	file             string
	kind, target     string
	times, writers   int32
	random           int32
	seed             int64
	rto              time.Duration
	allow, following bool
}

func newRecoveryRunCommand(s *session) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run [CLUSTER]",
		Short: "Create a RecoveryTest, from a file or from flags, and follow it to its verdict",
		Long:  "Create a RecoveryTest and follow it.\nExit code 0 when it passes; 1 otherwise.",
		Example: `  kubectl commitlab recovery run demo                      # kills the master's pod
  kubectl commitlab recovery run demo --target All
  kubectl commitlab recovery run demo --random 5 --seed 42
  kubectl commitlab recovery run -f chaos/recovery/partition-master.yaml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			t, err := s.newTest(ctx, args, o, cmd.Flags().Changed("seed"))
			if err != nil {
				return err
			}
			if o.allow {
				if err := s.allowChaos(ctx, t.Spec.Cluster.Name); err != nil {
					return err
				}
			}
			if err := s.kube.Create(ctx, t); err != nil {
				return err
			}
			fmt.Fprintf(s.out, "recoverytest.commitlab.dev/%s created\n", t.Name)
			if !o.following {
				return nil
			}
			return s.follow(ctx, t)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.file, "filename", "f", "", "a file with one RecoveryTest; CLUSTER replaces the cluster that it names")
	flags.StringVar(&o.kind, "kind", string(v1alpha1.PodKill), "kind of the fault, one that needs no more than its target: PodKill, ContainerKill, PodFailure, NodeDrain, Partition, DiskFull, CPUStress … (kubectl explain rt.spec.faults.kind)")
	flags.StringVar(&o.target, "target", "", "Master, Replica or All (default: Master)")
	flags.Int32Var(&o.times, "times", 1, "how often a kill is repeated")
	flags.Int32Var(&o.writers, "writers", 16, "writers of the load")
	flags.Int32Var(&o.random, "random", 0, "so many faults that a seed chooses, instead of one")
	flags.Int64Var(&o.seed, "seed", 0, "seed of the random faults (default: one is chosen and shown)")
	flags.DurationVar(&o.rto, "rto", time.Minute, "the longest RTO that is good")
	flags.BoolVar(&o.allow, "allow-chaos", false, "annotate the cluster as one that may be broken")
	flags.BoolVar(&o.following, "wait", true, "follow the test to its verdict")
	return cmd
}

func (s *session) newTest(ctx context.Context, args []string, o runOptions, seeded bool) (*v1alpha1.RecoveryTest, error) {
	t := &v1alpha1.RecoveryTest{}
	if o.file != "" {
		text, err := os.ReadFile(o.file)
		if err != nil {
			return nil, err
		}
		if err := yaml.UnmarshalStrict(text, t); err != nil {
			return nil, fmt.Errorf("%s is not a RecoveryTest: %w", o.file, err)
		}
	} else {
		t.Spec = o.spec(seeded)
	}
	if o.file == "" || len(args) > 0 {
		c, err := s.cluster(ctx, args)
		if err != nil {
			return nil, err
		}
		t.Spec.Cluster.Name = c.Name
	}
	if t.Namespace == "" {
		t.Namespace = s.namespace
	}
	if t.Name == "" {
		t.Name = fmt.Sprintf("%.30s-%s", t.Spec.Cluster.Name, rand.String(5))
	}
	return t, nil
}

func (o runOptions) spec(seeded bool) v1alpha1.RecoveryTestSpec {
	spec := v1alpha1.RecoveryTestSpec{Limits: v1alpha1.LimitsSpec{RTO: &metav1.Duration{Duration: o.rto}}}
	spec.Workload.Writers = o.writers
	if o.random > 0 {
		spec.Random = &v1alpha1.RandomFaultsSpec{Count: o.random}
		if seeded {
			spec.Random.Seed = &o.seed
		}
		return spec
	}
	fault := v1alpha1.FaultSpec{Name: "fault", Kind: v1alpha1.FaultKind(o.kind), Target: v1alpha1.FaultTarget(o.target)}
	if o.times > 1 {
		fault.Times = &o.times
	}
	spec.Faults = []v1alpha1.FaultSpec{fault}
	return spec
}

func (s *session) allowChaos(ctx context.Context, name string) error {
	c, err := s.cluster(ctx, []string{name})
	if err != nil {
		return err
	}
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:"true"}}}`, v1alpha1.AnnotationAllowChaos)
	return s.kube.Patch(ctx, c, client.RawPatch("application/merge-patch+json", []byte(patch)))
}

func newRecoveryWatchCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "watch [TEST]",
		Short: "Follow a RecoveryTest to its verdict",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := s.recoveryTest(cmd.Context(), args)
			if err != nil {
				return err
			}
			return s.follow(cmd.Context(), t)
		},
	}
}

// recoveryTest finds the named test, or the newest one of the namespace.
func (s *session) recoveryTest(ctx context.Context, args []string) (*v1alpha1.RecoveryTest, error) {
	if len(args) > 0 {
		t := &v1alpha1.RecoveryTest{}
		err := s.kube.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: args[0]}, t)
		if apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("no RecoveryTest %q in namespace %q: see 'kubectl get recoverytests -A'", args[0], s.namespace)
		}
		return t, err
	}
	var list v1alpha1.RecoveryTestList
	if err := s.kube.List(ctx, &list, client.InNamespace(s.namespace)); err != nil {
		return nil, err
	}
	if len(list.Items) == 0 {
		return nil, fmt.Errorf("namespace %q has no RecoveryTest: 'kubectl commitlab recovery run CLUSTER' makes one", s.namespace)
	}
	newest := slices.MaxFunc(list.Items, func(a, b v1alpha1.RecoveryTest) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	return &newest, nil
}

// follow prints what is new until there is a verdict.
func (s *session) follow(ctx context.Context, t *v1alpha1.RecoveryTest) error {
	progress := newRecoveryProgress(s.out)
	for {
		if err := s.kube.Get(ctx, client.ObjectKeyFromObject(t), t); err != nil {
			return fmt.Errorf("the test goes on without this command, see 'kubectl get rt': %w", err)
		}
		progress.show(t)
		if t.Finished() {
			fmt.Fprintln(s.out)
			if err := PrintRecoveryTest(s.out, t); err != nil {
				return err
			}
			return verdictError(t)
		}
		select {
		case <-ctx.Done():
			return errors.New("the test goes on without this command: see 'kubectl commitlab recovery watch'")
		case <-time.After(recoveryPoll):
		}
	}
}

// verdictError makes any verdict but Passed a failed command.
func verdictError(t *v1alpha1.RecoveryTest) error {
	if t.Status.Verdict == v1alpha1.VerdictPassed {
		return nil
	}
	return fmt.Errorf("the verdict is %s", t.Status.Verdict)
}

func newRecoveryReportCommand(s *session) *cobra.Command {
	var page, data string
	var format output
	cmd := &cobra.Command{
		Use:   "report [TEST]",
		Short: "Show what a RecoveryTest has found, as text, as a page, or as the ledger's own verdict",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			t, err := s.recoveryTest(ctx, args)
			if err != nil {
				return err
			}
			if format == outputJSON {
				return printJSON(s.out, t)
			}
			if page == "" && data == "" {
				return PrintRecoveryTest(s.out, t)
			}
			history := &corev1.ConfigMap{}
			if t.Status.History == "" {
				return fmt.Errorf("%s has no history yet: it is %s", t.Name, orNone(t.Status.Phase))
			}
			if err := s.kube.Get(ctx, client.ObjectKey{Namespace: t.Namespace, Name: t.Status.History}, history); err != nil {
				return err
			}
			return s.writeReport(t, history, page, data)
		},
	}
	cmd.Flags().StringVar(&page, "html", "", "write a self-contained page into this file")
	cmd.Flags().StringVar(&data, "json", "", "write test and verdict into this file")
	format.addTo(cmd)
	cmd.MarkFlagsMutuallyExclusive("output", "html")
	cmd.MarkFlagsMutuallyExclusive("output", "json")
	return cmd
}
