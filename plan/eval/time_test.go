package eval_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestDates(t *testing.T) {
	t.Parallel()
	e, env := ordered(nil)
	const day = "'2020-01-31' | to_datetime('%Y-%m-%d')"
	for text, want := range map[string]string{
		"{{ '2020-1-2' | to_datetime('%Y-%m-%d') }}":    "2020-01-02 00:00:00",
		"{{ '2020-02-30' | to_datetime('%Y-%m-%d') }}":  `the text "2020-02-30" is not a date of the form "%Y-%m-%d"`,
		"{{ '2020-01-01x' | to_datetime('%Y-%m-%d') }}": "is not a date of the form",
		"{{ '2020-01-01 00:00:00.5' | to_datetime }}":   "is not a date of the form",
		"{{ 'x' | to_datetime('%Q') }}":                 "the format of a date has `%Q`, which cannot be read",
		"{{ 'x' | to_datetime('%') }}":                  "the format of a date ends in `%`",
		"{{ (" + day + ").days }}":                      "a date has no `days`",
		"{{ (" + day + ").date() }}":                    "method `date` does not exist for a date",
		"{{ (" + day + " - " + day + ").hours }}":       "a time between dates has no `hours`",
		"{{ " + day + " + 1 }}":                         "`+` does not work on a date and a number",
		"{{ " + day + " < 1 }}":                         "cannot compare a date with a number",
		"{{ " + day + " < '2020-01-31T00:00:00+0000' | to_datetime('%Y-%m-%dT%H:%M:%S%z') }}": "cannot compare a date with a date",
		"{{ [" + day + "] | unique | length }}":                                               "1",
		"{{ [" + day + "] }}":                                                                 "[2020-01-31 00:00:00]",
		"{% set d = " + day + " %}{% for i in [1] %}{{ d.day }}{% endfor %}":                  "31",
	} {
		tmpl, err := e.Template(text)
		got := ""
		if err == nil {
			if r, renderErr := tmpl.Render(env); renderErr == nil {
				got = fmt.Sprint(r.Value)
			} else {
				err = renderErr
			}
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}
