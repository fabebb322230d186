package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/internal/suggest"
	"moon/plan"
	"moon/plan/dialect"
	"moon/plan/eval"
	"moon/plan/eval/value"
	"moon/plan/planner"
	"moon/plan/playbook"
	"moon/plan/source"
	"moon/secret/vault"
)

// Survey is what moon cannot do of a playbook: found by reading all that it names, without planning, so that one thing that is
// missing does not hide the next.
type Survey struct {
	File  string // the playbook
	Steps bool   // it is a playbook of steps
	Files int    // that were read
	Plays int
	Tasks int

	Foreign     []Foreign // modules that are not known, the most used first
	Unfollowed  diag.List // files whose names only the run knows
	Diagnostics diag.List // everything else
}

// Foreign is a module that moon does not know.
type Foreign struct {
	Name string
	At   []diag.Pos
}

// Sound reports whether nothing was found.
func (s *Survey) Sound() bool { return len(s.Foreign) == 0 && !s.Diagnostics.HasErrors() }

// NewSurvey reads a playbook, and the playbooks, roles, tasks, variables and templates that it names. What planning it would say
// belongs to it too, and is in the list.
func NewSurvey(o plan.Options) *Survey {
	s := read(o)
	s.plan()
	return s.result()
}

// read reads all that a playbook names.
func read(o plan.Options) *surveyor {
	d := source.NewDisk(o.Stdin)
	s := &surveyor{
		o: o, disk: d, engine: eval.New(), seen: map[string]bool{}, files: map[string]*playbook.File{},
		foreign: map[string][]diag.Pos{},
	}
	path := o.Path
	if path != "-" {
		if !filepath.IsAbs(path) {
			path = filepath.Join(o.Dir, path)
		}
		if real, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			path = filepath.Join(real, filepath.Base(path))
		}
		s.root = filepath.Dir(path)
	} else {
		s.root = o.Dir
	}
	s.out.File = plan.ShownPath(s.root, path)
	s.playbook(path)
	s.plugins(s.root)
	return s
}

type surveyor struct {
	o       plan.Options
	disk    *source.Disk
	engine  *eval.Engine
	lang    eval.Language
	root    string
	out     Survey
	ds      diag.List
	seen    map[string]bool
	files   map[string]*playbook.File // by shown path
	foreign map[string][]diag.Pos
}

// plan adds what planning says. It stops where nothing can be planned any more, so it comes last.
func (s *surveyor) plan() {
	s.ds = append(planner.Check(s.o, s.disk, &s.out.Unfollowed), s.ds...) // where both say the same, planning knows the better way out
}

func (s *surveyor) result() *Survey {
	foreign := map[diag.Pos]bool{}
	for name, at := range s.foreign {
		s.out.Foreign = append(s.out.Foreign, Foreign{name, at})
		for _, pos := range at {
			foreign[pos] = true
		}
	}
	slices.SortFunc(s.out.Foreign, func(a, b Foreign) int {
		if len(a.At) != len(b.At) {
			return len(b.At) - len(a.At)
		}
		return strings.Compare(a.Name, b.Name)
	})
	// Of a module that is not known the table says it once.
	s.ds = slices.DeleteFunc(s.ds, func(d diag.Diagnostic) bool { return foreign[d.Pos] })
	for i := range s.ds {
		s.ds[i].Chain = nil // the same mistake, whoever includes the file
	}
	for _, list := range []*diag.List{&s.ds, &s.out.Unfollowed} {
		list.Sort()
		list.Locate(func(file string) []string {
			if f, ok := s.files[file]; ok {
				return f.Lines()
			}
			return nil
		})
	}
	s.out.Diagnostics, s.out.Files = s.ds, len(s.files)
	return &s.out
}

// read reads a file, unless it is encrypted or has been read already.
func (s *surveyor) read(path string) (*playbook.File, bool) {
	if s.seen[path] {
		return nil, false
	}
	s.seen[path] = true
	seen, err := s.disk.Read(path)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.errorf(diag.Pos{File: plan.ShownPath(s.root, path)}, 0, "", "%s cannot be read", plan.ShownPath(s.root, path))
		}
		return nil, false
	}
	if vault.Is(seen.Text) {
		return nil, false
	}
	f := &playbook.File{Name: plan.ShownPath(s.root, path), Path: path, Text: seen.Text}
	s.files[f.Name] = f
	return f, true
}

func (s *surveyor) errorf(pos diag.Pos, width int, hint, format string, args ...any) {
	s.ds.Add(diag.Diagnostic{Pos: pos, Width: width, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// unfollowed notes a name that cannot be had without running.
func (s *surveyor) unfollowed(v playbook.Value, what string) {
	s.out.Unfollowed.Add(diag.Diagnostic{
		Severity: diag.Warning, Pos: v.Pos(), Width: utf8.RuneCountInString(plan.FirstLine(v.Text())),
		Message: what + " is not looked into: its name is a template",
	})
}

func (s *surveyor) playbook(path string) {
	f, ok := s.read(path)
	if !ok {
		return
	}
	pb := playbook.Parse(f, s.o.Actions(), &s.ds)
	at := source.Lookout{Dir: filepath.Dir(path), Play: filepath.Dir(path), Root: s.root}
	if path == "-" {
		at.Dir, at.Play = s.root, s.root
	}
	if pb.Plays == nil {
		s.out.Steps = s.out.Steps || len(s.files) == 1 // the first file is the playbook
		at.Steps = true
	}
	s.templates(pb.Vars)
	for _, v := range pb.VarsFiles {
		s.varsFiles([]playbook.Value{v}, at)
	}
	s.lang = eval.Expr
	s.tasks(pb.Tasks, at)
	s.tasks(pb.Handlers, at)
	s.lang = eval.Jinja
	for _, pl := range pb.Plays {
		s.play(pl, at)
	}
}

func (s *surveyor) play(pl *playbook.Play, at source.Lookout) {
	if pl.Import.Text() != "" {
		path, ok := s.static(pl.Import, at.Dir, "the playbook")
		switch {
		case !ok:
		case !isRegular(path):
			s.missing(pl.Import, "import_playbook: no such file: %s", plan.ShownPath(s.root, path))
		default:
			s.playbook(path)
		}
		return
	}
	s.out.Plays++
	s.engine.Dialect = dialect.Ansible
	lists := [][]*playbook.Task{pl.PreTasks, pl.Roles, pl.Tasks, pl.PostTasks, pl.Handlers}
	for _, e := range pl.Keys {
		switch e.Key {
		case "pre_tasks", "roles", "tasks", "post_tasks", "handlers":
		default:
			s.templates(e.Value)
		}
	}
	for _, choice := range pl.VarsFiles {
		s.varsFiles(choice, at)
	}
	for _, list := range lists {
		s.tasks(list, at)
	}
}

// static is the absolute path that a value stands for, if that can be read off.
func (s *surveyor) static(v playbook.Value, dir, what string) (string, bool) {
	text := v.Text()
	if text == "" || v.Encrypted() {
		return "", false
	}
	if eval.Templated(text) {
		s.unfollowed(v, what)
		return "", false
	}
	return source.ResolvePath(text, dir, s.o.Home), true
}

// conditionKeys are the keys whose text is a condition, without braces.
var conditionKeys = map[string]bool{"when": true, "changed_when": true, "failed_when": true, "until": true}

func (s *surveyor) tasks(list []*playbook.Task, at source.Lookout) {
	for _, t := range list {
		s.task(t, at)
	}
}

func (s *surveyor) task(t *playbook.Task, at source.Lookout) {
	for _, e := range t.Keys {
		switch {
		case e.Key == "block" || e.Key == "rescue" || e.Key == "always" || e.NoText:
		case conditionKeys[e.Key]:
			s.conditions(e.Value)
		default:
			s.templates(e.Value)
		}
	}
	switch t.Kind {
	case playbook.Action:
		s.out.Tasks++
		s.action(t, at)
	case playbook.Include:
		s.include(t, at)
	case playbook.IncludeVars:
		s.includeVars(t, at)
	case playbook.Role:
		s.role(t, at)
	case playbook.Block:
		s.tasks(t.Body, at)
		s.tasks(t.Rescue, at)
		s.tasks(t.Always, at)
	case playbook.Vars, playbook.Preset:
	}
}

func (s *surveyor) action(t *playbook.Task, at source.Lookout) {
	switch {
	case t.Action == "" && t.ActionKey != "":
		if pos := t.ActionPos; !slices.Contains(s.foreign[t.ActionKey], pos) {
			s.foreign[t.ActionKey] = append(s.foreign[t.ActionKey], pos)
		}
	case t.Action == "assert":
		if that, ok := t.Args.Get("that"); ok {
			s.conditions(that)
		}
	case t.Action == "template" || t.Action == "copy":
		s.source(t, at)
	}
}

// source looks for the file of a template or of a copy, unless the task may find it on its host.
func (s *surveyor) source(t *playbook.Task, at source.Lookout) {
	src, _ := t.Args.Get("src")
	_, there := t.Args.Get("remote_src")
	text := src.Text()
	if text == "" || there || eval.Templated(text) || src.Literal() {
		return
	}
	path := source.NewSearch(at.Files(source.SourceDirs[t.Action]), s.disk).Find(text, s.o.Home)
	switch {
	case !s.disk.There(path):
		s.ds.Add(diag.Diagnostic{
			Severity: diag.Warning, Pos: src.Pos(), Width: utf8.RuneCountInString(text),
			Message: "no such file yet: " + plan.ShownPath(s.root, path),
		})
	case t.Action == "template" && isRegular(path):
		s.document(path)
	}
}

// document looks for mistakes in the file of a template.
func (s *surveyor) document(path string) {
	f, ok := s.read(path)
	if !ok || !utf8.Valid(f.Text) {
		return
	}
	text := string(f.Text)
	if _, err := s.engine.Document(text); err != nil {
		if e, ok := errors.AsType[*value.Error](err); ok {
			line, column := plan.LineColumn(text, max(e.Offset, 0))
			s.errorf(diag.Pos{File: f.Name, Line: line, Column: column}, e.Width, e.Hint, "%s", e.Message)
		}
	}
	for _, m := range lookups.FindAllStringSubmatchIndex(text, -1) {
		line, column := plan.LineColumn(text, m[2])
		s.lookup(text[m[2]:m[3]], diag.Pos{File: f.Name, Line: line, Column: column})
	}
}

func (s *surveyor) include(t *playbook.Task, at source.Lookout) {
	text := t.Args.Text()
	if text == "" {
		return
	}
	if eval.Templated(text) {
		s.unfollowed(t.Args, "the file")
		return
	}
	path, ok := at.FindTasks(text, s.o.Home, s.disk)
	if !ok {
		s.missing(t.Args, t.ActionKey+": no such file: %s", plan.ShownPath(s.root, path))
		return
	}
	s.taskFile(path, at)
}

func (s *surveyor) missing(v playbook.Value, format, name string) {
	s.errorf(v.Pos(), utf8.RuneCountInString(plan.FirstLine(v.Text())), "", format, name)
}

func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// taskFile looks at a file of tasks that is named from a place.
func (s *surveyor) taskFile(path string, from source.Lookout) {
	f, ok := s.read(path)
	if !ok {
		return
	}
	from.Dir = filepath.Dir(path)
	if from.Steps {
		pb := playbook.Parse(f, s.o.Actions(), &s.ds)
		s.templates(pb.Vars)
		for _, v := range pb.VarsFiles {
			s.varsFiles([]playbook.Value{v}, from)
		}
		s.tasks(pb.Tasks, from)
		s.tasks(pb.Handlers, from)
		return
	}
	s.tasks(playbook.ParseTasks(f, s.o.Actions(), &s.ds), from)
}

// handlerFile looks at a file of handlers of a role.
func (s *surveyor) handlerFile(path string, from source.Lookout) {
	if f, ok := s.read(path); ok {
		from.Dir = filepath.Dir(path)
		s.tasks(playbook.ParseHandlers(f, s.o.Actions(), &s.ds), from)
	}
}

func (s *surveyor) includeVars(t *playbook.Task, at source.Lookout) {
	text := t.Args.Text()
	if text == "" || eval.Templated(text) {
		return // most are chosen by facts, from a list of files
	}
	path := source.NewSearch(at.Files("vars"), s.disk).Find(text, s.o.Home)
	if !s.disk.There(path) {
		s.missing(t.Args, "include_vars: no such file: %s", plan.ShownPath(s.root, path))
		return
	}
	s.vars(path)
}

// varsFiles looks at files of variables of which the first that exists counts.
func (s *surveyor) varsFiles(choice []playbook.Value, at source.Lookout) {
	var tried []string
	all := true
	for _, v := range choice {
		name, ok := s.static(v, at.Dir, "the file of variables")
		if !ok {
			all = false
			continue
		}
		if path := source.NewSearch(at.VarsFiles(), s.disk).Find(v.Text(), s.o.Home); s.disk.There(path) {
			s.vars(path)
			all = false
		} else {
			tried = append(tried, plan.ShownPath(s.root, name))
		}
	}
	switch {
	case !all || len(tried) == 0:
	case len(tried) == 1:
		s.missing(choice[0], "vars_files: no such file: %s", tried[0])
	default:
		s.missing(choice[0], "vars_files: none of these files exists: %s", strings.Join(tried, ", "))
	}
}

func (s *surveyor) vars(path string) {
	f, ok := s.read(path)
	if !ok {
		return
	}
	if v, ok := playbook.ParseVars(f, &s.ds); ok {
		s.templates(v)
	}
}

// role looks into the directory of a role: at all of it, because any of its files may be asked for.
func (s *surveyor) role(t *playbook.Task, at source.Lookout) {
	name := t.Args.Text()
	if name == "" {
		return
	}
	if eval.Templated(name) {
		s.unfollowed(t.Args, "the role")
		return
	}
	dir, ok := at.FindRole(name, s.o.Home, s.o.RolesPath, s.disk)
	if !ok {
		s.missing(t.Args, "there is no role %s", plan.Quoted(name))
		return
	}
	if s.seen[dir] {
		return
	}
	s.seen[dir] = true
	inside := at
	inside.Dir, inside.Roles = dir, append([]string{dir}, at.Roles...)
	for _, kind := range []string{"tasks", "handlers", "defaults", "vars", "meta"} {
		for _, path := range yamlFiles(filepath.Join(dir, kind)) {
			switch base := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)); {
			case kind == "tasks":
				s.taskFile(path, inside)
			case kind == "handlers":
				s.handlerFile(path, inside)
			case kind != "meta":
				s.vars(path)
			case base == "main":
				if f, ok := s.read(path); ok {
					s.tasks(playbook.ParseMeta(f, s.o.Actions(), &s.ds).Dependencies, inside)
				}
			}
		}
	}
	s.plugins(dir)
}

// yamlFiles are the files of a directory that hold tasks or variables.
func yamlFiles(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var all []string
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); !e.IsDir() && (ext == ".yml" || ext == ".yaml") {
			all = append(all, filepath.Join(dir, e.Name()))
		}
	}
	return all
}

// pluginDirs are the directories in which Ansible finds plugins in Python, which moon does not load.
var pluginDirs = []string{
	"action_plugins", "callback_plugins", "connection_plugins", "filter_plugins", "lookup_plugins", "module_utils", "strategy_plugins",
	"test_plugins", "vars_plugins",
}

func (s *surveyor) plugins(dir string) {
	for _, name := range pluginDirs {
		entries, err := os.ReadDir(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		for _, e := range entries {
			if filepath.Ext(e.Name()) == ".py" && e.Name() != "__init__.py" {
				file := plan.ShownPath(s.root, filepath.Join(dir, name, e.Name()))
				s.errorf(diag.Pos{File: file}, 0, "see moon plugin for what moon loads instead",
					"an Ansible plugin in Python is not loaded")
			}
		}
	}
}

// templates compiles every text below a value that is a template.
func (s *surveyor) templates(v playbook.Value) {
	switch v.Kind() {
	case playbook.List:
		for _, item := range v.Items() {
			s.templates(item)
		}
	case playbook.Map:
		for _, e := range v.Entries() {
			s.templates(e.Value)
		}
	case playbook.String:
		if v.Literal() || !eval.Templated(v.Text()) {
			return
		}
		_, err := s.engine.Template(v.Text())
		s.wrong(v, err)
	case playbook.Null, playbook.Bool, playbook.Int, playbook.Float:
	}
}

func (s *surveyor) conditions(v playbook.Value) {
	values := []playbook.Value{v}
	if v.Kind() == playbook.List {
		values = v.Items()
	}
	for _, one := range values {
		if one.Kind() == playbook.String && !one.Encrypted() && strings.TrimSpace(one.Text()) != "" {
			_, err := s.engine.Condition(one.Text(), s.lang)
			s.wrong(one, err)
		}
	}
}

// lookups finds the calls of lookups in a text.
var lookups = regexp.MustCompile(`\b(?:lookup|query|q)\(\s*['"]([A-Za-z_][\w.]*)['"]`)

func (s *surveyor) wrong(v playbook.Value, err error) {
	if e, ok := errors.AsType[*value.Error](err); ok {
		pos, width := v.Pos(), 0
		if e.Offset >= 0 && e.Offset+e.Width <= len(v.Text()) {
			pos, width = v.PosAt(e.Offset), utf8.RuneCountInString(v.Text()[e.Offset:e.Offset+e.Width])
		}
		s.errorf(pos, width, e.Hint, "%s", e.Message)
	}
	for _, m := range lookups.FindAllStringSubmatchIndex(v.Text(), -1) {
		s.lookup(v.Text()[m[2]:m[3]], v.PosAt(m[2]))
	}
}

func (s *surveyor) lookup(name string, pos diag.Pos) {
	plain := strings.TrimPrefix(strings.TrimPrefix(name, "ansible.builtin."), "ansible.legacy.")
	if !slices.Contains(playbook.Lookups, plain) {
		s.errorf(pos, utf8.RuneCountInString(name), suggest.DidYouMean(plain, playbook.Lookups), "there is no lookup `%s`", name)
	}
}
