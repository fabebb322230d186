package launch_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"moon/engine/history"
	"moon/events"
	"moon/internal/launch"
)

func TestChoices(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"site.yml":               "name: the shop\nsteps: []\n",
		"plays.yaml":             "- name: web\n  hosts: all\n- import_playbook: site.yml\n",
		"deep/db.yml":            "- hosts: db\n",
		"vars.yml":               "a: 1\n",
		"tasks.yml":              "- shell: x\n",
		"broken.yml":             "a: [\n",
		"empty.yml":              "",
		"roles/x/tasks/main.yml": "- hosts: all\n",
		".hidden.yml":            "steps: []\n",
		"a/b/c/far.yml":          "steps: []\n",
		"notes.txt":              "steps: []\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := time.Date(2026, 11, 2, 10, 0, 0, 0, time.Local)
	past := []history.Past{ // the latest first
		{ID: "5", Root: dir, Playbook: "site.yml", Live: true, Done: 1, Total: 4, Started: at},
		{ID: "4", Root: dir, Playbook: "site.yml", Outcome: events.RunFailed, Done: 2, Total: 4, Started: at, Ran: 2 * time.Second},
		{ID: "3", Root: dir, Playbook: "plays.yaml", Outcome: events.RunDone, Done: 4, Total: 4, Started: at, Ran: time.Second},
		{ID: "2", Root: dir, Playbook: "plays.yaml", Done: 1, Total: 4, Started: at}, // crashed, and done since
		{ID: "1", Root: "/elsewhere", Playbook: "x.yml", Done: 1, Total: 4, Started: at},
	}
	var got []string
	for _, c := range launch.Choices(dir, past) {
		got = append(got, strings.Join(append([]string{c.Name, c.About, c.Last}, c.Args...), "|"))
	}
	want := []string{
		"5|site.yml|running 1/4|attach|--tui|5",
		"plays.yaml|web, site.yml|2026-11-02 10:00  done  1.0s|tui|plays.yaml",
		"site.yml|the shop|2026-11-02 10:00  failed at 2/4  2.0s|tui|site.yml",
		"deep/db.yml|||tui|deep/db.yml",
		"4|site.yml|resume: 2026-11-02 10:00  failed at 2/4  2.0s|resume|4",
		"1|/elsewhere/x.yml|resume: 2026-11-02 10:00  died at 1/4  0ms|resume|1",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
