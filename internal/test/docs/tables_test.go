package docs

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"moon/config"
	"moon/exec/facts"
	"moon/exec/spec"
	"moon/internal/test/fakes"
	"moon/plan"
	"moon/plan/eval"
	"moon/plan/playbook"
	"moon/plan/vars"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
)

// tables are the parts of the pages that the code writes, between `<!-- name -->` and `<!-- /name -->`.
var tables = map[string]map[string]func() string{
	playbookPage: {
		"document-keys":   func() string { return describedTable(playbook.DocumentKeys) },
		"directives":      func() string { return describedTable(playbook.Directives) },
		"keys":            keyTable,
		"actions":         actionTable,
		"loop-keys":       func() string { return describedTable(playbook.LoopKeys) },
		"confirm-keys":    func() string { return describedTable(playbook.ConfirmKeys) },
		"later":           laterTable,
		"preset-keys":     func() string { return quotedList(playbook.PresetKeys, 0) },
		"parameter-keys":  func() string { return quotedList(playbook.ParameterKeys, 0) },
		"parameter-types": func() string { return quotedList(playbook.ParameterTypes, 0) },
	},
	playsPage: {
		"connection": func() string { return connectionTable(vars.Honoured, "") },
		"unhonoured": func() string { return connectionTable(vars.Unhonoured, "instead") },
		"harmless":   func() string { return connectionTable(vars.Harmless, "why") },
		"play-keys":  playKeyTable,
		"task-keys":  taskKeyTable,
		"precedence": precedenceTable,
		"magic":      magicTable,
	},
	actionsPage: {
		"actions": actionReference,
	},
	readmePage: {
		"actions": actionSentence,
	},
	themesPage: {
		"roles":  func() string { return quotedList(roleNames(), pageWidth) },
		"glyphs": func() string { return quotedList(draw.GlyphNames(), pageWidth) },
	},
	keysPage: {
		"keys": usualKeys,
	},
	configPage: {
		"settings": settingTable,
	},
	runningPage: {
		"outcomes": func() string { return quotedList(playbook.NeedOutcomes(), 0) },
	},
	templatesPage: {
		"tags":                func() string { return quotedList(eval.Words().Tags, pageWidth) },
		"tests":               func() string { return quotedList(eval.Words().Tests, pageWidth) },
		"functions":           func() string { return quotedList(eval.Words().Functions, pageWidth) },
		"lookups":             func() string { return quotedList(eval.Words().Lookups, pageWidth) },
		"methods":             func() string { return quotedList(eval.Words().Methods, pageWidth) },
		"condition-functions": func() string { return quotedList(eval.Words().Conditions, pageWidth) },
	},
}

func playKeyTable() string {
	var rows [][]string
	for i := range playbook.PlayKeys {
		if k := &playbook.PlayKeys[i]; k.Supported() {
			rows = append(rows, []string{"`" + k.Name + "`", k.Doc})
		}
	}
	return table([]string{"key", "meaning"}, rows)
}

func taskKeyTable() string {
	var rows [][]string
	for i := range playbook.PlayTaskKeys {
		if k := &playbook.PlayTaskKeys[i]; k.Supported() {
			rows = append(rows, []string{spellings(k.Name, k.Aliases), k.Doc})
		}
	}
	return table([]string{"key", "meaning"}, rows)
}

// settingTable is what files of settings may say.
func settingTable() string {
	var rows [][]string
	for _, s := range config.Settings() {
		is := map[config.Kind]string{config.Text: "text", config.List: "list", config.Bool: "true or false", config.Number: "number", config.Duration: "time"}[s.Kind]
		if s.Words != nil {
			is = quotedList(s.Words, 0)
		}
		usual := s.Usual
		if usual == "" {
			usual = "–"
		}
		rows = append(rows, []string{"`" + s.Name + "`", is, usual, s.About})
	}
	return table([]string{"setting", "is", "default", ""}, rows)
}

// precedenceTable is what the planner walks when it looks a variable of a play up.
func precedenceTable() string {
	var rows [][]string
	for _, level := range vars.Levels {
		for _, s := range level.Sources {
			rows = append(rows, []string{s.Name, s.Doc})
		}
	}
	return table([]string{"from", ""}, rows)
}

func magicTable() string {
	var rows [][]string
	for _, m := range vars.Magic {
		rows = append(rows, []string{"`" + m.Name + "`", m.Doc})
	}
	return table([]string{"variable", ""}, rows)
}

// connectionTable is what becomes of the variables with which Ansible's connections are set up.
func connectionTable(honour vars.Honour, doc string) string {
	var rows [][]string
	for _, v := range vars.ConnectionVariables {
		if v.Honour == honour {
			rows = append(rows, []string{quotedList(v.Names, 0), v.Doc})
		}
	}
	return table([]string{"variable", doc}, rows)
}

func roleNames() (names []string) {
	for r := range themes.Roles {
		names = append(names, r.String())
	}
	return names
}

// usualKeys is the table of keys of those who have no keys.yaml.
func usualKeys() string {
	var b strings.Builder
	_ = keymap.UsualKeys().Markdown(&b) // which cannot fail
	return strings.TrimSpace(b.String())
}

// pageWidth is how wide generated text may be.
const pageWidth = 120

// TestDocsTables compares the generated parts of the pages with the code.
func TestDocsTables(t *testing.T) {
	for page, parts := range tables {
		text := strings.Join(fakes.ReadLines(t, page), "\n")
		for _, name := range slices.Sorted(maps.Keys(parts)) {
			before, got, after := fakes.CutMarked(t, page, text, name)
			want := parts[name]()
			if strings.HasSuffix("\n"+before, "\n<!-- "+name+" -->") {
				want = "\n" + want + "\n"
			}
			if got == want {
				continue
			}
			if os.Getenv("UPDATE") == "" {
				t.Errorf("%s: the part %s is\n%s\nand should be\n%s", page, name, got, want)
				continue
			}
			text = before + want + after
		}
		fakes.WriteLines(t, page, strings.Split(text, "\n"))
	}
}

// kindWords are the shapes of values as the page calls them.
var kindWords = map[playbook.Shape]string{
	playbook.AnyText: "text", playbook.Boolean: "true or false", playbook.Confirmation: "true, text, or a map", playbook.BoolOrNumber: "true, or a number",
	playbook.Condition: "condition", playbook.Conditions: "condition, or a list", playbook.Number: "number", playbook.Duration: "duration",
	playbook.Identifier: "name of a variable", playbook.Handle: "id", playbook.Texts: "text, or a list", playbook.PromptList: "list of maps", playbook.Variables: "map",
	playbook.Environment: "map", playbook.Fields: "map", playbook.LoopOver: "list, map or expression", playbook.LoopSettings: "map",
	playbook.NeedsList: "id, or a list", playbook.Steps: "list of steps", playbook.OneStep: "step", playbook.ImportList: "map of paths, or a list of maps", playbook.ExportList: "list of names, or a map", playbook.FilePath: "path", playbook.FormatVersion: "1",
	playbook.StrategyWord: "`linear`, `graph`", playbook.PresetCall: "name, or `{name, with}`", playbook.ApproveWord: "`expanded`", playbook.OrphansWord: "`keep`, `remove`, `forget`", playbook.DefaultsMap: "map",
}

// allowed are the words for the kinds of task that a key may stand on.
func allowed(k *playbook.Key) string {
	var on []string
	groups := k.On(playbook.Include) && k.On(playbook.Preset) && k.On(playbook.Block)
	for _, w := range []struct {
		word string
		on   bool
	}{
		{"actions", k.On(playbook.Action)},
		{"groups", groups},
		{"includes", k.On(playbook.Include) && !groups},
		{"presets", k.On(playbook.Preset) && !groups},
		{"blocks", k.On(playbook.Block) && !groups},
		{"`vars`", k.On(playbook.Vars)},
		{"`include_vars`", k.On(playbook.IncludeVars)},
	} {
		if w.on {
			on = append(on, w.word)
		}
	}
	if len(on) == 4 {
		return "all"
	}
	return strings.Join(on, ", ")
}

func keyTable() string {
	var rows [][]string
	for i := range playbook.Keys {
		if k := &playbook.Keys[i]; k.Supported() {
			rows = append(rows, []string{spellings(k.Name, k.Aliases), shapeWord(k.Shape()), allowed(k), k.Doc})
		}
	}
	return table([]string{"key", "value", "on", "meaning"}, rows)
}

func shapeWord(s playbook.Shape) string {
	word, ok := kindWords[s]
	if !ok {
		panic("a shape has no word for the page: " + strconv.Itoa(int(s)))
	}
	return word
}

func describedTable(keys []playbook.Described) string {
	var rows [][]string
	for _, k := range keys {
		rows = append(rows, []string{spellings(k.Name, k.Aliases), shapeWord(k.Shape), k.Doc})
	}
	return table([]string{"key", "value", "meaning"}, rows)
}

func laterTable() string {
	var rows [][]string
	for i := range playbook.Keys {
		if k := &playbook.Keys[i]; !k.Supported() {
			rows = append(rows, []string{spellings(k.Name, k.Aliases), k.Later()})
		}
	}
	return table([]string{"key", "what moon says"}, rows)
}

func actionTable() string {
	var rows [][]string
	for _, a := range spec.All() {
		var fields []string
		for _, f := range a.Fields() {
			word := "`" + f.Name + "`"
			if f.Required {
				word = "**" + word + "**"
			}
			fields = append(fields, word)
		}
		if a.Open {
			fields = append([]string{"any name"}, fields...)
		}
		plain := a.Free
		if a.FreeList != "" && a.FreeList != a.Free {
			plain = strings.Trim(plain+"`, list: `"+a.FreeList, "`, ")
		}
		if plain != "" {
			plain = "`" + plain + "`"
		}
		doc, _, _ := strings.Cut(a.Doc, ". ")
		rows = append(rows, []string{spellings(a.Name, a.Aliases), strings.TrimSuffix(doc, "."), plain, strings.Join(fields, ", ")})
	}
	return table([]string{"action", "does", "plain text is", "fields"}, rows)
}

func spellings(name string, aliases []string) string {
	return quotedList(append([]string{name}, aliases...), 0)
}

// quotedList is `a`, `b` in lines of at most that width, or in one.
func quotedList(words []string, width int) string {
	var b strings.Builder
	column := 0
	for i, w := range words {
		w = "`" + w + "`"
		if i < len(words)-1 {
			w += ","
		}
		switch {
		case i == 0:
		case width > 0 && column+1+len(w) > width:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(w)
		column += len(w)
	}
	return b.String()
}

func table(head []string, rows [][]string) string {
	line := func(cells []string) string {
		escaped := make([]string, len(cells))
		for i, c := range cells {
			escaped[i] = strings.ReplaceAll(c, "|", `\|`)
		}
		return "| " + strings.Join(escaped, " | ") + " |"
	}
	lines := []string{line(head), "|" + strings.Repeat(" --- |", len(head))}
	for _, r := range rows {
		lines = append(lines, line(r))
	}
	return strings.Join(lines, "\n")
}

// firstColumn is what stands in the first cells of a table, row by row.
func firstColumn(t *testing.T, page, name string) [][]string {
	t.Helper()
	_, part, _ := fakes.CutMarked(t, page, strings.Join(fakes.ReadLines(t, page), "\n"), name)
	var rows [][]string
	for line := range strings.Lines(strings.TrimSpace(part)) {
		cell, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |")
		rows = append(rows, strings.Split(cell, ", "))
	}
	return rows[2:] // without the head and the line below it
}

// quotedNames are the names in backquotes of a table's first column, sorted.
func quotedNames(t *testing.T, page, table string) []string {
	t.Helper()
	var all []string
	for _, row := range firstColumn(t, page, table) {
		for _, name := range row {
			all = append(all, strings.Trim(name, "`"))
		}
	}
	slices.Sort(all)
	return all
}

// The tables below are written by hand; that they are complete is tested.

func TestDocsFacts(t *testing.T) {
	var want []string
	for name := range facts.Local() {
		want = append(want, name)
	}
	for name, value := range facts.Volatile() {
		want = append(want, name)
		if m, ok := value.(map[string]any); ok {
			for part := range m {
				want = append(want, name+"."+part)
			}
		}
	}
	for name := range facts.Costly() {
		want = append(want, name)
	}
	slices.Sort(want)
	same(t, "facts", quotedNames(t, playbookPage, "facts"), want)
}

func TestDocsResults(t *testing.T) {
	var want []string
	for name := range (plan.Result{Message: "x"}).Registered() {
		want = append(want, "r."+name)
	}
	slices.Sort(want)
	same(t, "results", quotedNames(t, runningPage, "results"), want)
}

func TestDocsFiletree(t *testing.T) {
	p, says := planExample(t, fence{text: []string{"- print: x", "  with_filetree: dir", "# file: dir/x", "x"}})
	if p == nil {
		t.Fatal(says)
	}
	item, _ := p.Steps[0].Loop.Item.(map[string]any)
	same(t, "filetree", quotedNames(t, playbookPage, "filetree"), slices.Sorted(maps.Keys(item)))
}

// TestDocsPrecedence compares the table with the list that TestPrecedence of package plan tries in every pair.
func TestDocsPrecedence(t *testing.T) {
	source, err := os.ReadFile("plan/precedence_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(source), "var sources")
	list, _, _ = strings.Cut(list, "\n}\n")
	var want []string
	rank := ""
	for _, m := range regexp.MustCompile(`\{"([^"]+)", (\d+)\}`).FindAllStringSubmatch(list, -1) {
		if m[2] == rank {
			want[len(want)-1] += ", " + m[1]
			continue
		}
		rank = m[2]
		want = append(want, m[1])
	}
	if len(want) == 0 {
		t.Fatal("the list of plan/precedence_test.go is not found")
	}
	var got []string
	for _, row := range firstColumn(t, playbookPage, "precedence") {
		got = append(got, strings.Join(row, ", "))
	}
	same(t, "precedence", got, want)
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("the table %s has\n%s\nand should have\n%s", what, fmt.Sprintf("%q", got), fmt.Sprintf("%q", want))
	}
}

// actionReference describes every action.
func actionReference() string {
	var b strings.Builder
	for _, a := range spec.All() {
		fmt.Fprintf(&b, "\n## %s\n\n", a.Name)
		if len(a.Aliases) > 0 {
			fmt.Fprintf(&b, "Also %s. ", quotedList(a.Aliases, 0))
		}
		fmt.Fprintf(&b, "%s\n", a.Doc)
		if notes := strings.TrimSpace(a.Notes()); notes != "" {
			fmt.Fprintf(&b, "\n%s\n", notes)
		}
		fmt.Fprintf(&b, "\n%s\n\n%s\n\n", table([]string{"field", "value", "meaning"}, fieldRows("", a.Fields())), returnTable(a))
		fmt.Fprintf(&b, "%s\n\n```yaml example\n%s```\n", dryWords(a), a.Example)
	}
	return strings.TrimSuffix(strings.TrimPrefix(b.String(), "\n"), "\n")
}

func fieldRows(prefix string, fields []spec.Field) [][]string {
	var rows [][]string
	for _, f := range fields {
		value := f.Kind.String()
		if len(f.Enum) > 0 {
			value = quotedList(f.Enum, 0)
		}
		meaning := f.Doc
		switch {
		case f.Required:
			meaning = "Required. " + meaning
		case f.Default != "":
			meaning += " Default: " + f.Default + "."
		}
		var aliases []string
		for _, alias := range f.Aliases {
			aliases = append(aliases, prefix+alias)
		}
		rows = append(rows, []string{spellings(prefix+f.Name, aliases), value, meaning})
		rows = append(rows, fieldRows(prefix+f.Name+".", f.Fields)...)
	}
	return rows
}

func returnTable(a *spec.Action) string {
	var rows [][]string
	for _, r := range a.Returns {
		rows = append(rows, []string{"`" + r.Name + "`", r.Doc})
	}
	return table([]string{"returns", "what"}, rows)
}

// dryWords says what a dry run tells of the action.
func dryWords(a *spec.Action) string {
	switch {
	case a.Check && a.Diff:
		return "A dry run predicts the change, and with `--diff` shows it."
	case a.Check:
		return "A dry run predicts what it does."
	case a.Changes:
		return "A dry run does not run it. A run without an error counts as a change, unless the step says otherwise."
	}
	return "It changes nothing outside of moon."
}

func actionSentence() string {
	var names []string
	for _, a := range spec.All() {
		names = append(names, a.Name)
	}
	return quotedList(names, pageWidth)
}
