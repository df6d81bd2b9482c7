package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"

	"commitlab.dev/demo/stage"
)

var tlsCase = testCase{
	name:  "tls",
	shows: "certificates roll through the servers and are asked for; they are renewed without a restart; a master is replaced by them",
	act: func(ctx context.Context, s *scene) error {
		if err := s.step(ctx, "certificates", 4*time.Minute, s.protect); err != nil {
			return err
		}
		if err := s.step(ctx, "renewed", 4*time.Minute, s.renew); err != nil {
			return err
		}
		return s.step(ctx, "killed", time.Minute, func(ctx context.Context) (string, error) {
			return s.loses(ctx, "tls-master-kill", func(master string) error { return s.kill(ctx, master) })
		})
	},
}

// protect turns TLS on, and sees that nobody who replicates or commands gets in without a certificate.
func (s *scene) protect(ctx context.Context) (string, error) {
	if _, err := s.rolls(ctx, "tls", func() error { return s.turnOnTLS(ctx) }); err != nil {
		return "", err
	}
	for _, pod := range s.servers() {
		var refused *mysql.MySQLError
		if _, err := s.ask(ctx, pod, operator, "SELECT 1"); !errors.As(err, &refused) || refused.Number != accessDenied {
			return "", fmt.Errorf("%s answers the operator's account without a certificate: %w", pod, err)
		}
	}
	cluster, err := s.look(ctx)
	if err != nil {
		return "", err
	}
	for _, pod := range s.servers() {
		if pod == cluster.Status.Master {
			continue
		}
		how, err := s.ask(ctx, pod, application, "SELECT CONCAT(USER, ' ', SSL_ALLOWED) FROM performance_schema.replication_connection_configuration")
		if err != nil || how != "commitlab_replication YES" {
			return "", fmt.Errorf("%s replicates as %q: %w", pod, how, err)
		}
	}
	return "asked for by every server", nil
}

const accessDenied = 1045

func (s *scene) turnOnTLS(ctx context.Context) error {
	if err := s.change(ctx, `{"spec":{"tls":{}}}`); err != nil {
		return err
	}
	if err := stage.Poll(ctx, func() (bool, error) {
		required, err := s.field(ctx, "commitcluster", clusterName, ".status.certificatesRequired")
		if err == nil && required != "true" {
			err = errors.New("not every server has a certificate yet")
		}
		return err == nil, err
	}); err != nil {
		return err
	}
	_, err := s.awaitWhole(ctx)
	return err
}

// renew takes the certificates away: others are made, and every server has them without a restart.
func (s *scene) renew(ctx context.Context) (string, error) {
	const digest = "SELECT tls_digest FROM performance_schema.commitd_instance"
	before, err := s.askAll(ctx, digest)
	if err != nil {
		return "", err
	}
	containers, err := s.podFields(ctx, ".status.containerStatuses[0].containerID")
	if err != nil {
		return "", err
	}
	if _, err := s.Kubectl(ctx, "delete", "secret", clusterName+"-tls"); err != nil {
		return "", err
	}
	err = stage.Poll(ctx, func() (bool, error) {
		after, err := s.askAll(ctx, digest)
		for pod, now := range after {
			if now == before[pod] {
				return false, fmt.Errorf("%s has its former certificate", pod)
			}
		}
		return err == nil, err
	})
	if err != nil {
		return "", err
	}
	now, err := s.podFields(ctx, ".status.containerStatuses[0].containerID")
	for pod, container := range containers {
		if err == nil && now[pod] != container {
			err = fmt.Errorf("%s was restarted", pod)
		}
	}
	return "in use everywhere, nobody restarted", err
}
