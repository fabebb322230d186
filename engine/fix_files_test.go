package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/events"
	"moon/events/fact"
)

// Another value for a variable keeps approvals. An edit of a file that planning with it has read along is not approved.
func TestOtherValueDoesNotApproveEdits(t *testing.T) {
	for _, edited := range []string{"", "playbook.yml", "page.j2"} {
		dir := t.TempDir()
		write := func(name, text string) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		texts := map[string]string{
			"playbook.yml": "vars: {knob: 1}\nsteps:\n  - template: {src: page.j2, dest: " + dir + "/page}\n  - shell: one {{ knob }}\n",
			"page.j2":      "page one {{ knob }}\n",
		}
		for name, text := range texts {
			write(name, text)
		}
		p, g := buildAt(t, filepath.Join(dir, "playbook.yml"))
		f := &fake{}
		s := begin(t, p, g, f, fact.Options{Review: true})
		w := watching(t, s, false)
		send := func(c events.Command) { s.Send(events.Order{Actor: "test", Command: c}) }
		w.until("review", func() bool { return w.run.Phase == events.Review && len(w.run.Steps) == 2 })
		send(events.Approve{Range: events.Range{From: 0, To: 2}, Digest: p.Digest})
		want := 2
		if edited != "" {
			write(edited, strings.ReplaceAll(texts[edited], "one", "two"))
			want = 0 // also of what only the value has changed: it cannot be told apart from the edit
		}
		send(events.Fix{Values: []events.Override{{Name: "knob", Value: "2"}}})
		send(events.Continue{})
		w.until("an approval, or the end", func() bool {
			return w.run.Phase == events.Done || w.run.Phase == events.Paused && w.run.Pause.Reason == events.PauseUndecided
		})
		if w.run.Phase == events.Paused {
			send(events.Stop{How: events.StopDrain})
		}
		w.done()
		if len(f.order) != want {
			t.Errorf("edited %q: ran %q", edited, f.order)
		}
	}
}
