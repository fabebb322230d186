package database

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Server says whose SQL it is.
type Server byte

// The servers. MariaDB's is MySQL's.
const (
	MySQL Server = iota
	Postgres
)

// mysqlEscapes are what a text in quotes may not hold as it is. A line break could not be distinguished from the end of a client's command.
var mysqlEscapes = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\x00", `\0`, "\n", `\n`, "\r", `\r`, "\x1a", `\Z`)

// postgresEscapes are those of a text in E'…', which means the same with any setting of the server.
var postgresEscapes = strings.NewReplacer(`\`, `\\`, `'`, `''`, "\n", `\n`, "\r", `\r`)

// Text is a text in quotes. A text with a zero byte does not exist in PostgreSQL.
func (s Server) Text(text string) string {
	if s == MySQL {
		return "'" + mysqlEscapes.Replace(text) + "'"
	}
	if strings.ContainsAny(text, "\\\n\r") {
		return "E'" + postgresEscapes.Replace(text) + "'"
	}
	return "'" + postgresEscapes.Replace(text) + "'"
}

// Literal is a value of a playbook as SQL has it: nothing, a boolean, a number, a text, or in PostgreSQL a list.
func (s Server) Literal(value any) (string, error) {
	switch v := value.(type) {
	case nil:
		return "NULL", nil
	case bool:
		return strconv.FormatBool(v), nil
	case int:
		return strconv.Itoa(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), nil
	case string:
		return s.Text(v), nil
	case fmt.Stringer:
		return s.Text(v.String()), nil
	case []any:
		if s == Postgres {
			return s.array(v)
		}
		return s.tuple(v)
	case map[string]any:
		text, err := json.Marshal(v)
		return s.Text(string(text)), err
	}
	return "", fmt.Errorf("a value of type %T cannot be written in SQL", value)
}

// tuple is what `IN %s` takes.
func (s Server) tuple(list []any) (string, error) {
	words := make([]string, len(list))
	for i, item := range list {
		var err error
		if words[i], err = s.Literal(item); err != nil {
			return "", err
		}
	}
	return "(" + strings.Join(words, ",") + ")", nil
}

// array is an array of PostgreSQL, as a text that takes the type of where it stands.
func (s Server) array(list []any) (string, error) {
	text, err := arrayText(list)
	if err != nil {
		return "", err
	}
	return s.Text(text), nil
}

func arrayText(list []any) (string, error) {
	words := make([]string, len(list))
	for i, item := range list {
		switch v := item.(type) {
		case nil:
			words[i] = "NULL"
		case []any:
			inner, err := arrayText(v)
			if err != nil {
				return "", err
			}
			words[i] = inner
		case string:
			words[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v) + `"`
		case map[string]any:
			return "", fmt.Errorf("a map cannot be part of an array")
		default:
			words[i] = fmt.Sprint(v)
		}
	}
	return "{" + strings.Join(words, ",") + "}", nil
}

// Fill puts values into a query in the places that Python's drivers know: %s takes the next of a list, %(name)s that of a map, %% is
// a percent sign. Without values the query stays as it is.
func (s Server) Fill(query string, list []any, named map[string]any) (string, error) {
	if len(list) == 0 && len(named) == 0 {
		return query, nil
	}
	var b strings.Builder
	next := 0
	for rest := query; ; {
		at := strings.IndexByte(rest, '%')
		if at < 0 {
			b.WriteString(rest)
			break
		}
		// Left to right, as a value that has been put in may have percent signs of its own.
		b.WriteString(rest[:at])
		rest = rest[at+1:]
		var value any
		switch {
		case strings.HasPrefix(rest, "%"):
			b.WriteByte('%')
			rest = rest[1:]
			continue
		case strings.HasPrefix(rest, "s") && next < len(list):
			value, rest = list[next], rest[1:]
			next++
		case strings.HasPrefix(rest, "s"):
			return "", fmt.Errorf("the query has more places than there are values")
		case strings.HasPrefix(rest, "("):
			name, after, ok := strings.Cut(rest[1:], ")s")
			if !ok {
				return "", fmt.Errorf("%%( in the query is not followed by )s; write %%%% for a percent sign")
			}
			if value, ok = named[name]; !ok {
				return "", fmt.Errorf("the query has a place for %s, and there are values for %s", name,
					strings.Join(slices.Sorted(maps.Keys(named)), ", "))
			}
			rest = after
		default:
			return "", fmt.Errorf("a percent sign in a query with values is written %%%%")
		}
		text, err := s.Literal(value)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	if next < len(list) {
		return "", fmt.Errorf("the query has places for %d of %d values", next, len(list))
	}
	return b.String(), nil
}
