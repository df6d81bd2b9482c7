package engine

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// GlobalVariables reads global values by name.
func (c *Client) GlobalVariables(ctx context.Context, names []string) (map[string]string, error) {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = quote(name)
	}
	rows, err := c.db.QueryContext(ctx, "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.global_variables "+
		"WHERE VARIABLE_NAME IN ("+strings.Join(quoted, ", ")+")")
	if err != nil {
		return nil, translate(err)
	}
	defer rows.Close()
	values := map[string]string{}
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return nil, err
		}
		values[strings.ToLower(name)] = value
	}
	return values, rows.Err()
}

// Began reads what the kernel says of the process.
func (c *Client) Began(ctx context.Context) (time.Time, error) {
	var seconds float64
	err := c.db.QueryRowContext(ctx, "SELECT VARIABLE_VALUE FROM performance_schema.global_status "+
		"WHERE VARIABLE_NAME = 'Process_start_time_seconds'").Scan(&seconds)
	if err != nil || seconds <= 0 {
		return time.Time{}, translate(ignoreNoRow(err))
	}
	return time.UnixMilli(int64(seconds * 1000)), nil
}

func ignoreNoRow(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

// SetGlobal sets a variable to what its flag would mean: a command line has no types, and knows 16M, where SET has them.
func (c *Client) SetGlobal(ctx context.Context, name string, value *string) error {
	var err error
	for _, literal := range literals(value) {
		err = c.control(ctx, "SET GLOBAL "+quoteName(name)+" = "+literal)
		if !isWrongLiteral(err) {
			return err
		}
	}
	return err
}

func isWrongLiteral(err error) bool {
	var e *mysql.MySQLError
	return errors.As(err, &e) && (e.Number == errnoWrongType || e.Number == errnoWrongValue)
}

var numberWithUnit = regexp.MustCompile(`^([0-9]+)([kKmMgGtTpPeE]?)$`)

// literals are the ways to write a value in SET, the likeliest first.
func literals(value *string) []string {
	if value == nil {
		return []string{"DEFAULT"}
	}
	text := quote(*value)
	parts := numberWithUnit.FindStringSubmatch(*value)
	if parts == nil {
		if _, err := strconv.ParseFloat(*value, 64); err == nil {
			return []string{*value, text}
		}
		return []string{text}
	}
	number, err := strconv.ParseUint(parts[1], 10, 64)
	unit := uint(10 * (1 + strings.Index("kmgtpe", strings.ToLower(parts[2]))))
	switch {
	case parts[2] == "":
		return []string{parts[1], text}
	case err != nil || number > math.MaxUint64>>unit:
		return []string{text}
	}
	return []string{text, strconv.FormatUint(number<<unit, 10)}
}
