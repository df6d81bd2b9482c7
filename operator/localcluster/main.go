// Command localcluster runs a real single-node Kubernetes on this machine.
package main

import (
	"fmt"
	"os"

	"commitlab.dev/localcluster/internal/cli"
)

func main() {
	if err := cli.New().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
