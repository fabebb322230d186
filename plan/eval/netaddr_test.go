package eval_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"moon/plan/eval/value"
)

// TestAddresses compares the filters of addresses with those of the collection ansible.utils. Their answers are in testdata/netaddr/golden,
// which oracle.py writes beside it.
func TestAddresses(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/netaddr/golden")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	e, n := pythonEngine(), 0
	large := regexp.MustCompile(`'([0-9]{19,})'`)
	for lines := bufio.NewScanner(f); lines.Scan(); n++ {
		var c struct {
			Filter        string
			Value, Answer any
			Args          []any
			Error         bool
		}
		if err := decodeNumbers(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		var args []string
		for i := range c.Args {
			args = append(args, fmt.Sprintf("args[%d]", i))
		}
		tmpl, err := e.Template("{{ [value | ansible.utils." + c.Filter + "(" + strings.Join(args, ", ") + ")] }}")
		if err != nil {
			t.Fatal(err)
		}
		env := vars{"value": whole(c.Value), "args": whole(c.Args)}
		r, err := tmpl.Render(env)
		got, want := "", "an error"
		if err == nil {
			// Numbers that no int holds are texts.
			got = large.ReplaceAllString(value.PythonText(r.Value), "$1")
		}
		if !c.Error {
			want = large.ReplaceAllString(value.PythonText([]any{whole(c.Answer)}), "$1")
		}
		call, _ := json.Marshal([]any{c.Filter, c.Value, c.Args})
		reason, known := unlike[string(call)]
		switch same := got == want || err != nil && c.Error; {
		case !same && !known:
			t.Errorf("%s\n got %s (%v)\nwant %s", call, got, err, want)
		case same && known:
			t.Errorf("%s is as Ansible has it, and listed as different: %s", call, reason)
		}
	}
	if n < 1000 {
		t.Errorf("only %d cases", n)
	}
}

// whole makes whole numbers of those of JSON.
func whole(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := strconv.Atoi(v.String()); err == nil {
			return n
		}
		return v.String()
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = whole(item)
		}
		return list
	}
	return v
}

// unlike are calls that moon answers otherwise, by filter, value and arguments as JSON, and why.
var unlike = map[string]string{
	`["ipsubnet","192.168.144.16/28",["20",0]]`:               smaller,
	`["ipsubnet","192.168.144.16/28",["18",0]]`:               smaller,
	`["ipsubnet","2001:db8::/48",["20",0]]`:                   smaller,
	`["ipsubnet","2001:db8::/48",["18",0]]`:                   smaller,
	`["nthhost","10.0.0.1",[-3]]`:                             "there is none: false, as for all others that are not there",
	`["network_in_network","192.168.0.0/31",["192.168.0.1"]]`: "a network of two holds both",
	`["cidr_merge",["10.0.0.0/8","10.1.0.0/16"],["span"]]`:    "10.1.0.0/16 does not reach the end of 10.0.0.0/8",
	`["cidr_merge",["10.0.0.5/24"],[]]`:                       lone,
	`["cidr_merge",["10.0.0.5/24"],["merge"]]`:                lone,
	`["cidr_merge",["10.0.0.5/24"],["span"]]`:                 lone,
}

const (
	smaller = "no network has a larger one in it"
	lone    = "what is merged are networks, also if there is only one"
)

func decodeNumbers(data []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode(to)
}
