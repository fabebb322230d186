package keymap

import (
	"math/bits"
	"strings"
)

// Intent is what a key means. Models hear intents, never keys.
type Intent uint8

// The intents, one for each thing a key can mean.
const (
	IntentNone Intent = iota
	CursorDown
	CursorUp
	CursorTop
	CursorBottom
	CursorHalfDown
	CursorHalfUp
	CursorPageDown
	CursorPageUp
	CursorPointer
	CursorFollow
	NeedNext
	NeedPrev
	NodeClose
	NodeOpen
	NodeToggle
	TreeFold
	TreeOpen
	MarkToggle
	MarkRange
	PaneOther
	PaneGrow
	PaneShrink
	DividerLeft
	DividerRight
	TabStep
	TabOutput
	TabDiff
	TabVars
	TabEvents
	GateApprove
	GateApproveAll
	GateExclude
	GateBreak
	RunContinue
	RunStep
	RunOver
	RunOut
	RunUntil
	RunPause
	RunRetry
	RunRetryAll
	StepDone
	RunLeave
	RunInterrupt
	FindText
	FindNext
	FindPrev
	FilterNext
	SourceEdit
	CopyMenu
	OutputWrap
	OutputTimes
	OutputEarlier
	OutputLater
	ScrollLeft
	ScrollRight
	GoBack
	ShowPalette
	ShowHelp
	AppSuspend
	NodeFix
	NodeShell
	GateBreakIf
	WatchAdd
	AppMouse
	ViewHosts
	GateExcludeHost
	ViewLog
	OutputStep
	FilesWatch
	Intents // how many there are
)

// Place is where the keys go: a set, for a binding that works in several.
type Place uint8

// The places that keys are pressed in, as a set.
const (
	InTree Place = 1 << iota
	InDetail
	InOutput
	anywhere = InTree | InDetail | InOutput
)

// group is a part of the help.
type group uint8

// The groups of the key table, in the order in which help shows them.
const (
	GroupDeciding group = iota
	groupRunning
	groupMoving
	groupTree
	groupPanes
	groupOutput
	groupOther
	Groups
)

// GroupWords are the headings of the groups.
var GroupWords = [Groups]string{"Deciding", "Running", "Moving", "Tree", "Panes", "Output", "Other"}

// Binding is one line of the key table: everything that keys, palette, help, footer and documentation know of an intent.
type Binding struct {
	Group group
	Do    Intent
	Name  string // for keys.yaml and the palette
	Keys  string // the usual ones, between commas; what is between blanks is pressed one after the other
	Words string
	Where Place
}

// Bindings is the key table, in the order of the help.
var Bindings = []Binding{
	{GroupDeciding, GateApprove, "gate.approve", "a", "approve this subtree or the marked steps", anywhere},
	{GroupDeciding, GateApproveAll, "gate.approve-all", "A", "approve all except what needs confirmation", anywhere},
	{GroupDeciding, GateExclude, "gate.exclude", "x", "exclude or restore; skip a failed step", anywhere},
	{GroupDeciding, GateExcludeHost, "gate.exclude-host", "X", "exclude or restore the whole host", anywhere},
	{GroupDeciding, GateBreak, "gate.breakpoint", "b, f9", "breakpoint on or off", anywhere},
	{GroupDeciding, GateBreakIf, "gate.breakpoint-if", "B", "breakpoint with a condition, a count or a message", anywhere},

	{groupRunning, RunContinue, "run.continue", "c, f5", "run, continue", anywhere},
	{groupRunning, RunStep, "run.step", "s, f11", "step: run one step, then pause", anywhere},
	{groupRunning, RunOver, "run.over", "o, f10", "step over: run all of this, then pause", anywhere},
	{groupRunning, RunOut, "run.out", "O, shift+f11", "step out: run to the end of the enclosing block", anywhere},
	{groupRunning, RunUntil, "run.until", "u", "until: run to the cursor", anywhere},
	{groupRunning, RunPause, "run.pause", "p", "pause, resume", anywhere},
	{groupRunning, RunRetry, "run.retry", "r", "retry what failed here", anywhere},
	{groupRunning, RunRetryAll, "run.retry-all", "R", "retry all failed, at the end continue; run again", anywhere},
	{groupRunning, StepDone, "step.done", "D", "rerun or keep a done step; mark as done", anywhere},
	{groupRunning, NodeFix, "step.fix", "e", "edit this step's values, for this run only", anywhere},
	{groupRunning, NodeShell, "step.shell", "!", "shell in the step's directory", anywhere},
	{groupRunning, RunLeave, "run.leave", "q", "quit", anywhere},
	{groupRunning, RunInterrupt, "run.interrupt", "ctrl+c", "interrupt; again to force", anywhere},
	{groupRunning, FilesWatch, "files.watch", "w", "watch the playbook's files, and plan again; or stop", InTree | InDetail},
	{groupRunning, SourceEdit, "source.edit", "E", "open the source in $EDITOR, then reload", anywhere},

	{groupMoving, CursorDown, "cursor.down", "j, down", "down", anywhere},
	{groupMoving, CursorUp, "cursor.up", "k, up", "up", anywhere},
	{groupMoving, CursorTop, "cursor.top", "g g, home", "to the top", anywhere},
	{groupMoving, CursorBottom, "cursor.bottom", "G, end", "to the bottom", anywhere},
	{groupMoving, CursorHalfDown, "cursor.half-down", "ctrl+d", "half a page down", anywhere},
	{groupMoving, CursorHalfUp, "cursor.half-up", "ctrl+u", "half a page up", anywhere},
	{groupMoving, CursorPageDown, "cursor.page-down", "pgdown", "a page down", anywhere},
	{groupMoving, CursorPageUp, "cursor.page-up", "pgup", "a page up", anywhere},
	{groupMoving, NeedNext, "cursor.next", "]", "next item needing attention", InTree | InDetail},
	{groupMoving, NeedPrev, "cursor.previous", "[", "previous item needing attention", InTree | InDetail},
	{groupMoving, CursorPointer, "cursor.pointer", ".", "go to current step", anywhere},
	{groupMoving, CursorFollow, "cursor.follow", "F", "follow the current step or the end of the output", anywhere},
	{groupMoving, FindText, "find.text", "/", "find", anywhere},
	{groupMoving, FindNext, "find.next", "n", "next match", anywhere},
	{groupMoving, FindPrev, "find.previous", "N", "previous match", anywhere},

	{groupTree, NodeClose, "node.close", "h, left", "collapse, or go to parent", InTree},
	{groupTree, NodeOpen, "node.open", "l, right", "expand, or go in", InTree},
	{groupTree, NodeToggle, "node.toggle", "enter", "expand/collapse; on a step: details", InTree},
	{groupTree, TreeFold, "tree.fold", "-", "collapse all", InTree},
	{groupTree, TreeOpen, "tree.open", "=", "expand all", InTree},
	{groupTree, MarkToggle, "mark.toggle", "space", "mark", InTree},
	{groupTree, MarkRange, "mark.range", "v", "mark a range", InTree},
	{groupTree, FilterNext, "filter.next", "f", "filter: all, problems, changed, not done", anywhere},

	{groupPanes, WatchAdd, "watch.add", "W", "watch an expression", anywhere},
	{groupPanes, ViewHosts, "view.hosts", "H", "table of hosts and tasks, and back", anywhere},
	{groupPanes, ViewLog, "view.log", "L", "the output of all steps, as it came", anywhere},
	{groupPanes, PaneOther, "pane.other", "tab", "other pane", anywhere},
	{groupPanes, TabStep, "tab.step", "1", "tab Step", anywhere},
	{groupPanes, TabOutput, "tab.output", "2", "tab Output", anywhere},
	{groupPanes, TabDiff, "tab.diff", "3", "tab Diff", anywhere},
	{groupPanes, TabVars, "tab.vars", "4", "tab Vars", anywhere},
	{groupPanes, TabEvents, "tab.events", "5", "tab Events", anywhere},
	{groupPanes, PaneGrow, "pane.grow", "+", "zoom pane: normal, half, full", anywhere},
	{groupPanes, PaneShrink, "pane.shrink", "_", "shrink pane", anywhere},
	{groupPanes, DividerLeft, "pane.divider-left", "<", "move divider left", anywhere},
	{groupPanes, DividerRight, "pane.divider-right", ">", "move divider right", anywhere},

	{groupOutput, OutputWrap, "output.wrap", "w", "wrap long lines", InOutput},
	{groupOutput, OutputTimes, "output.times", "t", "show times", InOutput},
	{groupOutput, OutputStep, "output.step", "enter", "of several steps: go to the step of the line", InOutput},
	{groupOutput, OutputEarlier, "output.earlier", "[", "earlier attempt", InOutput},
	{groupOutput, OutputLater, "output.later", "]", "later attempt", InOutput},
	{groupOutput, ScrollLeft, "scroll.left", "h, left", "scroll left, then back to the tree", InDetail | InOutput},
	{groupOutput, ScrollRight, "scroll.right", "l, right", "scroll right", InDetail | InOutput},

	{groupOther, CopyMenu, "copy.menu", "y", "copy: name, output, file:line, command, diff", anywhere},
	{groupOther, GoBack, "app.back", "esc", "back", anywhere},
	{groupOther, ShowPalette, "app.palette", ":", "all commands", anywhere},
	{groupOther, ShowHelp, "app.help", "?", "help: all keys", anywhere},
	{groupOther, AppMouse, "app.mouse", "M", "mouse on or off", anywhere},
	{groupOther, AppSuspend, "app.suspend", "ctrl+z", "suspend", anywhere},
}

// Usual are the keys of an action that nobody has given others.
func (b *Binding) Usual() []string { return strings.Split(b.Keys, ", ") }

// Places are the three that keys go to, one bit each.
var Places = [...]Place{InTree, InDetail, InOutput}

// PlaceNames are the places as a file of keys calls them.
var PlaceNames = [len(Places)]string{"tree", "detail", "output"}

// Keys says what each key means in each place, and which keys an action has: the usual ones, or those of a person's keys.yaml.
type Keys struct {
	Keys   [len(Places)][Intents][]string
	Means  [len(Places)]map[string]Intent
	begins [len(Places)]map[string]bool // what a sequence begins with

	Taken []string // which usual keys do something else, in sentences
}

// ByIntent finds the line of the key table for an intent.
var ByIntent = func() (table [Intents]*Binding) {
	for i := range Bindings {
		table[Bindings[i].Do] = &Bindings[i]
	}
	return table
}()

// UsualKeys are the keys of those who have no keys.yaml.
func UsualKeys() *Keys {
	k, _ := bind(nil)
	return k
}

// give lets a key mean something in a place.
func (k *Keys) give(in int, do Intent, name string) {
	if k.Means[in] == nil {
		k.Means[in], k.begins[in] = map[string]Intent{}, map[string]bool{}
	}
	k.Keys[in][do] = append(k.Keys[in][do], name)
	k.Means[in][name] = do
	// The keys of a sequence stand between blanks, and each beginning of it waits for the rest.
	for i := range len(name) {
		if name[i] == ' ' {
			k.begins[in][name[:i]] = true
		}
	}
}

// Index is the number of the one place.
func (p Place) Index() int { return bits.TrailingZeros8(uint8(p)) }

// Lookup returns what a key means after the keys pressed before it; rest is what a sequence waits with. A sequence that is
// broken off swallows no key, but lets nothing happen to the run either.
func (k *Keys) Lookup(before, name string, where Place) (do Intent, rest string) {
	in, pressed := where.Index(), strings.TrimPrefix(before+" "+name, " ")
	if do, ok := k.Means[in][pressed]; ok {
		return do, ""
	}
	// A key that means something never begins a sequence too, so no time-out has to decide which it is.
	if k.begins[in][pressed] {
		return IntentNone, pressed
	}
	if before == "" {
		return IntentNone, ""
	}
	// The key was meant as part of a sequence. Moving by mistake does no harm, asking something of the run may.
	if do, rest = k.Lookup("", name, where); do == RunLeave || do == AppSuspend || AsksTheRun(do) {
		return IntentNone, ""
	}
	return do, rest
}

// Follows lists what may be pressed after the beginning of a sequence, with what it does.
func (k *Keys) Follows(before string, where Place) (list []Tip, names []string) {
	for i := range Bindings {
		for _, name := range k.Keys[where.Index()][Bindings[i].Do] {
			if rest, ok := strings.CutPrefix(name, before+" "); ok {
				list, names = append(list, TipOf(Bindings[i].Do, Bindings[i].Words)), append(names, rest)
			}
		}
	}
	return list, names
}

// Label is how a hint calls the key of an intent. One that has none is reached through the palette.
func (k *Keys) Label(do Intent) string {
	b, some := ByIntent[do], ""
	for in, where := range Places {
		for _, name := range k.Keys[in][do] {
			// A hint is read in any place, so a key that is right in all of them comes first.
			if k.everywhere(b, name) {
				return name
			}
			if some == "" && b.Where&where != 0 {
				some = name
			}
		}
	}
	if some == "" {
		return ":" + b.Name
	}
	return some
}

// everywhere reports whether a key does this wherever it can be done.
func (k *Keys) everywhere(b *Binding, name string) bool {
	for in, where := range Places {
		if b.Where&where != 0 && k.Means[in][name] != b.Do {
			return false
		}
	}
	return true
}

// Bound reports whether an action has a key.
func (k *Keys) Bound(do Intent) bool { return k.Label(do) != ":"+ByIntent[do].Name }

// Labels are all keys of an action in a place, or where it has none there, anywhere.
func (k *Keys) Labels(do Intent, where Place) string {
	if keys := k.Keys[where.Index()][do]; len(keys) > 0 {
		return strings.Join(keys, "  ")
	}
	for in := range Places {
		if keys := k.Keys[in][do]; len(keys) > 0 {
			return strings.Join(keys, "  ")
		}
	}
	return ""
}

// AsksTheRun reports whether an intent asks something of the run, or changes what it is made from.
func AsksTheRun(do Intent) bool {
	switch do {
	case GateApprove, GateApproveAll, GateExclude, GateExcludeHost, GateBreak, RunContinue, RunStep, RunOver, RunOut, RunUntil, RunPause,
		RunRetry, RunRetryAll, StepDone, SourceEdit, FilesWatch, NodeFix, NodeShell, GateBreakIf:
		return true
	default:
		return false
	}
}

// Tip is a key of the footer with what it does now, in a word or two.
type Tip struct {
	Do    Intent
	Words string
}

// TipOf names an intent with what it does.
func TipOf(do Intent, words string) Tip { return Tip{Do: do, Words: words} }
