package plugin

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// writeRowsAsJSON writes a result as a list of objects, the columns in their order. Numbers are numbers with all their figures, JSON
// is JSON, bytes are base64, everything else is text; NULL is null.
func writeRowsAsJSON(out io.Writer, rows *sql.Rows) error {
	columns, err := rows.ColumnTypes()
	if err != nil {
		return err
	}
	names := map[string]bool{}
	for _, c := range columns {
		if names[c.Name()] {
			return fmt.Errorf("two columns are called %q: give one of them another name with AS", c.Name())
		}
		names[c.Name()] = true
	}
	values, targets := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	separator := "[\n"
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		row, err := objectOf(columns, values)
		if err != nil {
			return err
		}
		fmt.Fprint(out, separator, "    ", row)
		separator = ",\n"
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if separator == "[\n" {
		_, err = fmt.Fprintln(out, "[]")
	} else {
		_, err = fmt.Fprintln(out, "\n]")
	}
	return err
}

func objectOf(columns []*sql.ColumnType, values []sql.RawBytes) (string, error) {
	var fields []string
	for i, c := range columns {
		name, err := json.Marshal(c.Name())
		if err != nil {
			return "", err
		}
		value, err := json.Marshal(jsonOf(c.DatabaseTypeName(), values[i]))
		if err != nil {
			return "", fmt.Errorf("column %s: %w", c.Name(), err)
		}
		fields = append(fields, string(name)+": "+string(value))
	}
	return "{" + strings.Join(fields, ", ") + "}", nil
}

// jsonOf gives a value as the type of its column asks for.
func jsonOf(kind string, value sql.RawBytes) any {
	if value == nil {
		return nil
	}
	switch kind = strings.TrimPrefix(kind, "UNSIGNED "); kind {
	case "TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "YEAR", "DECIMAL", "FLOAT", "DOUBLE":
		if json.Valid(value) {
			return json.RawMessage(value)
		}
	case "JSON":
		return json.RawMessage(value)
	case "BINARY", "VARBINARY", "BIT", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB", "GEOMETRY":
		return []byte(value)
	}
	return string(value)
}
