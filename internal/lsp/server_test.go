package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"moon/internal/lsp/wire"
	"moon/plan"
	"moon/secret"
)

// client speaks the protocol to a server over pipes.
type client struct {
	t    *testing.T
	dir  string
	conn *wire.Conn
	logs *lockedBuffer
	ids  int
	left chan error
	uris map[string]string // by the names of files

	mu      sync.Mutex
	answers map[string]chan *wire.Message
	said    map[string]chan wire.Diagnostics // by URI
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

type object = map[string]any

// planOf is how the tests plan: nothing is asked, as in the command.
func planOf(path string) (plan.Options, error) {
	if strings.HasSuffix(path, "panics.yml") {
		panic("on purpose")
	}
	inventory := "web1,web2,"
	if strings.HasSuffix(path, "inventory.yml") {
		inventory = filepath.Join(filepath.Dir(path), "hosts")
	}
	return plan.Options{
		Path: path, Given: path, Dir: filepath.Dir(path), Home: "/nowhere", Secrets: secret.NewSet(),
		Hosts: plan.HostSelection{NoConnect: true, NoProbe: true, Inventory: []string{inventory}},
		Facts: plan.KnownFacts{Here: object{"os": "linux"}},
	}, nil
}

// start makes the files and a server whose client has done its greetings.
func start(t *testing.T, files map[string]string, encodings ...string) *client {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := connect(t, dir)
	answer := c.ask("initialize", object{
		"rootUri": "file://" + dir, "capabilities": object{"general": object{"positionEncodings": encodings}},
	})
	var caps struct {
		Capabilities struct{ PositionEncoding string }
	}
	c.read(answer, &caps)
	want := "utf-16"
	if len(encodings) > 0 {
		want = encodings[0]
	}
	if caps.Capabilities.PositionEncoding != want {
		t.Fatalf("the encoding is %s", caps.Capabilities.PositionEncoding)
	}
	c.notify("initialized", object{})
	return c
}

func connect(t *testing.T, dir string) *client {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &client{
		t: t, dir: dir, conn: wire.NewConn(outR, inW), logs: &lockedBuffer{}, left: make(chan error, 1), uris: map[string]string{},
		answers: map[string]chan *wire.Message{}, said: map[string]chan wire.Diagnostics{},
	}
	go func() {
		c.left <- Serve(context.Background(), inR, outW, c.logs, Options{Plan: planOf, Quiet: time.Millisecond})
		outW.Close()
		inR.Close()
	}()
	go c.listen()
	t.Cleanup(func() { inW.Close() })
	return c
}

// listen hands out what the server says.
func (c *client) listen() {
	for {
		m, err := c.conn.Read()
		if err != nil {
			return
		}
		if m.Method == "textDocument/publishDiagnostics" {
			var d wire.Diagnostics
			if json.Unmarshal(m.Params, &d) == nil {
				c.diagnosticsOf(d.URI) <- d
			}
			continue
		}
		if m.Method == "" {
			c.answerOf(string(m.ID)) <- m
		}
	}
}

func (c *client) diagnosticsOf(uri string) chan wire.Diagnostics {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.said[uri] == nil {
		c.said[uri] = make(chan wire.Diagnostics, 1000)
	}
	return c.said[uri]
}

func (c *client) answerOf(id string) chan *wire.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answers[id] == nil {
		c.answers[id] = make(chan *wire.Message, 1)
	}
	return c.answers[id]
}

func (c *client) notify(method string, params any) {
	if err := c.conn.Notify(nil, method, params); err != nil {
		c.t.Error(err)
	}
}

func (c *client) send(method string, params any) string {
	c.ids++
	if err := c.conn.Notify(c.ids, method, params); err != nil {
		c.t.Error(err)
	}
	return fmt.Sprint(c.ids)
}

func (c *client) ask(method string, params any) *wire.Message {
	c.t.Helper()
	return c.wait(c.send(method, params))
}

func (c *client) wait(id string) *wire.Message {
	c.t.Helper()
	select {
	case m := <-c.answerOf(id):
		return m
	case <-time.After(60 * time.Second):
		c.t.Fatalf("no answer to %s\n%s", id, c.logs.String())
		return nil
	}
}

func (c *client) read(m *wire.Message, into any) {
	c.t.Helper()
	if m.Error != nil {
		c.t.Fatalf("%d: %s", m.Error.Code, m.Error.Message)
	}
	if err := json.Unmarshal(m.Result, into); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) uri(name string) string { return "file://" + filepath.Join(c.dir, name) }

// open opens a file with a text, of which | marks the place that is asked about.
func (c *client) open(name, text string) object {
	before, after, _ := strings.Cut(text, "|")
	c.notify("textDocument/didOpen", object{"textDocument": object{"uri": c.uri(name), "version": 1, "languageId": "yaml", "text": before + after}})
	return c.at(name, strings.Count(before, "\n"), utf16Len(before[strings.LastIndexByte(before, '\n')+1:]))
}

func utf16Len(s string) (n int) {
	for _, r := range s {
		if n++; r > 0xffff {
			n++
		}
	}
	return n
}

func (c *client) at(name string, line, character int) object {
	return object{"textDocument": object{"uri": c.uri(name)}, "position": wire.Position{Line: line, Character: character}}
}

func (c *client) change(name string, version int, text string) {
	c.notify("textDocument/didChange", object{
		"textDocument": object{"uri": c.uri(name), "version": version}, "contentChanges": []any{object{"text": text}},
	})
}

// diagnostics waits for those of a version, as "line:from-to severity message".
func (c *client) diagnostics(name string, version int) (list []string) {
	c.t.Helper()
	over := time.After(60 * time.Second)
	for {
		select {
		case d := <-c.diagnosticsOf(c.uri(name)):
			if d.Version != nil && *d.Version != version {
				continue
			}
			for _, one := range d.List {
				list = append(list, fmt.Sprintf("%s %d %s", ranges(one.Range), one.Severity, one.Message))
			}
			return list
		case <-over:
			c.t.Fatalf("no diagnostics of %s\n%s", name, c.logs.String())
		}
	}
}

func ranges(r wire.Range) string {
	if r.Start.Line == r.End.Line {
		return fmt.Sprintf("%d:%d-%d", r.Start.Line, r.Start.Character, r.End.Character)
	}
	return fmt.Sprintf("%d:%d-%d:%d", r.Start.Line, r.Start.Character, r.End.Line, r.End.Character)
}

// locations are the answer of a definition, as "file line:from-to".
func (c *client) locations(m *wire.Message) (list []string) {
	c.t.Helper()
	var found []wire.Location
	c.read(m, &found)
	for _, one := range found {
		name, _ := strings.CutPrefix(one.URI, "file://"+c.dir+"/")
		list = append(list, name+" "+ranges(one.Range))
	}
	return list
}

func (c *client) hover(at object) string {
	c.t.Helper()
	var h *wire.Hover
	c.read(c.ask("textDocument/hover", at), &h)
	if h == nil {
		return ""
	}
	return h.Contents.Value
}

func (c *client) labels(at object) (list []string) {
	c.t.Helper()
	var items wire.Items
	c.read(c.ask("textDocument/completion", at), &items)
	for _, i := range items.Items {
		list = append(list, i.Label)
	}
	return list
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	g, w := fmt.Sprintf("%q", got), fmt.Sprintf("%q", want)
	if g != w {
		t.Errorf("%s:\n got %s\nwant %s", what, g, w)
	}
}

func TestDiagnostics(t *testing.T) {
	c := start(t, map[string]string{"main.yml": "- shell: x\n"})
	c.open("main.yml", "- name: 𝄞\n  shel: echo\n")
	equal(t, "a misspelt action", c.diagnostics("main.yml", 1), []string{"1:2-6 1 unknown action or key `shel`\nhint: did you mean `shell`?"})
	// What is not saved counts, also that of a file that is included.
	c.change("main.yml", 2, "- include: more.yml\n- print: '{{ 𝄞' \n")
	if list := c.diagnostics("main.yml", 2); len(list) != 2 || !strings.Contains(list[0], "no such file: more.yml") {
		t.Errorf("%q", list)
	}
	c.change("main.yml", 3, "- include: more.yml\n")
	c.diagnostics("main.yml", 3)
	c.open("more.yml", "- shell: echo {{ nix }}\n")
	if list := c.diagnostics("more.yml", 1); len(list) != 1 || !strings.HasPrefix(list[0], "0:17-20 1 ") || !strings.Contains(list[0], "nix") {
		t.Errorf("%q", list)
	}
	equal(t, "with the file that is not on the disk", c.diagnostics("main.yml", 3), []string(nil))
	c.change("more.yml", 2, "- shell: echo\n")
	equal(t, "fixed", c.diagnostics("more.yml", 2), []string(nil))
	// Closed, the file is not there any more.
	c.notify("textDocument/didClose", object{"textDocument": object{"uri": c.uri("more.yml")}})
	if list := c.diagnostics("main.yml", 3); len(list) != 1 {
		if list = c.diagnostics("main.yml", 3); len(list) != 1 {
			t.Errorf("%q", list)
		}
	}
}

// TestEncodings has a place behind a character outside the basic plane, in each unit that there is.
func TestEncodings(t *testing.T) {
	for encoding, want := range map[string]string{"utf-16": "0:16-19", "utf-8": "0:18-21", "utf-32": "0:15-18"} {
		c := start(t, nil, encoding)
		c.open("main.yml", "- print: '𝄞 {{ nix }}'\n")
		if list := c.diagnostics("main.yml", 1); len(list) != 1 || !strings.HasPrefix(list[0], want+" ") {
			t.Errorf("%s: %q; want it at %s", encoding, list, want)
		}
	}
}

func TestFixes(t *testing.T) {
	c := start(t, nil)
	at := c.open("main.yml", "- shell: echo\n  regster: x\n")
	var actions []wire.CodeAction
	c.read(c.ask("textDocument/codeAction", object{
		"textDocument": at["textDocument"], "range": wire.Range{Start: wire.Position{Line: 1}, End: wire.Position{Line: 1}}, "context": object{"diagnostics": []any{}},
	}), &actions)
	if len(actions) != 1 || actions[0].Title != "Change to `register`" || actions[0].Kind != "quickfix" {
		t.Fatalf("%+v", actions)
	}
	edit := actions[0].Edit.Changes[c.uri("main.yml")]
	if len(edit) != 1 || ranges(edit[0].Range) != "1:2-9" || edit[0].NewText != "register" {
		t.Errorf("%+v", edit)
	}
	c.read(c.ask("textDocument/codeAction", object{
		"textDocument": at["textDocument"], "range": wire.Range{}, "context": object{"diagnostics": []any{}},
	}), &actions)
	if len(actions) != 0 {
		t.Errorf("on another line: %+v", actions)
	}
}

func TestOutline(t *testing.T) {
	c := start(t, nil)
	at := c.open("main.yml", "vars: {who: you}\nsteps:\n  - name: greet {{ who }}\n    shell: echo\n  - name: all\n    block:\n      - name: one {{ item }}\n        shell: echo\n        with_items: [a, b]\n")
	show := func() string {
		var list []*wire.Symbol
		c.read(c.ask("textDocument/documentSymbol", at), &list)
		var b strings.Builder
		var walk func(list []*wire.Symbol, depth int)
		walk = func(list []*wire.Symbol, depth int) {
			for _, s := range list {
				fmt.Fprintf(&b, "%s%s (%s) %d %s\n", strings.Repeat("  ", depth), s.Name, s.Detail, s.Kind, ranges(s.Range))
				walk(s.Children, depth+1)
			}
		}
		walk(list, 0)
		return b.String()
	}
	want := "greet you (shell) 12 2:4-3:15\nall (block) 3 4:4-8:26\n  one a … (shell × 2) 12 6:8-8:26\n"
	if got := show(); got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
	// Without a plan it is what is written.
	d := start(t, nil)
	at = d.open("main.yml", "- name: greet\n  shell: echo {{ nix }}\n- block:\n    - print: x\n")
	c = d
	if got, want := show(), "greet (shell) 12 0:2-1:23\nblock (block) 3 2:2-3:14\n  print (print) 12 3:6-14\n"; got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
}

// site is a playbook of plays with a role.
var site = map[string]string{
	"site.yml":                    "- hosts: all\n  vars:\n    port: 80\n  roles: [web]\n  tasks:\n    - import_tasks: more.yml\n    - name: show\n      debug: {msg: '{{ port }} {{ level }}'}\n      notify: restart it\n",
	"more.yml":                    "- name: more\n  debug: {msg: '{{ level }}'}\n",
	"roles/web/tasks/main.yml":    "- name: conf\n  template: {src: conf.j2, dest: /tmp/conf}\n",
	"roles/web/handlers/main.yml": "- name: restart it\n  debug: {msg: x}\n",
	"roles/web/defaults/main.yml": "level: 3\n",
	"roles/web/templates/conf.j2": "port {{ port }}\n",
}

func TestDefinitions(t *testing.T) {
	c := start(t, site)
	text := site["site.yml"]
	for mark, want := range map[string][]string{
		"[we":               {"roles/web/tasks/main.yml 0:0-0"},
		"import_tasks: mo":  {"more.yml 0:0-0"},
		"msg: '{{ po":       {"site.yml 2:4-8"},
		"{{ port }} {{ lev": {"roles/web/defaults/main.yml 0:0-5"},
		"notify: rest":      {"roles/web/handlers/main.yml 0:8-18"},
		"- hosts: a":        {},
	} {
		at := strings.Index(text, mark) + len(mark)
		equal(t, mark, c.locations(c.ask("textDocument/definition", c.open("site.yml", text[:at]+"|"+text[at:]))), want)
	}
	// From a file of the role, whose playbook is not open.
	d := start(t, site)
	equal(t, "template", d.locations(d.ask("textDocument/definition", d.open("roles/web/tasks/main.yml", "- name: conf\n  template: {src: conf|.j2, dest: /tmp/conf}\n"))),
		[]string{"roles/web/templates/conf.j2 0:0-0"})
	equal(t, "in a template", d.locations(d.ask("textDocument/definition", d.open("roles/web/templates/conf.j2", "port {{ po|rt }}\n"))), []string{"site.yml 2:4-8"})
	e := start(t, nil)
	equal(t, "needs", e.locations(e.ask("textDocument/definition", e.open("main.yml", "- {id: first, shell: x}\n- {needs: [fi|rst], shell: y}\n"))),
		[]string{"main.yml 0:7-12"})
	// Broken YAML leaves what was known before.
	at := e.at("main.yml", 1, 11)
	e.change("main.yml", 2, "- {id: first, shell: x}\n- {needs: [first], shell: y\n")
	equal(t, "broken", e.locations(e.ask("textDocument/definition", at)), []string{"main.yml 0:7-12"})
}

func TestHover(t *testing.T) {
	c := start(t, nil)
	text := "vars:\n  who: you\n  token: hunter2hunter2\nsteps:\n  - name: greet\n    shell: echo {{ who }}\n    register: out\n    retries: 2\n  - copy:\n      dest: /tmp/{{ who }}\n      content: \"{{ out.stdout }}\"\n"
	for mark, want := range map[string]string{
		"echo {{ wh":  "variable `who`\n\nIn the plan:\n\n`you` — vars, main.yml:2",
		"retr":        "`retries`: further attempts after the first; 3 makes up to four attempts",
		"\n      des": "`dest`: Where to copy it. If this is an existing directory or ends with a slash, a file keeps its own name there.\n\n*path*, required\n\nIn the plan:\n\n`/tmp/you`",
		"{{ ou":       "variable `out`\n\nIn the plan:\n\nknown after step-0001 «greet»",
		"shell: e":    "`shell`: In the plan:\n\n`echo you`",
		"steps":       "`steps`: the steps",
	} {
		at := strings.Index(text, mark) + len(mark)
		if got := c.hover(c.open("main.yml", text[:at]+"|"+text[at:])); !strings.HasPrefix(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", mark, got, want)
		}
	}
	if got := c.hover(c.open("main.yml", strings.Replace(text, "copy", "co|py", 1))); !strings.HasPrefix(got, "`copy`: Copies a file") || !strings.Contains(got, "**`dest`**") {
		t.Errorf("an action: %s", got)
	}
	// What no_log hides is hidden here, too.
	hidden := "vars: {who: you}\nsteps:\n  - shell: echo {{ w|ho }}\n    no_log: true\n"
	if got := c.hover(c.open("main.yml", strings.Replace(hidden, "e|", "e", 1))); strings.Contains(got, "echo you") {
		t.Errorf("no_log: %s", got)
	}
}

func TestCompletion(t *testing.T) {
	c := start(t, site)
	has := func(what, file, text string, want ...string) {
		t.Helper()
		got := c.labels(c.open(file, text))
		for _, w := range want {
			no, isNot := strings.CutPrefix(w, "!")
			if found := strings.Contains("\n"+strings.Join(got, "\n")+"\n", "\n"+no+"\n"); found == isNot {
				t.Errorf("%s: %q is offered: %v (%d items)", what, no, found, len(got))
			}
		}
	}
	has("a new step", "main.yml", "- name: x\n  |", "shell", "copy", "block", "when", "!name", "!hosts2")
	has("keys of a block", "main.yml", "- block: []\n  |", "rescue", "!register", "!shell")
	has("arguments", "main.yml", "- copy:\n    src: x\n    |", "dest", "mode", "!src", "!when")
	has("within braces", "main.yml", "- copy: {src: x, |", "dest", "!src")
	equal(t, "choices", c.labels(c.open("main.yml", "- file:\n    state: |")), []string{"absent", "directory", "file", "hard", "hardlink", "link", "perms", "touch"})
	equal(t, "booleans", c.labels(c.open("main.yml", "- copy:\n    force: |")), []string{"false", "true"})
	has("the map of a playbook", "main.yml", "steps: []\n|", "vars", "exports", "!steps")
	equal(t, "ids", c.labels(c.open("main.yml", "- {id: a, shell: x}\n- shell: y\n  needs: [|]\n")), []string{"a"})
	has("variables", "main.yml", "- set_fact: {mine: 1}\n- print: '{{ |'\n", "mine", "os")
	has("a play", "site.yml", "- hosts: all\n  |", "tasks", "roles", "gather_facts", "!hosts", "!shell")
	has("tasks of a play", "site.yml", "- hosts: all\n  tasks:\n    - |", "include_role", "run_once", "debug", "!roles")
	has("roles", "site.yml", "- hosts: all\n  roles:\n    - |", "web", "role")
	equal(t, "handlers", c.labels(c.open("site.yml", strings.Replace(site["site.yml"], "restart it", "|", 1))), []string{"restart it"})
	has("files", "site.yml", "- hosts: all\n  tasks:\n    - import_tasks: |\n", "more.yml", "!site.yml")
	// The word that is there is what is replaced.
	var items wire.Items
	c.read(c.ask("textDocument/completion", c.open("main.yml", "- na|")), &items)
	for _, i := range items.Items {
		if i.Label == "name" && (ranges(i.Edit.Range) != "0:2-4" || i.Edit.NewText != "name: ") {
			t.Errorf("%+v", i.Edit)
		}
	}
}

func (c *client) rename(at object, to string) (edits []string, refused string) {
	c.t.Helper()
	at["newName"] = to
	m := c.ask("textDocument/rename", at)
	if m.Error != nil {
		return nil, m.Error.Message
	}
	var edit wire.WorkspaceEdit
	c.read(m, &edit)
	for _, uri := range plan.SortedKeys(edit.Changes) {
		for _, e := range edit.Changes[uri] {
			edits = append(edits, strings.TrimPrefix(uri, "file://"+c.dir+"/")+" "+ranges(e.Range)+" "+e.NewText)
		}
	}
	return edits, ""
}

func TestRename(t *testing.T) {
	c := start(t, site)
	text := site["site.yml"]
	got, refused := c.rename(c.open("site.yml", strings.Replace(text, "{{ level", "{{ le|vel", 1)), "depth")
	equal(t, "a default of a role: "+refused, got, []string{"more.yml 1:19-24 depth", "roles/web/defaults/main.yml 0:0-5 depth", "site.yml 7:34-39 depth"})
	got, refused = c.rename(c.open("site.yml", strings.Replace(text, "port: 80", "po|rt: 80", 1)), "listen")
	equal(t, "in a template: "+refused, got, []string{"roles/web/templates/conf.j2 0:8-12 listen", "site.yml 2:4-8 listen", "site.yml 7:23-27 listen"})

	d := start(t, nil)
	got, refused = d.rename(d.open("main.yml", "- {id: fi|rst, shell: x}\n- {needs: [first], shell: '𝄞'}\n"), "one")
	equal(t, "an id: "+refused, got, []string{"main.yml 0:7-12 one", "main.yml 1:11-16 one"})
	got, refused = d.rename(d.open("main.yml", "- {shell: x, register: o|ut}\n- {print: '𝄞 {{ out.stdout }}', when: out.rc == 0}\n"), "result")
	equal(t, "a result: "+refused, got, []string{"main.yml 0:23-26 result", "main.yml 1:17-20 result", "main.yml 1:39-42 result"})
	for text, want := range map[string]string{
		"- print: '{{ o|s }}'\n":                                   "`os` cannot be renamed: no file of the playbook defines it",
		"- set_fact: {a|a: 1}\n- include: '{{ aa }}.yml'\n":        "not all of its uses can be found. main.yml:2: the name of the file is a template",
		"- set_fact: {a|a: 1}\n- set_fact: {b: '{{ nix }}'}\n":     "cannot be renamed while main.yml has errors",
		"- set_fact: {a|a: 1}\n- shel: x\n":                        "cannot be renamed while main.yml has errors",
		"- na|me: x\n  shell: y\n":                                 "only variables and ids can be renamed",
		"- set_fact: {a|a: 1}\n- set_fact: {other: '{{ aa }}'}\n":  "`other` is used already, main.yml:2",
		"- set_fact: {a|a: 1}\n- shell: echo\n  env:\n    A: aa\n": "it may be what stands in main.yml:4, too",
	} {
		if edits, refused := d.rename(d.open("main.yml", text), "other"); !strings.Contains(refused, want) {
			t.Errorf("%s: %q, %q; want %s", text, refused, edits, want)
		}
	}
	if _, refused := d.rename(d.open("main.yml", "- set_fact: {a|a: 1}\n"), "a b"); !strings.Contains(refused, "`a b` cannot be a name") {
		t.Error(refused)
	}
	inventory := map[string]string{"hosts": "web1 zone=a\n[web]\nweb1\n", "group_vars/web.yml": "level: 1\n"}
	f := start(t, inventory)
	if _, refused := f.rename(f.open("inventory.yml", "- hosts: all\n  gather_facts: false\n  tasks:\n    - debug: {msg: '{{ zo|ne }}'}\n"), "area"); !strings.Contains(refused, "no file of the playbook defines it") {
		t.Error(refused)
	}
	if _, refused := f.rename(f.open("inventory.yml", "- hosts: all\n  gather_facts: false\n  vars: {zone: b}\n  tasks:\n    - debug: {msg: '{{ zo|ne }}'}\n- hosts: all\n  gather_facts: false\n  tasks:\n    - debug: {msg: '{{ zone }}'}\n"), "area"); !strings.Contains(refused, "a value comes from") {
		t.Error(refused)
	}
	got, refused = f.rename(f.open("inventory.yml", "- hosts: web\n  gather_facts: false\n  tasks:\n    - debug: {msg: '{{ lev|el }}'}\n"), "depth")
	equal(t, "variables of a group: "+refused, got, []string{"group_vars/web.yml 0:0-5 depth", "inventory.yml 3:23-28 depth"})
	// A playbook that is not open uses the file as well.
	e := start(t, map[string]string{
		"a.yml": "vars_files: [v.yml]\nsteps:\n  - print: '{{ shared }}'\n", "b.yml": "vars_files: [v.yml]\nsteps:\n  - print: '{{ shared }}'\n", "v.yml": "shared: 1\n",
	})
	got, refused = e.rename(e.open("a.yml", "vars_files: [v.yml]\nsteps:\n  - print: '{{ sha|red }}'\n"), "common")
	equal(t, "shared: "+refused, got, []string{"a.yml 2:15-21 common", "b.yml 2:15-21 common", "v.yml 0:0-6 common"})
}

func TestLenses(t *testing.T) {
	c := start(t, nil)
	at := c.open("main.yml", "- {id: first, shell: x}\n- name: second\n  shell: y\n  with_items: [a, b]\n")
	var list []wire.Lens
	c.read(c.ask("textDocument/codeLens", at), &list)
	var got []string
	for _, l := range list {
		got = append(got, fmt.Sprintf("%s %s %v", ranges(l.Range), l.Command.Command, l.Command.Arguments))
	}
	path := filepath.Join(c.dir, "main.yml")
	equal(t, "lenses", got, []string{
		"0:0-0 moon.run [" + path + "]", "0:2-2 moon.run [" + path + " :first]", "1:2-2 moon.run [" + path + " :main.yml:2]",
	})
}

func TestHints(t *testing.T) {
	c := start(t, nil)
	at := c.open("main.yml", "vars: {who: you}\nsteps:\n  - name: greet {{ who }}\n    shell: echo {{ item }} # 𝄞\n    with_items: [a, b, c]\n    register: out\n  - copy:\n      content: \"{{ out.results }}\"\n      dest: /tmp/x\n")
	at["range"] = wire.Range{End: wire.Position{Line: 100}}
	var list []wire.Hint
	c.read(c.ask("textDocument/inlayHint", at), &list)
	var got []string
	for _, h := range list {
		got = append(got, fmt.Sprintf("%d:%d %s", h.Position.Line, h.Position.Character, h.Label))
	}
	equal(t, "hints", got, []string{"2:25 = greet you", "3:31 = echo a and 2 more", "7:34 = known after step-0001 «greet you (a)», step-0002 «greet you …"})
}

func TestOrder(t *testing.T) {
	c := connect(t, t.TempDir())
	if m := c.ask("textDocument/hover", object{}); m.Error == nil || m.Error.Code != wire.NotInitialized {
		t.Errorf("%+v", m.Error)
	}
	c.ask("initialize", object{"capabilities": object{}})
	if m := c.ask("initialize", object{}); m.Error == nil || m.Error.Code != wire.InvalidRequest {
		t.Errorf("%+v", m.Error)
	}
	if m := c.ask("textDocument/nothing", object{}); m.Error == nil || m.Error.Code != wire.NoSuchMethod {
		t.Errorf("%+v", m.Error)
	}
	if m := c.ask("textDocument/hover", []int{1}); m.Error == nil || m.Error.Code != wire.InvalidParams {
		t.Errorf("%+v", m.Error)
	}
	if m := c.ask("textDocument/hover", c.at("not_open.yml", 0, 0)); m.Error != nil || string(m.Result) != "null" {
		t.Errorf("%+v", m)
	}
	c.ask("shutdown", nil)
	if m := c.ask("textDocument/hover", c.at("x.yml", 0, 0)); m.Error == nil || m.Error.Code != wire.InvalidRequest {
		t.Errorf("after shutdown: %+v", m)
	}
	c.notify("exit", nil)
	if err := <-c.left; err != nil {
		t.Error(err)
	}
	d := connect(t, t.TempDir())
	d.notify("exit", nil)
	if err := <-d.left; !errors.Is(err, errUnordered) {
		t.Errorf("exit alone: %v", err)
	}
}

// TestPanics has neither a request nor a plan that panics end the server.
func TestPanics(t *testing.T) {
	c := start(t, nil)
	c.open("panics.yml", "- shell: x\n")
	equal(t, "without a plan", c.hover(c.open("main.yml", "- sh|ell: x\n"))[:7], "`shell`")
	if !strings.Contains(c.logs.String(), "internal error while planning: on purpose") {
		t.Error(c.logs.String())
	}
	logs := &lockedBuffer{}
	var out bytes.Buffer
	s := newServer(strings.NewReader(""), &out, logs, Options{Plan: planOf})
	s.run(t.Context(), func(context.Context, documents, json.RawMessage) (any, error) { panic("on purpose") }, nil, &wire.Message{ID: json.RawMessage("7"), Method: "m"})
	if !strings.Contains(out.String(), `"id":7,"error":{"code":-32603,"message":"internal error: on purpose"}`) || !strings.Contains(logs.String(), "internal error in m") {
		t.Errorf("%s\n%s", out.String(), logs.String())
	}
}

// TestCancel has a request that the client has cancelled be answered as such.
func TestCancel(t *testing.T) {
	c := start(t, nil)
	// An analysis that takes long: thousands of files, one after the other.
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "- {shell: 'echo %d {{ os }}', with_items: [1, 2, 3, 4, 5]}\n", i)
	}
	c.open("main.yml", b.String())
	id := c.send("textDocument/definition", c.at("main.yml", 0, 0))
	c.notify("$/cancelRequest", object{"id": json.RawMessage(id)})
	if m := c.wait(id); m.Error == nil || m.Error.Code != wire.Cancelled {
		t.Errorf("%+v", m)
	}
	// Newer text is what counts, however often it comes.
	for v := 2; v < 60; v++ {
		c.change("main.yml", v, b.String()+fmt.Sprintf("- shel%d: x\n", v))
	}
	c.change("main.yml", 60, "- shell: x\n")
	equal(t, "the last version", c.diagnostics("main.yml", 60), []string(nil))
}

func TestLoneParts(t *testing.T) {
	c := start(t, nil)
	c.open("roles/x/tasks/main.yml", "- shel: x\n  name: [\n")
	if list := c.diagnostics("roles/x/tasks/main.yml", 1); len(list) == 0 {
		t.Error("a file of tasks without a playbook is not looked at")
	}
	c.open("roles/x/vars/main.yml", "- a\n")
	if list := c.diagnostics("roles/x/vars/main.yml", 1); len(list) != 1 {
		t.Errorf("%q", list)
	}
	c.open("compose.yml", "services:\n  db: {image: x}\n")
	equal(t, "something else", c.diagnostics("compose.yml", 1), []string(nil))
}

func TestWire(t *testing.T) {
	for in, want := range map[string]string{
		"":                                    "the client ended without `shutdown`",
		"Content-Length: x\r\n\r\n":           `the Content-Length "x" is not a number of at most`,
		"Content-Length: 99999999999\r\n\r\n": "is not a number of at most",
		"Content-Length: 50\r\n\r\n{}":        "a message ends before its Content-Length of 50",
		"X: y\r\n\r\n":                        "a message has no Content-Length",
		strings.Repeat("x", 5000):             "the header of a message cannot be read",
		"Content-Length: 2\r\n\r\n{]":         "the client ended",
	} {
		var out bytes.Buffer
		err := Serve(t.Context(), strings.NewReader(in), &out, io.Discard, Options{Plan: planOf})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %s", in, err, want)
		}
		if strings.HasSuffix(in, "{]") && !strings.Contains(out.String(), `"code":-32700`) {
			t.Errorf("%s", out.String())
		}
	}
}

// TestForms has what names files and roles in each form that there is.
func TestForms(t *testing.T) {
	c := start(t, map[string]string{
		"roles/web/tasks/main.yml": "- debug: {msg: x}\n", "other.yml": "- hosts: all\n", "v.yml": "a: 1\n", "files/f": "x", "t.yml": "- debug: {msg: x}\n",
	})
	for _, one := range [][2]string{
		{"- hosts: all\n  roles:\n    - role: we|b\n", "roles/web/tasks/main.yml"},
		{"- hosts: all\n  tasks:\n    - include_role: {name: we|b}\n", "roles/web/tasks/main.yml"},
		{"- hosts: all\n  tasks:\n    - import_role:\n        name: we|b\n", "roles/web/tasks/main.yml"},
		{"- import_playbook: oth|er.yml\n", "other.yml"},
		{"- hosts: all\n  vars_files: [v.|yml]\n", "v.yml"},
		{"- hosts: all\n  tasks:\n    - include_vars: v|.yml\n", "v.yml"},
		{"- hosts: all\n  tasks:\n    - include_vars: {file: v|.yml}\n", "v.yml"},
		{"- hosts: all\n  tasks:\n    - include_tasks: t.|yml\n", "t.yml"},
		{"- hosts: all\n  tasks:\n    - copy: {src: |f, dest: /tmp/x}\n", "files/f"},
		{"steps:\n  - include: t|.yml\n", "t.yml"},
	} {
		equal(t, one[0], c.locations(c.ask("textDocument/definition", c.open("site.yml", one[0]))), []string{one[1] + " 0:0-0"})
	}
}

// TestSecrets shows nothing of what is secret.
func TestSecrets(t *testing.T) {
	c := start(t, map[string]string{"v.secret.yml": "token: hunter2hunter2\n"})
	text := "vars_files: [v.secret.yml]\nsteps:\n  - shell: echo {{ tok|en }}\n  - print: '{{ token }}'\n"
	at := c.open("main.yml", text)
	if got := c.hover(at); !strings.HasPrefix(got, "variable `token`") || strings.Contains(got, "hunter2") {
		t.Error(got)
	}
	at["range"] = wire.Range{End: wire.Position{Line: 100}}
	for _, method := range []string{"inlayHint", "documentSymbol", "completion", "codeLens"} {
		if m := c.ask("textDocument/"+method, at); m.Error != nil || strings.Contains(string(m.Result), "hunter2") {
			t.Errorf("%s: %+v %s", method, m.Error, m.Result)
		}
	}
}

// TestEverywhere asks at many places of the project's own playbooks, broken at each of them: every request has an answer.
func TestEverywhere(t *testing.T) {
	c := start(t, nil)
	var files []string
	for _, pattern := range []string{"../../docs/tape/*.yml", "../../examples/*/*.yml", "../../testdata/*/*.yml"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 20 {
		t.Fatalf("only %d playbooks", len(files))
	}
	asked := 0
	for i := 0; i < len(files); i += max(len(files)/40, 1) {
		text, err := os.ReadFile(files[i])
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("p%d.yml", i)
		lines := strings.Split(string(text), "\n")
		for n := 0; n < len(lines); n += max(len(lines)/4, 1) {
			// Cut off in the middle of a line, as it is while someone types.
			cut := strings.Join(lines[:n], "\n") + "\n" + lines[n][:len(lines[n])/2]
			at := c.open(name, cut+"|\n"+strings.Join(lines[min(n+1, len(lines)):], "\n"))
			at["newName"], at["range"] = "fresh", wire.Range{End: wire.Position{Line: 1 << 20}}
			for _, method := range []string{"completion", "hover", "definition", "documentSymbol", "codeLens", "inlayHint", "codeAction", "prepareRename", "rename"} {
				if m := c.ask("textDocument/"+method, at); m.Error != nil && m.Error.Code != wire.RequestFailed {
					t.Fatalf("%s of %s, cut at line %d: %+v\n%s", method, files[i], n+1, m.Error, c.logs.String())
				}
				asked++
			}
		}
		c.notify("textDocument/didClose", object{"textDocument": object{"uri": c.uri(name)}})
	}
	if logs := c.logs.String(); strings.Contains(logs, "internal error") || asked < 1000 {
		t.Errorf("%d requests\n%s", asked, logs)
	}
}

// TestLarge has a text beyond what moon reads, and more files around than are looked through.
func TestLarge(t *testing.T) {
	files := map[string]string{}
	for i := range 200 {
		files[fmt.Sprintf("p%03d.yml", i)] = fmt.Sprintf("- {id: x%d, shell: x}\n- include: sub/t.yml\n", i)
	}
	files["sub/t.yml"] = "- print: '{{ item }}'\n"
	c := start(t, files)
	c.open("big.yml", "- shell: x\n# "+strings.Repeat("x", 17<<20)+"\n")
	if list := c.diagnostics("big.yml", 1); len(list) != 1 || !strings.Contains(list[0], "larger than 16 MB") {
		t.Errorf("%.300q", list)
	}
	c.change("big.yml", 2, "- shell: x\n")
	equal(t, "small again", c.diagnostics("big.yml", 2), []string(nil))
	if _, refused := c.rename(c.open("p000.yml", "- {id: x|0, shell: x}\n"), "y"); !strings.Contains(refused, "more than 60 playbooks around") {
		t.Error(refused)
	}
}
