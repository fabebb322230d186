package feature

import (
	"fmt"
	"strings"
	"testing"

	"moon/internal/lsp/text"
)

// TestSurroundings reads what is around the mark | in texts.
func TestSurroundings(t *testing.T) {
	for in, want := range map[string]string{
		"- na|":                                           "- key= at=true na []",
		"- name: x\n  |":                                  "- key= at=true  [name]",
		"- name: x\n  |\n  when: y":                       "- key= at=true  [when name]",
		"- copy:\n    src: a\n    |":                      "- copy key= at=true  [src]",
		"- copy: {src: a, de|":                            "- copy key= at=true de [src]",
		"- copy: {src: a, force: |":                       "- copy key=force at=false  [src]",
		"- file:\n    state: |":                           "- file key=state at=false  []",
		"steps:\n- name: x\n  needs: [|":                  "steps - key=needs at=false  [name]",
		"steps:\n  - name: x\n    needs:\n    - |":        "steps - needs - key= at=true  []",
		"- hosts: a\n  tasks:\n    - block:\n        - |": "- tasks - block - key= at=true  []",
		"- hosts: a\n  tasks:\n    - name: x\n      copy:\n        src: y\n    - |":  "- tasks - key= at=true  []",
		"- hosts: a\n  tasks:\n  - name: x\n    copy:\n      src: y\n    no|tify: z": "- tasks - key=notify at=true no [copy name]",
		"- shell: echo {{ a| }}":              "- key=shell at=false a []",
		"vars:\n  a: 1\nsteps:\n  - print: |": "steps - key=print at=false  []",
		"- a: 1\n- b:\n    - c: 2\n      |":   "- b - key= at=true  [c]",
		"|":                                   " key= at=true  []",
	} {
		at := strings.IndexByte(in, '|')
		doc := text.New(in[:at]+in[at+1:], text.UTF8)
		s := surround(doc, at)
		got := fmt.Sprintf("%s key=%s at=%v %s %v", strings.Join(s.path, " "), s.key, s.at, s.prefix, s.siblings)
		if got != want {
			t.Errorf("%q:\n got %s\nwant %s", in, got, want)
		}
	}
}
