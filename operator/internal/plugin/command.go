// Package plugin is `kubectl commitlab`.
package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
)

// session is what every subcommand needs.
type session struct {
	flags  *genericclioptions.ConfigFlags
	out    io.Writer
	errOut io.Writer

	config    *rest.Config
	namespace string
	kube      client.Client
	clientset kubernetes.Interface
}

// NewCommand makes the whole command line.
func NewCommand(out, errOut io.Writer) *cobra.Command {
	s := &session{flags: genericclioptions.NewConfigFlags(true), out: out, errOut: errOut}
	root := &cobra.Command{
		Use:           "kubectl-commitlab",
		Short:         "Look at clusters of commitd, and work with them",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl commitlab"},
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			return s.connect()
		},
	}
	root.SetOut(out)
	root.SetErr(errOut)
	s.flags.AddFlags(root.PersistentFlags())
	root.AddCommand(newStatusCommand(s), newSwitchoverCommand(s), newFenceCommand(s), newUnfenceCommand(s), newPromoteCommand(s), newLogsCommand(s), newSQLCommand(s), newRecoveryCommand(s))
	return root
}

func (s *session) connect() error {
	var err error
	if s.config, err = s.flags.ToRESTConfig(); err != nil {
		return fmt.Errorf("no cluster to talk to (set KUBECONFIG or --kubeconfig): %w", err)
	}
	if s.namespace, _, err = s.flags.ToRawKubeConfigLoader().Namespace(); err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return err
	}
	if s.kube, err = client.New(s.config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	s.clientset, err = kubernetes.NewForConfig(s.config)
	return err
}

// cluster finds the named cluster, or the only one in the namespace.
func (s *session) cluster(ctx context.Context, args []string) (*v1alpha1.CommitCluster, error) {
	if len(args) > 0 {
		c := &v1alpha1.CommitCluster{}
		err := s.kube.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: args[0]}, c)
		if apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("no CommitCluster %q in namespace %q: see 'kubectl get commitclusters -A'", args[0], s.namespace)
		}
		return c, err
	}
	var list v1alpha1.CommitClusterList
	if err := s.kube.List(ctx, &list, client.InNamespace(s.namespace)); err != nil {
		return nil, err
	}
	if len(list.Items) != 1 {
		return nil, fmt.Errorf("namespace %q has %d CommitClusters: name one", s.namespace, len(list.Items))
	}
	return &list.Items[0], nil
}

// podWithRole picks the pod that a subcommand talks to.
func podWithRole(c *v1alpha1.CommitCluster, role, pod string) (string, error) {
	switch {
	case pod != "":
		return pod, nil
	case role == v1alpha1.RoleMaster:
		if c.Status.Master == "" {
			return "", fmt.Errorf("%s has no master yet: see 'kubectl commitlab status %s'", c.Name, c.Name)
		}
		return c.Status.Master, nil
	case role == v1alpha1.RoleReplica:
		for _, m := range c.Status.Members {
			if m.Role == v1alpha1.RoleReplica {
				return m.Name, nil
			}
		}
		return "", fmt.Errorf("%s has no replica now: see 'kubectl commitlab status %s'", c.Name, c.Name)
	}
	return "", fmt.Errorf("--role is %q: use master or replica, or name a pod with --pod", role)
}
