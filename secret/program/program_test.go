package program_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"moon/secret"
	"moon/secret/program"
)

func TestLearn(t *testing.T) {
	for _, c := range []struct{ format, text, want, hidden string }{
		{"", "correct horse\n\n", "correct horse", "correct horse"},
		{"line", "correct horse\nuser: ann\n", "correct horse", "correct horse"},
		{"text", "one line\nanother line\n", "one line\nanother line", "another line"},
		{"json", `{"db": {"password": "correct horse", "pin": 1234567}}`, "", "1234567"},
		{"yaml", "db:\n  password: correct horse\n", "", "correct horse"},
	} {
		set := secret.NewSet()
		request := program.Request{Command: []string{"pass", "show"}, Format: c.format}
		v, err := request.Learn(set, c.text)
		if err != nil {
			t.Errorf("%s: %s", c.format, err)
		}
		if text, isText := v.(string); c.want != "" && (!isText || text != c.want) {
			t.Errorf("%s: it is %q, and should be %q", c.format, v, c.want)
		}
		if !set.Has("a " + c.hidden + " b") {
			t.Errorf("%s: %q is not secret", c.format, c.hidden)
		}
		// A stored value finds its way back to the request.
		sealed, ok := set.Seal("a " + c.hidden)
		if !ok {
			t.Fatalf("%s: it comes from nowhere", c.format)
		}
		missing := secret.NewSet().Missing(sealed)
		if len(missing) != 1 {
			t.Fatalf("%s: missing %q", c.format, missing)
		}
		again, ok := program.ParseKey(missing[0])
		if !ok || again.Key() != request.Key() || strings.Contains(missing[0], c.hidden) {
			t.Errorf("%s: asked again as %q", c.format, missing[0])
		}
		other := secret.NewSet()
		if _, err := again.Learn(other, c.text); err != nil {
			t.Error(err)
		}
		if opened, ok := other.Open(sealed); !ok || opened != "a "+c.hidden {
			t.Errorf("%s: opened it is %q", c.format, opened)
		}
	}
}

func TestLearnRefuses(t *testing.T) {
	for _, c := range []struct{ format, text, want string }{
		{"", "\n", "it printed nothing"},
		{"json", "correct horse", "what it printed is not JSON"},
		{"yaml", "a: [correct", "what it printed is not YAML"},
		{"", "\xff\xfe", "it printed something that is not text"},
		{"", strings.Repeat("x", 2<<20), "it printed more than 1024 KiB"},
	} {
		_, err := program.Request{Command: []string{"x"}, Format: c.format}.Learn(secret.NewSet(), c.text)
		if err == nil || err.Error() != c.want {
			t.Errorf("%.20q: %v, and should be %s", c.text, err, c.want)
		}
	}
}

func TestASecretIsNotNamedByWhatHoldsAnother(t *testing.T) {
	set := secret.NewSet()
	set.Add("env:TOKEN", "t0ken-of-mine")
	if _, err := (program.Request{Command: []string{"vault", "t0ken-of-mine"}}).Learn(set, "correct horse"); err != nil {
		t.Fatal(err)
	}
	if _, ok := set.Seal("correct horse"); ok {
		t.Error("where it comes from would be stored with the token")
	}
}

func TestAskedOnce(t *testing.T) {
	var started atomic.Int32
	hold := make(chan struct{})
	asked := program.Asked{Run: func([]string, string) (string, error) {
		started.Add(1)
		<-hold
		return "correct horse", nil
	}}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if text, err := asked.Text([]string{"pass"}, "/"); err != nil || text != "correct horse" {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
	close(hold)
	all.Wait()
	if n := started.Load(); n != 1 {
		t.Errorf("it was started %d times", n)
	}
}

func TestAFailureIsAskedAgain(t *testing.T) {
	n := 0
	asked := program.Asked{Run: func([]string, string) (string, error) {
		n++
		if n == 1 {
			return "", errors.New("locked")
		}
		return "correct horse", nil
	}}
	if _, err := asked.Text([]string{"pass"}, "/"); err == nil {
		t.Error("the first did not fail")
	}
	if text, err := asked.Text([]string{"pass"}, "/"); err != nil || text != "correct horse" {
		t.Errorf("%q, %v", text, err)
	}
}
