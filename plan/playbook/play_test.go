package playbook_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"moon/internal/diag"
	"moon/plan/playbook"
)

// TestPlays compares the tree of testdata/plays/*.yml with the .out file beside each: every field that was given.
func TestPlays(t *testing.T) {
	eachFixture(t, "plays", func(t *testing.T, got *strings.Builder, pb *playbook.Playbook, text []byte, ds diag.List) {
		t.Helper()
		fmt.Fprintf(got, "%s vars=%s vars_files=%d\n", pb.Name.Text(), shown(pb.Vars), len(pb.VarsFiles))
		for _, pl := range pb.Plays {
			fmt.Fprintf(got, "play %d:%d%s\n", pl.Pos.Line, pl.Pos.Column, given(reflect.ValueOf(*pl)))
			for _, part := range []struct {
				name  string
				tasks []*playbook.Task
			}{{"pre_tasks", pl.PreTasks}, {"roles", pl.Roles}, {"tasks", pl.Tasks}, {"post_tasks", pl.PostTasks}, {"handlers", pl.Handlers}} {
				if len(part.tasks) > 0 {
					got.WriteString("  " + part.name + "\n")
					dumpTasks(got, part.tasks, "    ")
				}
			}
		}
		within(t, text, ds)
	})
}

var kindNames = map[playbook.TaskKind]string{
	playbook.Action: "action", playbook.Include: "include", playbook.IncludeVars: "include_vars", playbook.Block: "block", playbook.Role: "role",
	playbook.Vars: "vars", playbook.Preset: "preset",
}

func dumpTasks(b *strings.Builder, tasks []*playbook.Task, indent string) {
	for _, t := range tasks {
		fmt.Fprintf(b, "%s%d:%d %s %s%s\n", indent, t.Pos.Line, t.Pos.Column, kindNames[t.Kind], t.Action, given(reflect.ValueOf(*t)))
		dumpTasks(b, t.Body, indent+"  ")
		dumpTasks(b, t.Rescue, indent+"  rescue ")
		dumpTasks(b, t.Always, indent+"  always ")
	}
}

// given are the fields that are not zero, by their names.
func given(v reflect.Value) string {
	var b strings.Builder
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		text := ""
		switch x := f.Interface().(type) {
		case playbook.Value:
			if !x.IsZero() {
				text = shown(x)
			}
		case []playbook.Value:
			if len(x) > 0 {
				text = shownAll(x)
			}
		case [][]playbook.Value:
			for _, one := range x {
				text += shownAll(one)
			}
		case []playbook.Prompt:
			for _, one := range x {
				text += one.Name + given(reflect.ValueOf(one))
			}
		case playbook.Loop:
			if x.Kind != playbook.NoLoop {
				text = fmt.Sprintf("%d %s %s%s", x.Kind, x.Key, x.Var, given(reflect.ValueOf(x)))
			}
		case *playbook.PlayTask:
			b.WriteString(given(reflect.ValueOf(*x)))
		case *playbook.Seldom:
			b.WriteString(given(reflect.ValueOf(*x)))
		case []playbook.Need:
			for _, n := range x {
				text += n.ID + ":" + n.On
			}
		case string:
			text = x
		case bool:
			if x {
				text = "true"
			}
		}
		if text != "" && name != "Action" {
			fmt.Fprintf(&b, " %s=%s", name, text)
		}
	}
	return b.String()
}

func shownAll(values []playbook.Value) string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = shown(v)
	}
	return "(" + strings.Join(all, " ") + ")"
}

// shown is a value with the places of what is in it.
func shown(v playbook.Value) string {
	at := fmt.Sprintf("@%d:%d", v.Pos().Line, v.Pos().Column)
	switch v.Kind() {
	case playbook.Map:
		var parts []string
		for _, e := range v.Entries() {
			parts = append(parts, e.Key+":"+shown(e.Value))
		}
		return "{" + strings.Join(parts, " ") + "}"
	case playbook.List:
		return "[" + strings.TrimSuffix(strings.TrimPrefix(shownAll(v.Items()), "("), ")") + "]"
	case playbook.String:
		return fmt.Sprintf("%q%s", v.Text(), at)
	default:
		return v.Text() + at
	}
}

// TestPlayMistakes compares what the parser says of the mistakes in plays of /testdata/err with a file of its own for each: there
// the whole of moon is asked, which may have more to say.
func TestPlayMistakes(t *testing.T) {
	files, err := filepath.Glob("../../testdata/err/play_*.yml")
	if err != nil || len(files) == 0 {
		t.Fatal("no fixtures", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yml")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, ds := parse(filepath.Base(file), text)
			var got strings.Builder
			if err := ds.Print(&got); err != nil {
				t.Fatal(err)
			}
			compare(t, "testdata/plays/"+name+".err", got.String())
			if len(ds) == 0 {
				t.Error("a fixture of a mistake has none")
			}
			within(t, text, ds)
		})
	}
}

// TestRoleFiles reads the files of a role, and others that hold no plays.
func TestRoleFiles(t *testing.T) {
	read := func(text string, parse func(*playbook.File, *diag.List) string) string {
		var ds diag.List
		got := parse(&playbook.File{Name: "f.yml", Text: []byte(text)}, &ds)
		for _, d := range ds {
			got += fmt.Sprintf("; %s %d:%d %s", d.Severity, d.Pos.Line, d.Pos.Column, d.Message)
		}
		return got
	}
	tasks := func(f *playbook.File, ds *diag.List) string {
		return fmt.Sprint(len(playbook.ParseTasks(f, actions, ds, false)))
	}
	handlers := func(f *playbook.File, ds *diag.List) string {
		return fmt.Sprint(len(playbook.ParseHandlers(f, actions, ds)))
	}
	plays := func(f *playbook.File, ds *diag.List) string {
		return fmt.Sprint(len(playbook.ParsePlays(f, actions, ds)))
	}
	meta := func(f *playbook.File, ds *diag.List) string {
		m := playbook.ParseMeta(f, actions, ds)
		var names []string
		for _, r := range m.Dependencies {
			names = append(names, r.Args.Text()+given(reflect.ValueOf(*r)))
		}
		return strings.Join(names, ", ") + " " + m.AllowDup.Text()
	}
	for _, c := range []struct {
		name  string
		text  string
		parse func(*playbook.File, *diag.List) string
		want  string
	}{
		{"empty tasks", "# nothing\n", tasks, "0"},
		{"tasks", "- shell: a\n- debug: msg=x\n", tasks, "2"},
		{"tasks of the wrong kind", "shell: a\n", tasks, "0; error 1:1 the file must be a list of tasks; this is a map"},
		{"plays for tasks", "- hosts: all\n", tasks, "0; error 1:3 a list of tasks is wanted here, and this is one of plays"},
		{"listen on a task", "- shell: a\n  listen: x\n", tasks, "1; error 2:3 `listen` has no meaning on a task that is not a handler"},
		{"handlers", "- shell: a\n  listen: x\n", handlers, "1"},
		{"a block in handlers", "- block: [shell: a]\n", handlers, "1"},
		{"a block in a block of handlers", "- block: [{block: [shell: a]}]\n", handlers, "1; error 1:12 `block` cannot be a handler"},
		{
			"a block of handlers with more", "- block: [shell: a]\n  loop: [1]\n", handlers,
			"1; error 2:3 `loop` has no meaning on a block among handlers, each of which runs by itself",
		},
		{"plays", "- hosts: all\n- import_playbook: x.yml\n", plays, "2"},
		{"no plays", "steps: []\n", plays, "0; error 1:1 the file holds a map"},
		{"an empty file of plays", "", plays, "0; error 1:1 the file is empty"},
		{"no meta", "", meta, " "},
		{
			"meta", "galaxy_info: {author: me}\nallow_duplicates: yes\ndependencies: [a, {role: b, p: 1}, {src: c, version: v1}]\n", meta,
			`a Args="a"@3:16, b Args="b"@3:26 RoleParams={p:1@3:32}, c Args="c"@3:42 yes`,
		},
		{"meta with more", "argument_specs: {}\ndependency: []\n", meta, " ; warning 2:1 unknown key `dependency` of a role's meta file"},
		{"meta of the wrong kind", "[a]", meta, " ; error 1:1 what a role says of itself is a map; this is a list"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := read(c.text, c.parse); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// FuzzPlays parses any text as each kind of file there is: it never panics, and every mistake lies inside the file.
func FuzzPlays(f *testing.F) {
	for _, pattern := range []string{"testdata/plays/*.yml", "../../testdata/err/play_*.yml"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	f.Add([]byte("- command: creates=\\x00 \"a b\n- action: \"\"\n"))
	f.Add([]byte("dependencies: [a, {src: b}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for name, parse := range map[string]func(*playbook.File, *diag.List) []*playbook.Task{
			"plays": func(f *playbook.File, ds *diag.List) (all []*playbook.Task) {
				for _, pl := range playbook.ParsePlays(f, actions, ds) {
					all = append(all, pl.Tasks...)
					all = append(all, pl.Handlers...)
				}
				return all
			},
			"tasks": func(f *playbook.File, ds *diag.List) []*playbook.Task {
				return playbook.ParseTasks(f, actions, ds, false)
			},
			"meta": func(f *playbook.File, ds *diag.List) []*playbook.Task {
				return playbook.ParseMeta(f, actions, ds).Dependencies
			},
		} {
			var ds diag.List
			tasks := parse(&playbook.File{Name: name, Text: text}, &ds)
			within(t, []byte(strings.TrimPrefix(string(text), "\ufeff")), ds)
			for _, task := range tasks {
				if !task.Apply.IsZero() {
					playbook.ParseApply(&playbook.File{Name: name, Text: text}, task.Apply, new(diag.List))
				}
				for _, v := range []playbook.Value{task.Args, task.ExtraArgs, task.RoleParams} {
					v.PosAt(len(v.Text()) / 2)
				}
			}
			if !ds.HasErrors() {
				for _, task := range tasks {
					if task.Kind == playbook.Action && task.Action == "" && !task.Absent {
						t.Errorf("%s: a task without an action, that is neither a mistake nor absent", name)
					}
				}
			}
		}
	})
}
