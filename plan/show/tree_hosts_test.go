package show_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/plan"
	"moon/plan/hostnames"
	"moon/plan/planner"
	"moon/plan/show"
)

// planHosts plans files that are written for it; site.yml is the playbook, and hosts.ini the inventory.
func planHosts(t *testing.T, files map[string]string) *plan.Plan {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, ds := planner.New(plan.Options{
		Path: "site.yml", Dir: dir, Facts: plan.KnownFacts{Here: map[string]any{}},
		Hosts: plan.HostSelection{Inventory: []string{"hosts.ini"}},
	})
	if p == nil || ds.HasErrors() {
		t.Fatalf("%+v", ds)
	}
	return p
}

func treeOf(t *testing.T, p *plan.Plan) string {
	t.Helper()
	var b strings.Builder
	if err := show.WriteTree(&b, p, 0); err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(b.String(), "\n\n")
	return text
}

// TestAlikeHosts prints of hosts that do the same one, with its own name and its own steps left open; what is another value stands by itself.
func TestAlikeHosts(t *testing.T) {
	p := planHosts(t, map[string]string{
		"hosts.ini": "[web]\nweb[01:20] port=80\nmail port=25\n[all:vars]\nansible_connection=local\n",
		"site.yml": `- hosts: web
  gather_facts: false
  tasks:
    - {name: ask, command: "cat /srv/{{ inventory_hostname }}", register: asked, changed_when: false}
    - {name: listen, command: "listen {{ port }}", when: asked.rc == 0, notify: again}
    - {name: each, command: "echo {{ item }}", loop: [x, y]}
    - {name: once, command: tell, run_once: true, delegate_to: mail}
  handlers:
    - {name: again, command: restart}
`,
	})
	want := `  play web  on 21 hosts: web[01:20], mail                            site.yml:1
    step-0001–0021  web[01:20], mail (21 hosts)  ask  command: cat /srv/<host>  site.yml:4
               registers asked
    task listen  on 21 hosts                                         site.yml:5
      step-0022–0041  web[01:20] (20 hosts)  listen  command: listen 80  site.yml:5
                 runs only if asked.rc == 0 (known after step-0001–0020 «ask»)
                 notifies again
      step-0042  mail  listen  command: listen 25                    site.yml:5
                 runs only if asked.rc == 0 (known after step-0021 «ask»)
                 notifies again
    loop each × 2 over list of 2                                     site.yml:6
      step-0043…  web[01:20], mail (21 hosts)  each (x)  command: echo x  site.yml:6
      step-0044…  web[01:20], mail (21 hosts)  each (y)  command: echo y  site.yml:6
    task once  on 21 hosts                                           site.yml:7
      step-0085–0104  web[01:20] (20 hosts) -> mail  once  command: tell  site.yml:7
                 runs once, on the first host that can
      step-0105  mail  once  command: tell                           site.yml:7
                 runs once, on the first host that can
    handlers                                                         site.yml:9
      step-0106–0126  web[01:20], mail (21 hosts)  again  command: restart  site.yml:9
                 if step-0022–0042 «listen» changes something
`
	got := treeOf(t, p)
	got, _, _ = strings.Cut(got, "\n\n")
	if squeeze(got+"\n") != squeeze(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// squeeze leaves out how wide columns are, which the longest line decides.
func squeeze(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString(strings.Join(strings.Fields(line), " ") + "\n")
	}
	return b.String()
}

// A thousand hosts with a value each are not a thousand lines.
func TestManyUnlikeHosts(t *testing.T) {
	hosts := "[all:vars]\nansible_connection=local\n[web]\n"
	for i := range 1000 {
		hosts += fmt.Sprintf("web%d port=%d\n", i, 5000+i*i)
	}
	p := planHosts(t, map[string]string{
		"hosts.ini": hosts,
		"site.yml":  "- hosts: web\n  gather_facts: false\n  tasks:\n    - command: listen {{ port }}\n    - command: the same\n",
	})
	got := treeOf(t, p)
	if n := strings.Count(got, "\n"); n > 20 {
		t.Errorf("%d lines", n)
	}
	for _, want := range []string{
		"on 1000 hosts: web[0:999]", "step-0011  web10  command: listen 5100", "and 989 hosts more",
		"--format flat", "step-1001–2000  web[0:999] (1000 hosts)  command: the same",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not say %q:\n%s", want, got)
		}
	}
}

// Batches that are the same but for their hosts are one, whatever the size of the last.
func TestAlikeBatches(t *testing.T) {
	p := planHosts(t, map[string]string{
		"hosts.ini": "[web]\nweb[1:7] port=80\nweb8 port=81\nweb9 port=80\n[all:vars]\nansible_connection=local\n",
		"site.yml": `- hosts: web
  gather_facts: false
  serial: 2
  tasks:
    - {name: ask, command: "cat /srv/{{ inventory_hostname }}", register: asked, loop: [x, y]}
    - {name: listen, command: "listen {{ port }}", when: asked is succeeded}
`,
	})
	want := `  play web  on 9 hosts: web[1:9]  site.yml:1
    batch 1 of 5  on web1, web2  site.yml:1
      loop ask × 2 over list of 2  site.yml:5
        step-0001+0003  web1, web2  ask (x)  command: cat /srv/<host>  site.yml:5
                   registers asked
        step-0002+0004  web1, web2  ask (y)  command: cat /srv/<host>  site.yml:5
                   registers asked
      step-0005–0006  web1, web2  listen  command: listen 80  site.yml:6
                 runs only if asked is succeeded (known after step-0001+0003 «ask (x)», step-0002+0004 «ask (y)»)
    batches 2–3 of 5  on web[3:6], as batch 1: step-0007–0018  site.yml:1
    batch 4 of 5  on web7, web8  site.yml:1
`
	if got := squeeze(treeOf(t, p)); !strings.HasPrefix(got, strings.TrimSuffix(squeeze(want), "\n")) ||
		strings.Count(got, "batch 5 of 5 on web9 site.yml:1") != 1 {
		t.Errorf("got\n%s\nwant\n%s", treeOf(t, p), want)
	}
}

func TestHostsName(t *testing.T) {
	for want, hosts := range map[string]string{
		"web1":                             "web1",
		"web1, web2":                       "web1 web2",
		"web[1:3]":                         "web1 web2 web3",
		"web[08:12].example.org (5 hosts)": "web08.example.org web09.example.org web10.example.org web11.example.org web12.example.org",
		"a, b, c, d":                       "a b c d",
		"a, b, c and 2 more (5 hosts)":     "a b c d e",
		"web[1:3], db9, db1 and 2 more (7 hosts)": "web1 web2 web3 db9 db1 db7 db3",
	} {
		if got := hostnames.List(strings.Fields(hosts)); got != want {
			t.Errorf("%s: %s, want %s", hosts, got, want)
		}
	}
}
