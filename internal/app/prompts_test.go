package app_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"moon/internal/app"
	"moon/plan"
	"moon/plan/planner"
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
	got, err := app.AnswersOn(tty, list, secretly)
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{"release": "1.4", "password": "s3cret", "region": "eu"}; !reflect.DeepEqual(got, want) {
		t.Errorf("answers %v", got)
	}
	want := "Which release? [1.4]: password: password (again): that is not the same; start again\npassword: password (again): Region: "
	if tty.String() != want {
		t.Errorf("asked %q", tty.String())
	}
	if _, err := app.AnswersOn(&typist{Reader: strings.NewReader("")}, list[2:], nil); err == nil {
		t.Error("the end of the input is an answer")
	}
}

func TestPromptsWithoutATerminal(t *testing.T) {
	got, err := app.Defaults([]plan.Prompt{{Name: "a", Default: "1"}})
	if err != nil || got["a"] != "1" {
		t.Errorf("%v, %v", got, err)
	}
	_, err = app.Defaults([]plan.Prompt{{Name: "a", Default: "1"}, {Name: "token", Text: "The token"}})
	var e *app.Exit
	if !errors.As(err, &e) || e.Code != app.ExitUsage || !strings.Contains(e.Message, "-e token=") || strings.Contains(e.Message, "-e a=") {
		t.Errorf("%v", err)
	}
}

// TestPasswordsOfVariables: nobody is asked before the run for a password that a host's variables have.
func TestPasswordsOfVariables(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"hosts":    "a ansible_connection=local ansible_become_password=sesame-of-a\nb ansible_connection=local\n",
		"site.yml": "- hosts: all\n  gather_facts: false\n  become: true\n  become_user: nobody\n  tasks:\n    - command: id\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, ds := planner.New(plan.Options{
		Path: filepath.Join(dir, "site.yml"), Dir: dir,
		Hosts: plan.HostSelection{Inventory: []string{filepath.Join(dir, "hosts")}},
	})
	if p == nil {
		t.Fatal(ds)
	}
	list := app.Becoming(p)
	if len(list) != 1 || len(list[0].Steps) != 1 || !strings.Contains(list[0].Steps[0], "step-0002") {
		t.Errorf("asked for %+v", list)
	}
}
