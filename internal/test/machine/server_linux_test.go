package machine

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/events"
)

// TestServer sets a machine up for real: a package, a user, directories, templates, a daemon that is waited for. What a dry
// run predicts is what the run does, and a second run changes nothing. The machine is a scratch one.
func TestServer(t *testing.T) {
	t.Parallel()
	s := newScratch(t, true)
	const from = "testdata/playbooks/server"
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		s.write(t, strings.TrimPrefix(path, from+"/"), data, 0o644)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s.must(t, "apt-get update -qq && ! id site") // otherwise newer lists may bring other versions than predicted
	before := s.changes(t)
	predicted := s.steps(t, "playbook.yml", "--check --diff")
	if after := s.changes(t); len(after) != len(before) {
		t.Errorf("the dry run changed %s", differing(before, after))
	}
	did := s.steps(t, "playbook.yml", "--diff")
	compareSteps(t, "the dry run before", predicted, did)
	for i, d := range did {
		if predicted[i].Diff != nil && predicted[i].Diff.Kind == events.ChangeUnknown && d.Diff != nil {
			t.Errorf("%s was not predicted: %+v", d.Name, *predicted[i].Diff)
		}
	}
	s.must(t, `set -e
test "$(stat -c '%a %U %G' /srv/site/log)" = '750 site site'
test "$(stat -c '%a %U' /srv/site/nginx.conf)" = '640 root'
test "$(stat -c '%a' /etc/site.sudoers)" = 440
id -u site && pgrep -F /run/site.pid nginx
moon state playbook.yml | grep -q 'package .*nginx-light'`)
	before = s.changes(t)
	for _, done := range s.steps(t, "playbook.yml", "--diff") {
		if done.Changed {
			t.Errorf("the second run changed %s again: %+v", done.Name, done.Diff)
		}
	}
	for name, was := range s.changes(t) {
		if before[name] != was && !strings.HasPrefix(name, "/srv/site/log/") && !strings.HasPrefix(name, "/var/log/") {
			t.Errorf("the second run changed %s", name)
		}
	}
}
