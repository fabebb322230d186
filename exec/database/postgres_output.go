package database

import (
	"errors"
	"strings"
)

// What psql is asked to print between fields and rows, and for NULL: characters that texts do not have.
const (
	FieldEnd = "\x1f"
	RowEnd   = "\x1e"
	Null     = "\x01"
)

// ParseRows reads what psql prints in its unaligned format with these separators, of one query: the names of its columns, and its rows.
func ParseRows(text string) (rows []Row, err error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), RowEnd)
	var names []string
	for i, line := range lines {
		if i == len(lines)-1 && line == "" {
			break // after the last row
		}
		fields := strings.Split(line, FieldEnd)
		if names == nil {
			names = fields
			continue
		}
		if len(fields) != len(names) {
			return nil, errors.New("a value has a character that stands between values")
		}
		r := Row{Names: names}
		for _, field := range fields {
			if field == Null {
				r.Values = append(r.Values, nil)
				continue
			}
			r.Values = append(r.Values, &field)
		}
		rows = append(rows, r)
	}
	return rows, nil
}
