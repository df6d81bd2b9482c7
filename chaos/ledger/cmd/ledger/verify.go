package main

import (
	"time"

	"github.com/spf13/cobra"

	"commitlab.dev/ledger/internal/journal"
	"commitlab.dev/ledger/internal/judge"
	"commitlab.dev/ledger/internal/server"
)

func addVerifyFlags(command *cobra.Command, servers *[]string, patience *time.Duration, asJSON *bool) {
	flags := command.Flags()
	flags.StringArrayVar(servers, "server", nil,
		"a server that must be there and show the same, as NAME=[user@]tcp(host:port)/database, by default with the master's user; give every member (repeatable)")
	flags.DurationVar(patience, "patience", 2*time.Minute, "how long verification waits for servers and for replicas to catch up")
	flags.BoolVar(asJSON, "json", false, "print the verdict as JSON")
}

func newVerifyCommand() *cobra.Command {
	var dsn, file string
	var given []string
	var patience time.Duration
	var asJSON bool
	command := &cobra.Command{
		Use:   "verify",
		Short: "Compare a journal with what the servers show now",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			master, err := requireDSN(dsn)
			if err != nil {
				return err
			}
			state, err := journal.Load(file)
			if err != nil {
				return err
			}
			expected, err := server.ParseNamed(given, master)
			if err != nil {
				return err
			}
			servers := judge.Servers{Master: master, Expected: expected, Patience: patience}
			verdict := judge.Verify(command.Context(), state, servers, newLogger(false))
			if err := printVerdict(command.OutOrStdout(), verdict, asJSON); err != nil {
				return err
			}
			return exitCode(verdict)
		},
	}
	command.Flags().StringVar(&dsn, "dsn", "", "the master, as user@tcp(host:port)/database (default: LEDGER_DSN, which may hold a password)")
	command.Flags().StringVar(&file, "file", "ledger.journal", "the journal of the run")
	addVerifyFlags(command, &given, &patience, &asJSON)
	return command
}
