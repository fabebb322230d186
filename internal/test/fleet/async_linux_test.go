package fleet

import (
	"path/filepath"
	"testing"
)

// TestFleetAsync keeps jobs on their hosts: the agent that waits for one is killed, and the job is found over a new connection and done
// once; one that is not waited for ends after moon has.
func TestFleetAsync(t *testing.T) {
	f := newFleet(t, 2)
	out := f.play(0, `
- hosts: web
  gather_facts: false
  tasks:
    - shell: echo $PPID >agent
    - shell: echo begun >>log; kill -9 $(cat agent); sleep 0.5; echo ended >>log; echo found it
      async: 60
      poll: 1
      register: job
    - copy: {dest: said, content: "{{ job.stdout }}"}
    - shell: while ! test -e end; do sleep 0.1; done; echo alone >left
      async: 60
      poll: 0
`)
	f.recap(out, "web1 ok=4 changed=4", "web2 ok=4 changed=4")
	for host, s := range f.servers {
		f.has(host+1, "log", "begun\nended\n")
		f.has(host+1, "said", "found it")
		f.hasNot(host+1, "left")
		f.put(s, "end", "")
		appears(t, filepath.Join(s.Home, "left"))
	}
}
