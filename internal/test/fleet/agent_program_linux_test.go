package fleet

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// TestAgentProgram gives a host the program that is nothing but an agent: it is sent there instead of moon, and does all that moon does.
func TestAgentProgram(t *testing.T) {
	agents := t.TempDir()
	path := filepath.Join(agents, runtime.GOOS+"-"+runtime.GOARCH, "moon")
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", path, "./cmd/moon-agent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("MOON_AGENTS", agents)
	f := newFleet(t, 1)
	s := f.servers[0]
	f.write("files/small", "a small file\n")
	f.write("templates/t.j2", "{{ ansible_system }} {{ inventory_hostname }}\n")
	out := f.play(0, fmt.Sprintf(`
- hosts: web
  tasks:
    - copy: {src: small, dest: "~/small"}
    - template: {src: t.j2, dest: "~/made"}
    - shell: sleep 0.2; echo late >> %[1]s
      async: 30
      poll: 0
      register: job
    - async_status: {jid: "{{ job.ansible_job_id }}"}
      register: over
      until: over.finished
      retries: 100
      delay: 1
    - shell: readlink /proc/$PPID/exe; echo once >> %[1]s
      register: parent
    - slurp: {src: "~/small"}
      register: read
    - assert: {that: ["(read.content | b64decode) == 'a small file\\n'", "'moon' in parent.stdout"]}
`, filepath.Join(s.Home, "log")))
	f.recap(out, "web1 ok=8 changed=5")
	f.has(1, "log", "late\nonce\n")
	kept, err := filepath.Glob(s.Home + "/.cache/moon/*/moon")
	if err != nil || len(kept) != 1 {
		t.Fatalf("%q, %v", kept, err)
	}
	for _, two := range [][2]string{{kept[0], path}} {
		a, err := os.ReadFile(two[0])
		b, err2 := os.ReadFile(two[1])
		if err != nil || err2 != nil || string(a) != string(b) {
			t.Errorf("the host has another program: %d and %d bytes, %v, %v", len(a), len(b), err, err2)
		}
	}
}
