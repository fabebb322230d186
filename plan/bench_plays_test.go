package plan_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"moon/plan"
	"moon/plan/planner"
)

// fleet writes a playbook of so many tasks for so many hosts, as people have them: a role with templates, conditions upon facts
// and groups, a block, a handler, results that other tasks need. It gives the options to plan it.
func fleet(tb testing.TB, tasks, hosts int) plan.Options {
	tb.Helper()
	var site strings.Builder
	site.WriteString("- hosts: all\n  vars: {release: 7, root: \"/srv/{{ app }}\"}\n  handlers:\n    - name: restart\n      service: {name: app, state: restarted}\n  tasks:\n")
	kinds := []string{
		"command: /bin/true {{ inventory_hostname }}\n      changed_when: false",
		"copy: {content: \"{{ root }} {{ release }}\", dest: \"{{ root }}/f%[1]d\"}\n      notify: restart",
		"template: {src: app.j2, dest: \"/etc/app%[1]d\", mode: '0644'}\n      when: ansible_os_family == 'Debian'",
		"file: {path: \"{{ root }}/d%[1]d\", state: directory, mode: '0755'}",
		"stat: {path: /etc/hosts}\n      register: r%[1]d",
		"debug: {msg: \"{{ ansible_hostname }} of {{ groups['web'] | length }} in {{ rack }}\"}",
		"lineinfile: {path: /etc/app, line: \"rack={{ rack }}\"}\n      become: true\n      tags: [config]",
		"shell: echo {{ item }}\n      loop: [one]\n      when: \"'web' in group_names\"",
	}
	for i := range tasks {
		fmt.Fprintf(&site, "    - name: task %d\n      "+strings.ReplaceAll(kinds[i%len(kinds)], "%[1]d", fmt.Sprint(i))+"\n", i)
	}
	files := map[string]string{
		"site.yml":              site.String(),
		"templates/app.j2":      "{{ rack }} {{ release }}\n",
		"hosts.ini":             fmt.Sprintf("[web]\nh[0001:%04d] ansible_user=deploy\n", hosts),
		"group_vars/all.yml":    "app: shop\nrack: none\n",
		"group_vars/web.yml":    "rack: \"r{{ inventory_hostname[1:3] }}\"\n",
		"host_vars/h0001.yml":   "rack: first\n",
		"host_vars/h0002/a.yml": "rack: second\n",
	}
	dir := written(tb, files)
	facts := map[string]any{"os_family": "Debian", "hostname": "h", "distribution": "Debian"}
	return plan.Options{
		Path: filepath.Join(dir, "site.yml"), Dir: dir, Hosts: plan.HostSelection{Inventory: []string{filepath.Join(dir, "hosts.ini")}},
		Facts: plan.KnownFacts{Here: map[string]any{"os": "linux"}},
		Outside: plan.Outside{Gather: func(targets []plan.Target) []plan.Gathered {
			got := make([]plan.Gathered, len(targets))
			for i := range got {
				got[i].Facts = facts
			}
			return got
		}},
	}
}

// BenchmarkFleet plans 100 tasks on 100 and on 1,000 hosts; the ratio says whether it grows with their product.
func BenchmarkFleet(b *testing.B) {
	for _, hosts := range []int{100, 1_000} {
		b.Run(fmt.Sprint(hosts), func(b *testing.B) {
			o := fleet(b, 100, hosts)
			best := time.Duration(1 << 62)
			for b.Loop() {
				runtime.GC() // what the round before has left is not this one's
				start := time.Now()
				p, ds := planner.New(o)
				best = min(best, time.Since(start))
				if p == nil || len(p.Steps) < 100*hosts {
					b.Fatal(ds)
				}
			}
			b.ReportMetric(float64(best.Microseconds())/1000, "best-ms")
			b.ReportMetric(float64(best.Nanoseconds())/float64(100*hosts), "ns/step")
		})
	}
}
