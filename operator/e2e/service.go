package main

import (
	"context"
	"fmt"
	"strings"
)

// checkService compares the addresses that a Service stands for with those that it should.
func (s *scene) checkService(ctx context.Context, service string, want map[string]bool) error {
	out, err := s.Kubectl(ctx, "get", "endpointslices", "--selector", "kubernetes.io/service-name="+service,
		"--output", `jsonpath={range .items[*].endpoints[*]}{.addresses[0]}{" "}{end}`)
	if err != nil {
		return err
	}
	found := strings.Fields(out)
	for _, address := range found {
		if !want[address] {
			return fmt.Errorf("the Service %s selects %s, and should select %v", service, address, want)
		}
	}
	if len(found) != len(want) {
		return fmt.Errorf("the Service %s selects %v, and should select %v", service, found, want)
	}
	return nil
}
