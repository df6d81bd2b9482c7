package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"

	"commitlab.dev/demo/stage"
)

var passwordsCase = testCase{
	name:  "passwords",
	shows: "other passwords of the built-in accounts roll through the servers, the master last; then the former ones open nothing",
	act: func(ctx context.Context, s *scene) error {
		if err := s.step(ctx, "rolled", 5*time.Minute, func(ctx context.Context) (string, error) {
			return s.rolls(ctx, "passwords", func() error { return s.changePasswords(ctx) })
		}); err != nil {
			return err
		}
		return s.step(ctx, "in use", time.Minute, s.formerPasswordsAreRefused)
	},
}

// The copies of the credentials that servers are started with.
const firstCredentials, secondCredentials = clusterName + "-credentials-1", clusterName + "-credentials-2"

var builtInAccounts = map[string]string{"commitlab_operator": "operator-password", "commitlab_replication": "replication-password"}

// changePasswords edits the Secret, and waits until every server was started with what it has now, and has its role again.
func (s *scene) changePasswords(ctx context.Context) error {
	if _, err := s.Kubectl(ctx, "patch", "secret", clusterName+"-credentials", "--type", "merge", "--patch",
		`{"stringData":{"operator-password":"another one of the operator","replication-password":"another one of the replicas"}}`); err != nil {
		return err
	}
	if err := stage.Poll(ctx, func() (bool, error) {
		startedWith, err := s.podFields(ctx, `.spec.volumes[?(@.name=="secrets")].secret.secretName`)
		if err == nil && len(startedWith) < len(s.servers()) {
			err = fmt.Errorf("only %d servers are there", len(startedWith))
		}
		for pod, secret := range startedWith {
			if secret != secondCredentials {
				err = fmt.Errorf("%s was started with %s", pod, secret)
			}
		}
		return err == nil, err
	}); err != nil {
		return err
	}
	_, err := s.awaitWhole(ctx)
	return err
}

// formerPasswordsAreRefused, and those of now are taken, by every server.
func (s *scene) formerPasswordsAreRefused(ctx context.Context) (string, error) {
	for _, pod := range s.servers() {
		for user, key := range builtInAccounts {
			if who, err := s.ask(ctx, pod, account{user, secondCredentials, key}, "SELECT CURRENT_USER()"); err != nil {
				return "", fmt.Errorf("%s does not take the password of %s %s: %w", pod, user, who, err)
			}
			var refused *mysql.MySQLError
			if _, err := s.ask(ctx, pod, account{user, firstCredentials, key}, "SELECT 1"); !errors.As(err, &refused) || refused.Number != accessDenied {
				return "", fmt.Errorf("%s answers %s with its former password: %w", pod, user, err)
			}
		}
	}
	return "the former ones are refused by every server", nil
}
