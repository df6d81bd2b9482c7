package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"

	"commitlab.dev/demo/stage"
)

var readCase = testCase{
	name:  "read",
	shows: "a row written at the master is read from each replica, and by their Service; writes are refused there",
	act: func(ctx context.Context, s *scene) error {
		if err := s.step(ctx, "a row on every replica", time.Minute, s.readFromReplicas); err != nil {
			return err
		}
		return s.step(ctx, "the replicas' Service", time.Minute, s.readFromService)
	},
}

const (
	writtenRow = "the row of the case read"
	readRow    = "SELECT text FROM app.e2e_read WHERE id = 7"
)

func (s *scene) readFromReplicas(ctx context.Context) (string, error) {
	c, err := s.look(ctx)
	if err != nil {
		return "", err
	}
	for _, statement := range []string{"CREATE TABLE app.e2e_read (id INT PRIMARY KEY, text VARCHAR(40))",
		"INSERT INTO app.e2e_read VALUES (7, '" + writtenRow + "')"} {
		if err := s.execute(ctx, c.Status.Master, application, statement); err != nil {
			return "", err
		}
	}
	return writtenRow, stage.Poll(ctx, func() (bool, error) {
		answers, err := s.askAll(ctx, readRow)
		for server, text := range answers {
			if text != writtenRow {
				return false, fmt.Errorf("%s has %q", server, text)
			}
		}
		return err == nil, err
	})
}

const errnoReadOnly = 1290

func (s *scene) readFromService(ctx context.Context) (string, error) {
	db, stop, err := s.connect(ctx, "service/"+clusterName+"-replicas", application)
	if err != nil {
		return "", err
	}
	defer stop()
	var role, text string
	if err := db.QueryRowContext(ctx, "SELECT role FROM performance_schema.commitd_instance").Scan(&role); err != nil {
		return "", err
	}
	if err := db.QueryRowContext(ctx, readRow).Scan(&text); err != nil {
		return "", err
	}
	if role != "replica" || text != writtenRow {
		return "", fmt.Errorf("behind the replicas' Service is a %s, with %q", role, text)
	}
	_, err = db.ExecContext(ctx, "INSERT INTO app.e2e_read VALUES (8, 'nowhere')")
	var refused *mysql.MySQLError
	if !errors.As(err, &refused) || refused.Number != errnoReadOnly {
		return "", fmt.Errorf("a write at a replica ends with %v, and should be refused with error %d", err, errnoReadOnly)
	}
	return "reads there, and refuses writes", nil
}
