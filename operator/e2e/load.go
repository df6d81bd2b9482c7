package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"commitlab.dev/demo/stage"
)

// proxyDone is when kube-proxy has taken up the ledger's own Service: twice, with a second behind each. What a case measures would
// wait for that.
const proxyDone = 3 * time.Second

// startLedger deploys it for the servers that there will be in the end, and waits until it has something to lose.
func (s *scene) startLedger(ctx context.Context) (string, error) {
	manifest, err := os.ReadFile(s.Path("chaos", "ledger.yaml"))
	if err != nil {
		return "", err
	}
	manifest, err = ledgerManifest(manifest, s.servers(), s.place.ledgerImage())
	if err != nil {
		return "", err
	}
	if err := s.ApplyText(ctx, manifest); err != nil {
		return "", err
	}
	if err := s.reachLedger(ctx); err != nil {
		return "", err
	}
	acknowledged, err := s.ledger.AwaitCommits(ctx, enoughCommits)
	select {
	case <-time.After(proxyDone):
	case <-ctx.Done():
	}
	return fmt.Sprintf("%d commits acknowledged", acknowledged), err
}

// reachLedger waits for the ledger's pod, and for a way to it that needs no NodePort.
func (s *scene) reachLedger(ctx context.Context) error {
	if _, err := s.Kubectl(ctx, "rollout", "status", "deployment/ledger"); err != nil {
		return err
	}
	address, stop, err := s.forward(ctx, "deployment/ledger", 8099)
	if err != nil {
		return err
	}
	s.stops = append(s.stops, stop)
	s.ledger = stage.Ledger{URL: "http://" + address}
	return nil
}

var (
	nodePort   = regexp.MustCompile(`(?m)^  type: NodePort\n|, nodePort: \d+`)
	serverArgs = regexp.MustCompile(`(?m)(^ +- --server=.*\n)+`)
	ledgerName = regexp.MustCompile(`image: commitlab\.dev/ledger:dev`)
)

// ledgerManifest makes the ledger of the sample one that takes no NodePort and reads these servers.
func ledgerManifest(manifest []byte, servers []string, image string) ([]byte, error) {
	for _, part := range []*regexp.Regexp{nodePort, serverArgs, ledgerName} {
		if !part.Match(manifest) {
			return nil, fmt.Errorf("chaos/ledger.yaml has nothing like %s any more", part)
		}
	}
	var arguments strings.Builder
	for _, name := range servers {
		fmt.Fprintf(&arguments, "            - --server=%s=tcp(%s.%s:3306)/$$(DB_NAME)\n", name, name, clusterName)
	}
	manifest = nodePort.ReplaceAll(manifest, nil)
	manifest = serverArgs.ReplaceAll(manifest, []byte(arguments.String()))
	return ledgerName.ReplaceAll(manifest, []byte("image: "+image)), nil
}

// forward makes a port of a pod reachable on this machine.
func (s *scene) forward(ctx context.Context, target string, port int) (address string, stop func(), err error) {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	cmd := exec.CommandContext(running, s.Bin("kubectl"), append(s.Connection(), "port-forward", target, fmt.Sprintf(":%d", port))...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return "", nil, err
	}
	stop = func() { cancel(); _ = cmd.Wait() }
	line, err := bufio.NewReader(out).ReadString('\n')
	address, ok := forwardedFrom(line)
	if err != nil || !ok {
		stop()
		return "", nil, errors.Join(fmt.Errorf("kubectl port-forward %s says %q", target, line), err)
	}
	return address, stop, nil
}

func forwardedFrom(line string) (address string, ok bool) {
	address, ok = strings.CutPrefix(line, "Forwarding from ")
	address, _, _ = strings.Cut(address, " ")
	return address, ok
}

// recovered waits until the last fault is proved and writes go on behind it; where there was none, not at all.
func (s *scene) recovered(ctx context.Context) error {
	return stage.Poll(ctx, func() (bool, error) {
		status, err := s.ledger.Status(ctx)
		return err == nil && status.Recovered, errors.Join(err, errors.New("the ledger has not seen the fault, or that writes go on behind it"))
	})
}
