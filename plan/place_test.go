package plan_test

import (
	"reflect"
	"testing"

	"moon/plan"
	"moon/plan/bind"
)

// hostGiven are the results of a run in which the first step has given `host`.
type hostGiven struct{ noResults }

func (hostGiven) Registered(step int) (map[string]any, bool) {
	return map[string]any{"stdout": "db1"}, step == 0
}

// TestPlace says where a step runs before and after the step that gives what that depends on.
func TestPlace(t *testing.T) {
	dir := t.TempDir()
	p := planFiles(t, dir, map[string]string{"playbook.yml": `
- name: find the host
  shell: hostname
  register: host
- name: look
  shell: {cmd: pwd, chdir: "srv/{{ host.stdout }}"}
  env: {HOST: "{{ host.stdout }}", FIXED: "1"}
  become: true
  become_user: "{{ host.stdout }}"
- name: mistaken
  shell: "true"
  env: {A: "{{ 1 / (host.stdout | length - 3) }}", B: "2"}
  when: host.stdout == 'never'
`}, nil)
	before := bind.New(p, 1, noResults{}).Place()
	if want := []string{
		"HOST: `host` is not known before step-0001 «find the host»",
		"chdir: `host` is not known before step-0001 «find the host»",
		"become_user: `host` is not known before step-0001 «find the host»",
	}; !reflect.DeepEqual(before.Missing, want) {
		t.Errorf("missing %q, want %q", before.Missing, want)
	}
	if before.Cwd != dir || !reflect.DeepEqual(before.Env, map[string]string{"FIXED": "1"}) || before.Become != nil {
		t.Errorf("before: %+v", before)
	}
	after := bind.New(p, 1, hostGiven{}).Place()
	want := &bind.Place{Cwd: dir + "/srv/db1", Env: map[string]string{"HOST": "db1", "FIXED": "1"}, Become: &plan.Become{User: "db1", Method: after.Become.Method}}
	if !reflect.DeepEqual(after, want) {
		t.Errorf("after: %+v, want %+v", after, want)
	}
	wrong := bind.New(p, 2, hostGiven{}).Place()
	if len(wrong.Missing) != 1 || !reflect.DeepEqual(wrong.Env, map[string]string{"B": "2"}) {
		t.Errorf("with a mistake: %+v", wrong)
	}
}
