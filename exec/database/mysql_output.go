package database

import (
	"errors"
	"strings"
)

// Row is a row of a result, by the names of its columns. A text is *string, and NULL is nil.
type Row struct {
	Names  []string
	Values []*string
}

// Get is the value of a column as a text; "" also for NULL.
func (r Row) Get(name string) string {
	for i, n := range r.Names {
		if n == name && r.Values[i] != nil {
			return *r.Values[i]
		}
	}
	return ""
}

// Text is the value of a column by its place; "" also for NULL.
func (r Row) Text(i int) string {
	if i < len(r.Values) && r.Values[i] != nil {
		return *r.Values[i]
	}
	return ""
}

// ParseXML reads what MySQL's client prints with --xml: the rows of each query that has any columns. It is not XML where a value has
// bytes that XML does not know, so it is taken apart by its own rules.
func ParseXML(text string) (results [][]Row, err error) {
	const set, setEnd, row, rowEnd, field = "<resultset ", "</resultset>", "<row>", "</row>", "\t<field name=\""
	for {
		at := strings.Index(text, set)
		if at < 0 {
			return results, nil
		}
		// The statement is in the tag, with its angle brackets escaped.
		at += strings.IndexByte(text[at:], '>')
		end := strings.Index(text[at:], setEnd)
		if end < 0 {
			return nil, errors.New("the client's output ends in the middle of a result")
		}
		body := text[at+1 : at+end]
		text = text[at+end+len(setEnd):]
		rows := []Row{}
		for {
			begin := strings.Index(body, row)
			if begin < 0 {
				break
			}
			stop := strings.Index(body, rowEnd)
			if stop < begin {
				return nil, errors.New("the client's output has a row without an end")
			}
			var r Row
			for _, part := range strings.Split(body[begin+len(row):stop], field)[1:] {
				name, rest, _ := strings.Cut(part, `"`)
				r.Names = append(r.Names, fromXML(name))
				value, _, closed := strings.Cut(strings.TrimPrefix(rest, ">"), "</field>")
				if strings.HasPrefix(rest, " xsi:nil=") {
					r.Values = append(r.Values, nil)
					continue
				}
				if !closed {
					return nil, errors.New("the client's output has a field without an end")
				}
				value = fromXML(value)
				r.Values = append(r.Values, &value)
			}
			rows = append(rows, r)
			body = body[stop+len(rowEnd):]
		}
		results = append(results, rows)
	}
}

var fromXML = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">", "&quot;", `"`).Replace
