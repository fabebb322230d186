package tui

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"moon/tui/status"
)

const walkedPlays = `- name: Web
  hosts: web
  gather_facts: false
  tasks:
    - name: prepare
      command: echo {{ limit }}
      register: prepared
    - name: check the limit
      command: test {{ limit }} -lt 10
      changed_when: false
    - name: tell
      command: echo {{ inventory_hostname }} has {{ limit }}
      notify: reload
  handlers:
    - name: reload
      command: echo reload {{ inventory_hostname }}
- name: After
  hosts: web
  gather_facts: false
  tasks:
    - name: again
      command: echo {{ limit }} on {{ inventory_hostname }}
`

// TestWalkPlays steps through two plays over three hosts: a breakpoint on one host only, a value for that host, a retry, and on.
func TestWalkPlays(t *testing.T) {
	k := newWalk(t, "walk_plays", 120, 40)
	k.pace.gates, k.pace.takes = nil, nil
	k.write("site.yml", walkedPlays)
	k.write("hosts.ini", "[web]\nweb1 limit=5\nweb2 limit=20\nweb3 limit=7\n[web:vars]\nansible_connection=local\n")
	k.hosts = []string{filepath.Join(k.home, "shop/hosts.ini")}
	k.Begin()
	k.press("", "REVIEW", "15 steps", "3 hosts")
	k.find("check the limit")
	k.press("l", "web3")
	k.press("j j b", "●")
	k.press("A c", "PAUSED at breakpoint", "check the limit on web2")
	run := k.took.PlanFor(k.run.Digest)
	if run == nil {
		t.Fatal("the run has no plan")
	}
	k.press("c", "PAUSED on failure", "on web2")
	k.press("e", "( ) this host", "limit")
	k.press("backspace backspace 6 tab", "(•) this host")
	k.press("enter", "override", "limit")
	k.press("c", "DONE")
	k.press("q")
	report := k.leave()

	p := k.took.PlanFor(k.run.Digest)
	for i := range p.Steps {
		s := &p.Steps[i]
		if overridden := len(s.Overridden) > 0; overridden && s.Host != "web2" {
			t.Errorf("%s on %s has another value too", s.Name, s.Host)
		}
		if s.Host == "web2" && (s.Name == "check the limit" || s.Name == "again") && len(s.Overridden) == 0 {
			t.Errorf("%s on web2 has no other value", s.Name)
		}
		want := 1
		if s.Host == "web2" && s.Name != "reload" && s.Name != "again" {
			want = k.run.Steps[i].Attempt // these are tried again
		}
		if k.run.Steps[i].Attempt != want {
			t.Errorf("%s on %s was tried %d times", s.Name, s.Host, k.run.Steps[i].Attempt)
		}
	}
	if got, want := status.Recap(p, k.run.Steps), k.run.Result.Hosts; !slices.Equal(got, want) {
		t.Errorf("views count %v, the engine %v", got, want)
	}
	for _, text := range []string{"DONE (changed)", "web1     5        4", "web2     5        4", "limit 20", "on web2"} {
		if !strings.Contains(report, text) {
			t.Errorf("the report does not say %q:\n%s", text, report)
		}
	}
}
