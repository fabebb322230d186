package inventory

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/internal/pattern"
	"moon/internal/suggest"
	"moon/plan/playbook"
)

// iniReader reads one file, line by line.
type iniReader struct {
	inv    *Inventory
	f      *playbook.File
	line   int
	group  *Group
	lines  lineKind
	vague  []vague              // groups that have not been declared yet
	childs map[string][]waiting // of groups that have not been declared yet, by name
	known  map[string]bool      // declared here
}

// longestLine is how many bytes one may have.
const longestLine = 1 << 20

// lineKind is what the lines of a section hold.
type lineKind uint8

const (
	hostLines lineKind = iota
	varLines
	childLines
	noLines // of a section that is not understood
)

var lineKinds = map[string]lineKind{"": hostLines, "hosts": hostLines, "vars": varLines, "children": childLines}

// vague is a mention of a group that must be declared somewhere.
type vague struct {
	name    string
	pos     diag.Pos
	section string
}

// waiting is a group that waits for a child.
type waiting struct {
	parent *Group
	pos    diag.Pos
}

// sectionOf takes the head of a section apart: [name] or [name:kind], behind which there may be a comment.
func sectionOf(text string) (name, kind string, ok bool) {
	inside, after, closed := strings.Cut(text, "]")
	if text[0] != '[' || !closed || !isBlank(after) {
		return "", "", false
	}
	name, kind, colon := strings.Cut(inside[1:], ":")
	word := func(s string) bool { return s != "" && !strings.ContainsFunc(s, unicode.IsSpace) }
	return name, kind, word(name) && (!colon || word(kind) && !strings.Contains(kind, ":"))
}

// isBlank reports whether nothing follows but a comment.
func isBlank(text string) bool {
	text = strings.TrimSpace(text)
	return text == "" || text[0] == '#'
}

// bracketed looks like a list or a map, and is no template.
var bracketed = pattern.New(`^(?:\[.*\]|\{[^{%].*\})$`)

func (inv *Inventory) readINI(f *playbook.File) {
	r := &iniReader{inv: inv, f: f, group: inv.groups["ungrouped"], childs: map[string][]waiting{}, known: map[string]bool{}}
	// Groups of other sources are known as well, so that a hint can name them.
	for _, g := range inv.Groups {
		r.known[g.Name] = true
	}
	text := strings.TrimPrefix(string(f.Text), "\xef\xbb\xbf")
	for line := range strings.Lines(text) {
		r.line++
		if inv.ds.Full() {
			return
		}
		r.readLine(strings.TrimRight(line, "\r\n"))
	}
	r.checkGroups()
}

func (r *iniReader) posAt(column int) diag.Pos {
	return diag.Pos{File: r.f.Name, Line: r.line, Column: column}
}

func (r *iniReader) failAt(column, width int, hint, message string) {
	r.inv.ds.Add(diag.Diagnostic{Pos: r.posAt(column), Width: width, Message: message, Hint: hint})
}

func (r *iniReader) warnAt(column, width int, hint, message string) {
	r.inv.ds.Add(diag.Diagnostic{Severity: diag.Warning, Pos: r.posAt(column), Width: width, Message: message, Hint: hint})
}

func (r *iniReader) readLine(line string) {
	text := strings.TrimSpace(line)
	if text == "" || text[0] == '#' || text[0] == ';' {
		return
	}
	// The parser walks a line several times; no author writes a megabyte on one.
	if len(text) > longestLine {
		r.failAt(1, 0, "write large values as YAML, in group_vars or host_vars", "this line is longer than a megabyte")
		return
	}
	column := utf8.RuneCountInString(line[:strings.Index(line, text)]) + 1
	if !utf8.ValidString(line) {
		r.failAt(1, 0, "save the file as UTF-8", "this line is not valid UTF-8")
		return
	}
	if name, kind, ok := sectionOf(text); ok {
		r.beginSection(name, kind, column)
		return
	}
	if text[0] == '[' && strings.HasSuffix(text, "]") {
		// Lines below belong to no group, and are skipped without further messages.
		r.lines = noLines
		r.failAt(column, utf8.RuneCountInString(text), "the name of a group has no spaces, colons or brackets",
			"a section is [group], [group:vars] or [group:children]")
		return
	}
	switch r.lines {
	case hostLines:
		r.readHosts(text, column)
	case varLines:
		r.readVariable(text, column)
	case childLines:
		r.readChild(text, column)
	case noLines: // the mistake is above
	}
}

func (r *iniReader) beginSection(name, kind string, column int) {
	lines, ok := lineKinds[kind]
	if !ok {
		r.lines = noLines
		hint := suggest.DidYouMean(kind, []string{"vars", "children", "hosts"})
		if hint == "" {
			hint = "a section is [" + name + "], [" + name + ":vars] or [" + name + ":children]"
		}
		r.failAt(column+utf8.RuneCountInString(name)+2, utf8.RuneCountInString(kind), hint, "sections of the kind `"+kind+"` are not known")
		return
	}
	pos := r.posAt(column + 1)
	known := r.inv.groups[name] != nil
	r.group, r.lines = r.inv.findGroup(name, pos), lines
	if lines == varLines {
		// Variables may come before the group; whether it is declared shows at the end.
		if !known {
			r.vague = append(r.vague, vague{name, pos, "[" + name + ":vars]"})
		}
		return
	}
	if !r.known[name] {
		r.known[name], r.group.Pos = true, pos
	}
	// Groups that were named as children earlier take their place now.
	for _, c := range r.childs[name] {
		r.inv.addChild(c.parent, r.group, c.pos)
	}
	delete(r.childs, name)
}

// addChild puts a group below another, or says why that cannot be.
func (inv *Inventory) addChild(parent, child *Group, pos diag.Pos) {
	if addChild(parent, child) {
		return
	}
	message := "the group `" + child.Name + "` would be below itself: " + nameCircle(parent, child)
	if child.Name == "all" {
		message = "the group `all` has all others below it, and is below none"
	}
	inv.ds.Add(diag.Diagnostic{
		Pos: pos, Width: utf8.RuneCountInString(child.Name), Message: message,
		Hint: "take it out of one of these groups",
	})
}

// nameCircle names the way from a group down to the parent it would get, and back.
func nameCircle(parent, child *Group) string {
	var way func(g *Group) []string
	seen := map[*Group]bool{}
	way = func(g *Group) []string {
		if g == parent {
			return []string{g.Name}
		}
		seen[g] = true
		for _, c := range g.Children {
			if !seen[c] {
				if rest := way(c); rest != nil {
					return append([]string{g.Name}, rest...)
				}
			}
		}
		return nil
	}
	return strings.Join(append(way(child), child.Name), " → ")
}

func (r *iniReader) readChild(text string, column int) {
	name, after := text, ""
	if i := strings.IndexFunc(text, unicode.IsSpace); i >= 0 {
		name, after = text[:i], text[i:]
	}
	if !isBlank(after) || strings.ContainsAny(name, ":]") {
		r.failAt(column, utf8.RuneCountInString(text), "one group on each line; hosts are in ["+r.group.Name+"]",
			"a section of children holds names of groups")
		return
	}
	pos := r.posAt(column)
	c := waiting{r.group, pos}
	// A child may be declared further down.
	if g := r.inv.groups[name]; g != nil {
		r.inv.addChild(c.parent, g, c.pos)
		return
	}
	if len(r.childs[name]) == 0 {
		r.vague = append(r.vague, vague{name, pos, "[" + r.group.Name + ":children]"})
	}
	r.childs[name] = append(r.childs[name], c)
}

func (r *iniReader) readVariable(text string, column int) {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		r.failAt(column, utf8.RuneCountInString(text), wayToEquals(text), "variables are name=value")
		return
	}
	key := strings.TrimSpace(name)
	if key == "" {
		r.failAt(column, 1, "", "there is no name before `=`")
		return
	}
	// The value may have blanks in front, which the column must count.
	column += utf8.RuneCountInString(name) + 1
	trimmed := strings.TrimSpace(value)
	column += utf8.RuneCountInString(value[:strings.Index(value, trimmed)])
	v := r.readValue(word{text: trimmed, columns: columnsOf(trimmed, column), column: column})
	// As in Ansible, in this kind of section only whole lines are comments.
	if before, _, ok := strings.Cut(trimmed, " #"); ok && v.Kind() == playbook.String && v.Text() == trimmed {
		r.warnAt(column+utf8.RuneCountInString(before)+1, 1, "write comments on lines of their own",
			"the value of `"+key+"` extends to the end of the line, including what looks like a comment")
	}
	r.inv.setGroup(r.group, key, v)
}

// wayToEquals is the hint for a variable that is written as in YAML.
func wayToEquals(text string) string {
	if name, value, ok := strings.Cut(text, ":"); ok && !strings.ContainsAny(name, " \t") && name != "" {
		return "write " + name + "=" + strings.TrimSpace(value)
	}
	return ""
}

func columnsOf(text string, column int) []int {
	all := make([]int, 0, len(text))
	for _, c := range text {
		for range utf8.RuneLen(c) {
			all = append(all, column)
		}
		column++
	}
	return all
}

func (r *iniReader) readValue(w word) playbook.Value {
	if len(w.columns) == 0 {
		w.columns = []int{w.column}
	}
	return playbook.Literal(r.f, w.text, r.line, w.columns)
}

// setGroup gives a group a variable; one of them is its priority.
func (inv *Inventory) setGroup(g *Group, name string, v playbook.Value) {
	if name != "ansible_group_priority" {
		g.inline.setVar(name, v)
		return
	}
	n, err := strconv.Atoi(strings.TrimSpace(v.Text()))
	if err != nil || v.Kind() != playbook.Int && v.Kind() != playbook.String {
		inv.failAt(v.Pos(), "groups of equal depth count by it, and have 1", "ansible_group_priority is a whole number")
		return
	}
	g.Priority = n
}

// readHosts reads a line of a name, which may stand for many, and variables.
func (r *iniReader) readHosts(text string, column int) {
	words, cut, err := splitWords(text, column)
	if err != nil {
		hint := "put what has spaces or quotes in it into quotes of the other kind"
		if errors.Is(err, errLoneBackslash) {
			hint = "write two for one; a line does not continue on the next"
		}
		r.failAt(column, utf8.RuneCountInString(text), hint, err.Error())
		return
	}
	if len(words) == 0 {
		return
	}
	// In lines of hosts a # ends the line even in a word.
	if cut > 0 {
		r.warnAt(cut, 1, "put it into quotes if it belongs to the value, or a space before it",
			"`#` begins a comment here, in the middle of a word")
	}
	names, port, ok := r.expandNames(words[0])
	var vars Layer
	anyVariable := slices.ContainsFunc(words, func(w word) bool { return strings.Contains(w.text, "=") })
	for i, w := range words[1:] {
		name, _, found := strings.Cut(w.text, "=")
		if !found || name == "" {
			if strings.HasSuffix(words[i].text, ":") && i > 0 {
				continue // the value of name: value, which is said already
			}
			if r.inv.ds.Full() {
				return
			}
			r.failAt(w.column, max(utf8.RuneCountInString(w.text), 1), notVariable(words, i+1, anyVariable),
				"after the name of a host there are variables, as name=value")
			continue
		}
		v := r.readValue(w.restAfter(len(name) + 1))
		// Quotes are for the shell's way of splitting, so Ansible sees none of them.
		if text := v.Text(); w.within && v.Kind() == playbook.String && bracketed.MatchString(text) {
			r.warnAt(w.column, utf8.RuneCountInString(w.text), "put quotes of the other kind around the whole value",
				"the quotes within the value of `"+name+"` are taken away, and the rest is text, no list or map")
		}
		vars.setVar(name, v)
	}
	if !ok {
		return
	}
	// Variables of the line count for each host that it names.
	for _, name := range names {
		h := r.inv.findHost(name, r.f.Path, r.posAt(words[0].column))
		addMember(r.group, h)
		if !port.IsZero() {
			h.inline.setVar("ansible_port", port)
		}
		for _, v := range vars.Vars {
			h.inline.setVar(v.Name, v.Value)
		}
	}
}

// notVariable is the hint for the word that is none. anyVariable reports whether another word of the line is one.
func notVariable(words []word, at int, anyVariable bool) string {
	text := words[at].text
	if strings.HasSuffix(text, ":") && at+1 < len(words) {
		text += " " + words[at+1].text
	}
	if hint := wayToEquals(text); hint != "" {
		return hint
	}
	if !anyVariable {
		return "write one host on each line, and variables as name=value"
	}
	return "put a value with spaces into quotes"
}

// expandNames returns the names of the hosts that the first word of a line stands for.
func (r *iniReader) expandNames(w word) (names []string, port playbook.Value, ok bool) {
	width := utf8.RuneCountInString(w.text)
	name, digits := splitPort(w.text)
	switch {
	case w.text == "---":
		r.failAt(w.column, width, "name the file .yml if it is YAML", "`---` is not a host")
	case w.text == "":
		r.failAt(w.column, 1, "", "the name of a host is empty")
	case strings.HasSuffix(w.text, ":") && !strings.Contains(w.text, "["):
		r.failAt(w.column, width, "a port follows after a colon, as in web1:2222; in YAML the file is named .yml",
			"the name of a host does not end in `:`")
	case strings.Contains(name, "="):
		r.failAt(w.column, width, "write variables of the group in ["+r.group.Name+":vars]",
			"a line of a group begins with the name of a host")
	default:
		var err error
		if names, err = r.inv.expandName(name); err != nil {
			r.failAt(w.column, width, "", err.Error())
			return nil, port, false
		}
		if digits != "" {
			port = r.readValue(w.restAfter(len(w.text) - len(digits)))
		}
		return names, port, true
	}
	return nil, port, false
}

// checkGroups reports groups that are mentioned and nowhere declared.
func (r *iniReader) checkGroups() {
	var names []string
	for name := range r.known {
		names = append(names, name)
	}
	for _, v := range r.vague {
		// It was declared further down after all.
		if r.known[v.name] || len(r.childs[v.name]) == 0 && !strings.HasSuffix(v.section, ":vars]") {
			continue
		}
		hint := suggest.DidYouMean(v.name, names)
		if hint == "" {
			hint = "declare it: [" + v.name + "]"
		}
		r.inv.ds.Add(diag.Diagnostic{
			Pos: v.pos, Width: utf8.RuneCountInString(v.name),
			Message: v.section + " names the group `" + v.name + "`, which does not exist", Hint: hint,
		})
	}
}
