package main

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"
)

// account is who logs in at a server, by the Secret and the key of the password.
type account struct{ user, secret, key string }

var (
	application = account{"app", clusterName + "-app", "password"}
	operator    = account{"commitlab_operator", clusterName + "-credentials", "operator-password"}
)

// connect logs in at a pod, or at one of those that a Service selects.
func (s *scene) connect(ctx context.Context, target string, as account) (*sql.DB, func(), error) {
	password, err := s.secret(ctx, as.secret, as.key)
	if err != nil {
		return nil, nil, err
	}
	address, stop, err := s.forward(ctx, target, 3306)
	if err != nil {
		return nil, nil, err
	}
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net, cfg.Addr, cfg.Timeout = as.user, password, "tcp", address, 5*time.Second
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		stop()
		return nil, nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	return db, func() { _ = db.Close(); stop() }, nil
}

// execute runs a statement at a pod.
func (s *scene) execute(ctx context.Context, pod string, as account, statement string) error {
	db, stop, err := s.connect(ctx, "pod/"+pod, as)
	if err != nil {
		return err
	}
	defer stop()
	_, err = db.ExecContext(ctx, statement)
	return err
}

// ask returns the one value that a pod answers.
func (s *scene) ask(ctx context.Context, pod string, as account, query string) (value string, err error) {
	db, stop, err := s.connect(ctx, "pod/"+pod, as)
	if err != nil {
		return "", err
	}
	defer stop()
	err = db.QueryRowContext(ctx, query).Scan(&value)
	return value, err
}

// askAll returns what each server answers.
func (s *scene) askAll(ctx context.Context, query string) (map[string]string, error) {
	answers := map[string]string{}
	for _, pod := range s.servers() {
		answer, err := s.ask(ctx, pod, application, query)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", pod, err)
		}
		answers[pod] = answer
	}
	return answers, nil
}

func (s *scene) secret(ctx context.Context, name, key string) (string, error) {
	var secret struct {
		Data map[string]string `json:"data"`
	}
	out, err := s.Kubectl(ctx, "get", "secret", name, "--output", "json")
	if err != nil {
		return "", err
	}
	if err := json.Unmarshal([]byte(out), &secret); err != nil {
		return "", err
	}
	value, err := base64.StdEncoding.DecodeString(secret.Data[key])
	return string(value), err
}
