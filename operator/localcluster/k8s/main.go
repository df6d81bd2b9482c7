// Command k8s is every Kubernetes program a single node needs, in one binary.
//
// Linked separately the same programs take about 700 MB and most of the build
// time; together they share their dependencies. The program is chosen by the
// name it is called with (a symlink) or, failing that, by the first argument.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"

	"commitlab.dev/localcluster/k8s/internal/dispatch"
)

var programs = dispatch.Programs{
	"etcd":                    runEtcd,
	"kube-apiserver":          component(apiserver.NewAPIServerCommand),
	"kube-controller-manager": component(controllermanager.NewControllerManagerCommand),
	"kube-proxy":              component(proxy.NewProxyCommand),
	"kube-scheduler":          component(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
	"kubelet":                 component(func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) }),
	"kubectl":                 runKubectl,
}

func main() {
	run, args, ok := programs.Choose(os.Args)
	if !ok {
		fmt.Fprintf(os.Stderr, "usage: k8s PROGRAM [flags], where PROGRAM is one of: %s\n", strings.Join(programs.Names(), ", "))
		os.Exit(2)
	}
	// The programs parse os.Args themselves.
	os.Args = args
	os.Exit(run(args))
}

func component(newCommand func() *cobra.Command) func([]string) int {
	return func([]string) int { return cli.Run(newCommand()) }
}

func runEtcd(args []string) int {
	etcdmain.Main(args)
	return 0
}

func runKubectl([]string) int {
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
