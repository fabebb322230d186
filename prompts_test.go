package main

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"moon/plan"
)

// typist is a terminal at which lines are typed.
type typist struct {
	io.Reader
	strings.Builder
}

func (t *typist) Read(p []byte) (int, error) { return t.Reader.Read(p) }

func TestPromptsOnATerminal(t *testing.T) {
	list := []plan.Prompt{
		{Name: "release", Text: "Which release?", Default: "1.4"},
		{Name: "password", Private: true, Confirm: true},
		{Name: "region", Text: "Region"},
	}
	tty := &typist{Reader: strings.NewReader("\neu\r\n")}
	typed := []string{"one", "two", "s3cret", "s3cret"}
	secretly := func(question string) (string, error) {
		tty.WriteString(question)
		answer := typed[0]
		typed = typed[1:]
		return answer, nil
	}
	got, err := answersOn(tty, list, secretly)
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{"release": "1.4", "password": "s3cret", "region": "eu"}; !reflect.DeepEqual(got, want) {
		t.Errorf("answers %v", got)
	}
	want := "Which release? [1.4]: password: password (once more): that is not the same; once more from the start\npassword: password (once more): Region: "
	if tty.String() != want {
		t.Errorf("asked %q", tty.String())
	}
	if _, err := answersOn(&typist{Reader: strings.NewReader("")}, list[2:], nil); err == nil {
		t.Error("the end of the input is an answer")
	}
}

func TestPromptsWithoutATerminal(t *testing.T) {
	got, err := defaults([]plan.Prompt{{Name: "a", Default: "1"}})
	if err != nil || got["a"] != "1" {
		t.Errorf("%v, %v", got, err)
	}
	_, err = defaults([]plan.Prompt{{Name: "a", Default: "1"}, {Name: "token", Text: "The token"}})
	var e *exit
	if !errors.As(err, &e) || e.code != exitUsage || !strings.Contains(e.message, "-e token=") || strings.Contains(e.message, "-e a=") {
		t.Errorf("%v", err)
	}
}
