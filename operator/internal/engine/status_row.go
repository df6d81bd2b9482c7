package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Status reads the status row. Columns are found by name, so that a newer engine may add some.
func (c *Client) Status(ctx context.Context) (Status, error) { return statusOver(ctx, c.db) }

// queryer is any connection, or a certain one.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func statusOver(ctx context.Context, over queryer) (Status, error) {
	rows, err := over.QueryContext(ctx, "SELECT * FROM performance_schema.commitd_instance")
	if err != nil {
		return Status{}, translate(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return Status{}, err
	}
	if !rows.Next() {
		return Status{}, errors.Join(errors.New("performance_schema.commitd_instance is empty"), rows.Err())
	}
	values := make([]sql.NullString, len(columns))
	targets := make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	if err := rows.Scan(targets...); err != nil {
		return Status{}, err
	}
	row := statusRow{values: map[string]sql.NullString{}}
	for i, name := range columns {
		row.values[strings.ToLower(name)] = values[i]
	}
	return row.status()
}

// statusRow reads typed columns and remembers the first one that could not be read.
type statusRow struct {
	values map[string]sql.NullString
	err    error
}

func (r *statusRow) status() (Status, error) {
	s := Status{
		ServerUUID:            r.text("server_uuid"),
		ServerID:              r.integer("server_id"),
		Version:               r.text("version"),
		DataFormat:            r.text("data_format"),
		Role:                  Role(r.text("role")),
		Epoch:                 r.integer("epoch"),
		QuorumVersion:         r.integer("quorum_version"),
		LastLogEpoch:          r.integer("last_log_epoch"),
		GTIDExecuted:          r.text("gtid_executed"),
		GTIDLogged:            r.text("gtid_logged"),
		WaitCount:             int32(r.integer("wait_count")),
		Members:               r.list("members"),
		Terms:                 r.terms(),
		SemisyncClients:       r.list("semisync_clients"),
		AckedMembers:          r.list("acked_members"),
		WritesBlocked:         r.integer("writes_blocked") != 0,
		AckWaiting:            r.integer("ack_waiting"),
		AckWaitingSeconds:     r.number("ack_waiting_seconds"),
		HandedOver:            r.integer("handed_over") != 0,
		SourceUUID:            r.text("source_uuid"),
		SourceHost:            r.text("source_host"),
		SourcePort:            r.integer("source_port"),
		ReceiverState:         r.text("receiver_state"),
		ReceiverError:         r.text("receiver_error"),
		UnappliedTransactions: r.integer("unapplied_transactions"),
		ApplierState:          r.text("applier_state"),
		ApplierError:          r.text("applier_error"),
		BuiltInAccounts:       r.list("built_in_accounts"),
	}
	_, s.CanHandOver = r.values["handed_over"]
	_, s.SendsClientsAway = r.values["offline"]
	_, s.KnowsLease = r.values["source_lease"]
	s.LeaseLost = s.Role == RoleMaster && s.KnowsLease && r.integer("lease_held") == 0
	if v := r.values["seconds_since_heartbeat"]; v.Valid {
		seconds := r.number("seconds_since_heartbeat")
		s.SecondsSinceHeartbeat = &seconds
	}
	if r.err == nil && s.Role == "" {
		r.err = errors.New("performance_schema.commitd_instance has no role: is this a commitd server of this version?")
	}
	return s, r.err
}

// terms are those of an engine that has none, too: it waits for ever.
func (r *statusRow) terms() Terms {
	t := Terms{TimeoutMilliseconds: r.integer("semisync_timeout"), OnTimeout: strings.ToLower(r.text("semisync_on_timeout")),
		LeaseMilliseconds: r.integer("source_lease")}
	if t.TimeoutMilliseconds == ForEver {
		t.TimeoutMilliseconds = 0
	}
	if t.OnTimeout == "block" {
		t.OnTimeout = ""
	}
	return t
}

func (r *statusRow) text(name string) string { return strings.TrimSpace(r.values[name].String) }

func (r *statusRow) list(name string) []string {
	text := r.text(name)
	if text == "" {
		return nil
	}
	parts := strings.Split(text, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

func (r *statusRow) integer(name string) int64 {
	text := r.text(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	r.note(name, err)
	return n
}

func (r *statusRow) number(name string) float64 {
	text := r.text(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseFloat(text, 64)
	r.note(name, err)
	return n
}

func (r *statusRow) note(name string, err error) {
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("column %s of performance_schema.commitd_instance: %w", name, err)
	}
}
