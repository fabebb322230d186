package database

import (
	"fmt"
	"strings"
)

// Quote is what stands around names: ` in MySQL, " in PostgreSQL and in MySQL with ANSI_QUOTES.
type Quote byte

// The quotes.
const (
	Backtick Quote = '`'
	Double   Quote = '"'
)

// Name quotes a name as one part, whatever is in it.
func (q Quote) Name(name string) string {
	mark := string(q)
	return mark + strings.ReplaceAll(name, mark, mark+mark) + mark
}

// Dotted quotes a name of up to most parts with dots between, such as schema.table. A part that is quoted already stays as it is.
func (q Quote) Dotted(name string, most int) (string, error) {
	parts, err := q.split(name)
	if err != nil {
		return "", err
	}
	if len(parts) > most {
		return "", fmt.Errorf("%s has more than %d parts", name, most)
	}
	return strings.Join(parts, "."), nil
}

func (q Quote) split(name string) (parts []string, err error) {
	mark := string(q)
	for rest := name; ; {
		if rest == "" {
			return nil, fmt.Errorf("%q is not a name: a part of it is empty", name)
		}
		var part string
		if strings.HasPrefix(rest, mark) {
			end := q.end(rest)
			if end < 0 {
				return nil, fmt.Errorf("%q is not a name: a quote is not closed", name)
			}
			part, rest = rest[:end], rest[end:]
			if rest != "" && rest[0] != '.' {
				return nil, fmt.Errorf("%q is not a name: a quote in it must be doubled", name)
			}
		} else {
			part = rest
			if at := strings.IndexByte(rest, '.'); at >= 0 {
				part = rest[:at]
			}
			if part == "" {
				return nil, fmt.Errorf("%q is not a name: a part of it is empty", name)
			}
			rest = rest[len(part):]
			part = q.Name(part)
		}
		parts = append(parts, part)
		if rest == "" {
			return parts, nil
		}
		rest = rest[1:] // the dot
	}
}

// end is where a quoted name at the beginning of a text ends; -1: nowhere.
func (q Quote) end(text string) int {
	for i := 1; i < len(text); i++ {
		if text[i] != byte(q) {
			continue
		}
		// A doubled quote is one of the name.
		if i+1 < len(text) && text[i+1] == byte(q) {
			i++
			continue
		}
		return i + 1
	}
	return -1
}
