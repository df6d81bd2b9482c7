package main

import (
	"context"
	"fmt"
	"strings"

	"commitlab.dev/demo/stage"
)

// tools are the programs that the demo calls, and where what they start answers.
type tools struct {
	stage.Tools
	address string // of the node: its NodePorts are there
	ports   ports
}

// ports are the NodePorts of what a person may want to look at.
type ports struct{ prometheus int }

func newTools(ctx context.Context, root string, ports ports) (tools, error) {
	checkout, err := stage.NewTools(root)
	if err != nil {
		return tools{}, err
	}
	local, address, err := checkout.OnLocalCluster(ctx)
	return tools{Tools: local, address: address, ports: ports}, err
}

func (t tools) prometheusURL() string {
	return fmt.Sprintf("http://%s:%d", t.address, t.ports.prometheus)
}

// explainPort says what to do where another Service has a NodePort that the demo wants.
func explainPort(err error, variable string) error {
	if err != nil && strings.Contains(err.Error(), "provided port is already allocated") {
		return fmt.Errorf("%w\nanother Service has this NodePort: choose another, such as `make demo %s=30150`", err, variable)
	}
	return err
}
