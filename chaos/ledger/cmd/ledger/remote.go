package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
)

const defaultURL = "http://127.0.0.1:8099"

// newFaultCommand, newStopCommand and newStatusCommand talk to a ledger that runs with --http, for use from scripts and by
// kubectl exec, where the image holds no curl.
func newFaultCommand() *cobra.Command {
	var base, name, expect, target, proof, unsupported, objects, limit string
	command := &cobra.Command{
		Use:   "fault --mark NAME",
		Short: "Tell a running ledger that a fault is being injected now",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			query := url.Values{
				"name": {name}, "expect": {expect}, "target": {target}, "proof": {proof}, "unsupported": {unsupported},
				"objects": {objects}, "limit": {limit},
			}
			return request(command, http.MethodPost, base, "/fault?"+query.Encode())
		},
	}
	command.Flags().StringVar(&base, "url", defaultURL, "address of the running ledger")
	command.Flags().StringVar(&name, "mark", "", "name of the fault")
	command.Flags().StringVar(&expect, "expect", "outage", "outage: writers must notice it; none: they need not")
	command.Flags().StringVar(&target, "target", "", "whom it hits: a server's name, master or replica; that one's watcher then looks for the proof")
	command.Flags().StringVar(&proof, "proof", "process", "process: the target runs another one afterwards; link: it loses its replication")
	command.Flags().StringVar(&unsupported, "unsupported", "", "why the fault cannot be injected here; the verdict is Unsupported then")
	command.Flags().StringVar(&objects, "objects", "", "how many objects it hits at once; each must be proved")
	command.Flags().StringVar(&limit, "limit", "", "the longest RTO, e.g. 30s: a longer one fails the run")
	_ = command.MarkFlagRequired("mark")
	return command
}

func newEvidenceCommand() *cobra.Command {
	var base string
	fields := map[string]*string{}
	command := &cobra.Command{
		Use:   "evidence --fault NAME --kind pod-uid --object demo-0 --before UID --after deleted",
		Short: "Tell a running ledger what proves that a marked fault was injected",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			query := url.Values{}
			for name, value := range fields {
				query.Set(name, *value)
			}
			return request(command, http.MethodPost, base, "/evidence?"+query.Encode())
		},
	}
	command.Flags().StringVar(&base, "url", defaultURL, "address of the running ledger")
	for name, usage := range map[string]string{
		"fault": "name of the marked fault", "kind": "what was looked at, e.g. pod-uid, container-id, probe", "object": "of what",
		"before": "what it was before the fault", "after": "what it is now",
	} {
		fields[name] = command.Flags().String(name, "", usage)
		_ = command.MarkFlagRequired(name)
	}
	return command
}

func newStopCommand() *cobra.Command {
	var base string
	command := &cobra.Command{
		Use:   "stop",
		Short: "End a running ledger's load; it verifies then",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return request(command, http.MethodPost, base, "/stop")
		},
	}
	command.Flags().StringVar(&base, "url", defaultURL, "address of the running ledger")
	return command
}

func newStatusCommand() *cobra.Command {
	var base string
	var verdict bool
	command := &cobra.Command{
		Use:   "status",
		Short: "Print what a running ledger has counted, or its verdict",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			path := "/status"
			if verdict {
				path = "/verdict"
			}
			return request(command, http.MethodGet, base, path)
		},
	}
	command.Flags().StringVar(&base, "url", defaultURL, "address of the running ledger")
	command.Flags().BoolVar(&verdict, "verdict", false, "print the verdict; exit code 1 unless it is Passed")
	return command
}

func request(command *cobra.Command, method, base, path string) error {
	r, err := http.NewRequestWithContext(command.Context(), method, strings.TrimSuffix(base, "/")+path, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("no ledger answers (was it started with --http?): %w", err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(command.OutOrStdout(), response.Body); err != nil {
		return err
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return exitError(1)
	}
	return nil
}
