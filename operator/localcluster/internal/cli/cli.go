// Package cli is localcluster's command line.
package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"commitlab.dev/localcluster/internal/cluster"
	"commitlab.dev/localcluster/internal/layout"
	"commitlab.dev/localcluster/internal/node"
)

// New returns the root command.
func New() *cobra.Command {
	var buildDir, network string
	find := func() (l layout.Layout, err error) {
		if buildDir == "" {
			l, err = layout.Find()
		} else {
			l.Build, err = filepath.Abs(buildDir)
		}
		if err == nil && network != "" {
			l.Network, err = layout.ParseNetwork(network)
		}
		return l, err
	}
	root := &cobra.Command{
		Use:           "localcluster",
		Short:         "A real single-node Kubernetes on this machine, from the programs in build/",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.PersistentFlags().StringVar(&buildDir, "build-dir", "", "the checkout's build folder (default: where this program lies)")
	root.PersistentFlags().StringVar(&network, "node-network", os.Getenv(layout.NetworkVariable),
		"the network between this machine and the node (default: $"+layout.NetworkVariable+", or "+layout.DefaultNetwork.String()+")")
	root.AddCommand(upCommand(find), downCommand(find), statusCommand(find), kubeconfigCommand(find), addressCommand(find),
		imageCommand(find), chaosMeshCommand(find), nodeCommand(find))
	return root
}

type finder func() (layout.Layout, error)

// command makes a subcommand without arguments.
func command(use, short string, find finder, run func(*cobra.Command, layout.Layout) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := find()
			if err != nil {
				return err
			}
			return run(cmd, l)
		},
	}
}

func upCommand(find finder) *cobra.Command {
	return command("up", "Bring the cluster up, or finish bringing it up", find,
		func(cmd *cobra.Command, l layout.Layout) error {
			if err := cluster.Up(cmd.Context(), l, cmd.OutOrStdout()); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "use it with: export KUBECONFIG=%s PATH=%s:$PATH\n", l.Kubeconfig(), l.Bin(""))
			return nil
		})
}

func downCommand(find finder) *cobra.Command {
	return command("down", "End the cluster and remove everything it made", find,
		func(cmd *cobra.Command, l layout.Layout) error { return cluster.Down(l, cmd.OutOrStdout()) })
}

func statusCommand(find finder) *cobra.Command {
	return command("status", "Say whether the cluster runs, and where", find,
		func(cmd *cobra.Command, l layout.Layout) error { return cluster.Status(l, cmd.OutOrStdout()) })
}

func kubeconfigCommand(find finder) *cobra.Command {
	return command("kubeconfig", "Print the path of the administrator's kubeconfig", find,
		func(cmd *cobra.Command, l layout.Layout) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), l.Kubeconfig())
			return err
		})
}

func addressCommand(find finder) *cobra.Command {
	return command("address", "Print the address that the node has or will have: its NodePorts are there", find,
		func(cmd *cobra.Command, l layout.Layout) error {
			address, err := cluster.Address(l)
			if err == nil {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), address)
			}
			return err
		})
}

func chaosMeshCommand(find finder) *cobra.Command {
	parent := &cobra.Command{Use: "chaos-mesh", Short: "Chaos Mesh on the cluster"}
	parent.AddCommand(command("install", "Install Chaos Mesh, if it is not there, and wait until it answers", find,
		func(cmd *cobra.Command, l layout.Layout) error { return cluster.InstallChaosMesh(l, cmd.OutOrStdout()) }))
	return parent
}

func nodeCommand(find finder) *cobra.Command {
	cmd := command(node.Command, "The node's first process", find,
		func(_ *cobra.Command, l layout.Layout) error { return node.Main(l) })
	cmd.Hidden = true
	return cmd
}
