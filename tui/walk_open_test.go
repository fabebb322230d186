package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const walkedOpen = `vars: {most: 1}
steps:
  - name: list versions
    shell: printf '1\n2\n3\n4\n5\n'
    register: versions
  - name: check {{ item }}
    shell: echo "check {{ item }} {{ most }}" >> log; test {{ item }} != 4 || test {{ most }} = 9
    loop: "{{ versions.stdout_lines }}"
    register: done
  - name: count
    shell: echo "{{ done.results | length }} rounds" >> log
`

// TestWalkOpenLoop steps through a loop that appears in the run: it stops before a round, excludes one, gives another a new value, and
// continues. What is on the screen stays where it is when the rounds come.
func TestWalkOpenLoop(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {80, 24}, {60, 20}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			k := newWalk(t, "walk_open", size[0], size[1])
			k.pace.gates, k.pace.takes = nil, nil
			k.write("site.yml", walkedOpen)
			k.Begin()
			k.press("", "REVIEW", "check {{ item }}", "× ?")
			k.find("check")
			k.press("A s", "~ ├   list versions")
			k.press("s", "✓ ├   check {{ item }}", "5 items", "check 1")
			k.press("s", "~ │ ├   check 1", "❯")
			// The rounds are new: what is approved before them stays so, and they are not.
			k.press("c", "PAUSED: not approved")
			k.find("check 3")
			k.press("x", "⊘")
			k.find("check 5")
			k.press("b", "●")
			k.press("A c", "What now?")
			k.press("e", "Fix")
			k.press("down backspace 9", "was 1")
			k.press("enter", "attempt 2")
			k.press("c", "PAUSED at breakpoint")
			k.press("c", "DONE")
			k.press("q")
			_ = k.leave()
			log, err := os.ReadFile(filepath.Join(k.home, "shop/log"))
			const want = "check 1 1\ncheck 2 1\ncheck 4 1\ncheck 4 9\ncheck 5 1\n5 rounds\n"
			if err != nil || string(log) != want {
				t.Errorf("the steps have written %q, want %q; %v", log, want, err)
			}
		})
	}
}

const walkedHosts = `- hosts: localhost
  gather_facts: false
  tasks:
    - name: find machines
      shell: printf 'n1\nn2\nn3\n'
      args: {chdir: "{{ playbook_dir }}"}
      register: found
    - name: add {{ item }}
      add_host: {name: "{{ item }}", groups: fresh, ansible_connection: local}
      loop: "{{ found.stdout_lines }}"
- hosts: fresh
  gather_facts: false
  tasks:
    - name: configure
      shell: echo {{ inventory_hostname }} >> log
      args: {chdir: "{{ playbook_dir }}"}
`

// TestWalkAddedHosts adds hosts in the run. The play that gets them is a row with a question mark until they are there; then they are new
// and not approved. One of them is excluded, the others are approved.
func TestWalkAddedHosts(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {80, 24}, {60, 20}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			k := newWalk(t, "walk_hosts", size[0], size[1])
			k.pace.gates, k.pace.takes, k.hosts = nil, nil, []string{"localhost,"}
			k.write("site.yml", walkedHosts)
			k.Begin()
			k.press("", "REVIEW", "fresh", "× ?")
			k.screen(fmt.Sprintf("1-open-%d", size[0]))
			k.press("A c", "PAUSED", "add n1", "3 hosts")
			k.screen(fmt.Sprintf("2-added-%d", size[0]))
			k.find("configure")
			k.press("down down x", "⊘")
			k.press("A", "⊘")
			k.screen(fmt.Sprintf("3-excluded-%d", size[0]))
			k.press("c", "DONE")
			k.press("q")
			_ = k.leave()
			log, err := os.ReadFile(filepath.Join(k.home, "shop/log"))
			if got := strings.Fields(string(log)); err != nil || len(got) != 2 || !slices.Contains(got, "n1") || !slices.Contains(got, "n3") {
				t.Errorf("the steps have written %q; %v", log, err)
			}
		})
	}
}
