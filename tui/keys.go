package tui

import (
	"math/bits"
	"strings"
)

// intent is what a key means. Models hear intents, never keys.
type intent uint8

const (
	intentNone intent = iota
	cursorDown
	cursorUp
	cursorTop
	cursorBottom
	cursorHalfDown
	cursorHalfUp
	cursorPageDown
	cursorPageUp
	cursorPointer
	cursorFollow
	needNext
	needPrev
	nodeClose
	nodeOpen
	nodeToggle
	treeFold
	treeOpen
	markToggle
	markRange
	paneOther
	paneGrow
	paneShrink
	dividerLeft
	dividerRight
	tabStep
	tabOutput
	tabDiff
	tabVars
	tabEvents
	gateApprove
	gateApproveAll
	gateExclude
	gateBreak
	runContinue
	runStep
	runOver
	runOut
	runUntil
	runPause
	runRetry
	runRetryAll
	stepDone
	runLeave
	runInterrupt
	findText
	findNext
	findPrev
	filterNext
	sourceEdit
	copyMenu
	outputWrap
	outputTimes
	outputEarlier
	outputLater
	scrollLeft
	scrollRight
	goBack
	showPalette
	showHelp
	appSuspend
	nodeFix
	nodeShell
	gateBreakIf
	watchAdd
	appMouse
	viewHosts
	gateExcludeHost
	intents // how many there are
)

// place is where the keys go: a set, for a binding that works in several.
type place uint8

const (
	inTree place = 1 << iota
	inDetail
	inOutput
	anywhere = inTree | inDetail | inOutput
)

// group is a part of the help.
type group uint8

const (
	groupDeciding group = iota
	groupRunning
	groupMoving
	groupTree
	groupPanes
	groupOutput
	groupOther
	groups
)

var groupWords = [groups]string{"Deciding", "Running", "Moving", "Tree", "Panes", "Output", "Other"}

// binding is one line of the key table: everything that keys, palette, help, footer and documentation know of an intent.
type binding struct {
	group group
	do    intent
	name  string // for keys.yaml and the palette
	keys  string // the usual ones, between commas; what is between blanks is pressed one after the other
	words string
	where place
}

// bindings is the key table, in the order of the help.
var bindings = []binding{
	{groupDeciding, gateApprove, "gate.approve", "a", "approve this subtree or the marked steps", anywhere},
	{groupDeciding, gateApproveAll, "gate.approve-all", "A", "approve all except what needs confirmation", anywhere},
	{groupDeciding, gateExclude, "gate.exclude", "x", "exclude or restore; skip a failed step", anywhere},
	{groupDeciding, gateExcludeHost, "gate.exclude-host", "X", "exclude or restore the whole host", anywhere},
	{groupDeciding, gateBreak, "gate.breakpoint", "b, f9", "breakpoint on or off", anywhere},
	{groupDeciding, gateBreakIf, "gate.breakpoint-if", "B", "breakpoint with a condition, a count or a message", anywhere},

	{groupRunning, runContinue, "run.continue", "c, f5", "run, continue", anywhere},
	{groupRunning, runStep, "run.step", "s, f11", "step: run one step, then pause", anywhere},
	{groupRunning, runOver, "run.over", "o, f10", "step over: run all of this, then pause", anywhere},
	{groupRunning, runOut, "run.out", "O, shift+f11", "step out: run to the end of the enclosing block", anywhere},
	{groupRunning, runUntil, "run.until", "u", "until: run to the cursor", anywhere},
	{groupRunning, runPause, "run.pause", "p", "pause, resume", anywhere},
	{groupRunning, runRetry, "run.retry", "r", "retry what failed here", anywhere},
	{groupRunning, runRetryAll, "run.retry-all", "R", "retry all failed steps below; at the end, run again", anywhere},
	{groupRunning, stepDone, "step.done", "D", "rerun or keep a done step; mark as done", anywhere},
	{groupRunning, nodeFix, "step.fix", "e", "edit this step's values, for this run only", anywhere},
	{groupRunning, nodeShell, "step.shell", "!", "shell in the step's directory", anywhere},
	{groupRunning, runLeave, "run.leave", "q", "quit", anywhere},
	{groupRunning, runInterrupt, "run.interrupt", "ctrl+c", "interrupt; again to force", anywhere},
	{groupRunning, sourceEdit, "source.edit", "E", "open the source in $EDITOR, then reload", anywhere},

	{groupMoving, cursorDown, "cursor.down", "j, down", "down", anywhere},
	{groupMoving, cursorUp, "cursor.up", "k, up", "up", anywhere},
	{groupMoving, cursorTop, "cursor.top", "g g, home", "to the top", anywhere},
	{groupMoving, cursorBottom, "cursor.bottom", "G, end", "to the bottom", anywhere},
	{groupMoving, cursorHalfDown, "cursor.half-down", "ctrl+d", "half a page down", anywhere},
	{groupMoving, cursorHalfUp, "cursor.half-up", "ctrl+u", "half a page up", anywhere},
	{groupMoving, cursorPageDown, "cursor.page-down", "pgdown", "a page down", anywhere},
	{groupMoving, cursorPageUp, "cursor.page-up", "pgup", "a page up", anywhere},
	{groupMoving, needNext, "cursor.next", "]", "next item needing attention", inTree | inDetail},
	{groupMoving, needPrev, "cursor.previous", "[", "previous item needing attention", inTree | inDetail},
	{groupMoving, cursorPointer, "cursor.pointer", ".", "go to current step", anywhere},
	{groupMoving, cursorFollow, "cursor.follow", "F", "follow the current step or the end of the output", anywhere},
	{groupMoving, findText, "find.text", "/", "find", anywhere},
	{groupMoving, findNext, "find.next", "n", "next match", anywhere},
	{groupMoving, findPrev, "find.previous", "N", "previous match", anywhere},

	{groupTree, nodeClose, "node.close", "h, left", "collapse, or go to parent", inTree},
	{groupTree, nodeOpen, "node.open", "l, right", "expand, or go in", inTree},
	{groupTree, nodeToggle, "node.toggle", "enter", "expand/collapse; on a step: details", inTree},
	{groupTree, treeFold, "tree.fold", "-", "collapse all", inTree},
	{groupTree, treeOpen, "tree.open", "=", "expand all", inTree},
	{groupTree, markToggle, "mark.toggle", "space", "mark", inTree},
	{groupTree, markRange, "mark.range", "v", "mark a range", inTree},
	{groupTree, filterNext, "filter.next", "f", "filter: all, problems, changed, not done", anywhere},

	{groupPanes, watchAdd, "watch.add", "W", "watch an expression", anywhere},
	{groupPanes, viewHosts, "view.hosts", "H", "table of hosts and tasks, and back", anywhere},
	{groupPanes, paneOther, "pane.other", "tab", "other pane", anywhere},
	{groupPanes, tabStep, "tab.step", "1", "tab Step", anywhere},
	{groupPanes, tabOutput, "tab.output", "2", "tab Output", anywhere},
	{groupPanes, tabDiff, "tab.diff", "3", "tab Diff", anywhere},
	{groupPanes, tabVars, "tab.vars", "4", "tab Vars", anywhere},
	{groupPanes, tabEvents, "tab.events", "5", "tab Events", anywhere},
	{groupPanes, paneGrow, "pane.grow", "+", "zoom pane: normal, half, full", anywhere},
	{groupPanes, paneShrink, "pane.shrink", "_", "shrink pane", anywhere},
	{groupPanes, dividerLeft, "pane.divider-left", "<", "move divider left", anywhere},
	{groupPanes, dividerRight, "pane.divider-right", ">", "move divider right", anywhere},

	{groupOutput, outputWrap, "output.wrap", "w", "wrap long lines", anywhere},
	{groupOutput, outputTimes, "output.times", "t", "show times", inOutput},
	{groupOutput, outputEarlier, "output.earlier", "[", "earlier attempt", inOutput},
	{groupOutput, outputLater, "output.later", "]", "later attempt", inOutput},
	{groupOutput, scrollLeft, "scroll.left", "h, left", "scroll left, then back to the tree", inDetail | inOutput},
	{groupOutput, scrollRight, "scroll.right", "l, right", "scroll right", inDetail | inOutput},

	{groupOther, copyMenu, "copy.menu", "y", "copy: name, output, file:line, command, diff", anywhere},
	{groupOther, goBack, "app.back", "esc", "back", anywhere},
	{groupOther, showPalette, "app.palette", ":", "all commands", anywhere},
	{groupOther, showHelp, "app.help", "?", "help: all keys", anywhere},
	{groupOther, appMouse, "app.mouse", "M", "mouse on or off", anywhere},
	{groupOther, appSuspend, "app.suspend", "ctrl+z", "suspend", anywhere},
}

// usual are the keys of an action that nobody has given others.
func (b *binding) usual() []string { return strings.Split(b.keys, ", ") }

// places are the three that keys go to, one bit each.
var places = [...]place{inTree, inDetail, inOutput}

var placeNames = [len(places)]string{"tree", "detail", "output"}

// Keys says what each key means in each place, and which keys an action has: the usual ones, or those of a person's keys.yaml.
type Keys struct {
	keys   [len(places)][intents][]string
	means  [len(places)]map[string]intent
	begins [len(places)]map[string]bool // what a sequence begins with

	Taken []string // which usual keys do something else, in sentences
}

var byIntent = func() (table [intents]*binding) {
	for i := range bindings {
		table[bindings[i].do] = &bindings[i]
	}
	return table
}()

// UsualKeys are the keys of those who have no keys.yaml.
func UsualKeys() *Keys {
	k, _ := bind(nil)
	return k
}

// give lets a key mean something in a place.
func (k *Keys) give(in int, do intent, name string) {
	if k.means[in] == nil {
		k.means[in], k.begins[in] = map[string]intent{}, map[string]bool{}
	}
	k.keys[in][do] = append(k.keys[in][do], name)
	k.means[in][name] = do
	for i := range len(name) {
		if name[i] == ' ' {
			k.begins[in][name[:i]] = true
		}
	}
}

// index is the number of the one place.
func (p place) index() int { return bits.TrailingZeros8(uint8(p)) }

// lookup returns what a key means after the keys pressed before it; rest is what a sequence waits with. A sequence that is
// broken off swallows no key, but lets nothing happen to the run either.
func (k *Keys) lookup(before, name string, where place) (do intent, rest string) {
	in, pressed := where.index(), strings.TrimPrefix(before+" "+name, " ")
	if do, ok := k.means[in][pressed]; ok {
		return do, ""
	}
	if k.begins[in][pressed] {
		return intentNone, pressed
	}
	if before == "" {
		return intentNone, ""
	}
	if do, rest = k.lookup("", name, where); do == runLeave || do == appSuspend || asksTheRun(do) {
		return intentNone, ""
	}
	return do, rest
}

// follows lists what may be pressed after the beginning of a sequence, with what it does.
func (k *Keys) follows(before string, where place) (list []tip, names []string) {
	for i := range bindings {
		for _, name := range k.keys[where.index()][bindings[i].do] {
			if rest, ok := strings.CutPrefix(name, before+" "); ok {
				list, names = append(list, tipOf(bindings[i].do, bindings[i].words)), append(names, rest)
			}
		}
	}
	return list, names
}

// label is how a hint calls the key of an intent. One that has none is reached through the palette.
func (k *Keys) label(do intent) string {
	b, some := byIntent[do], ""
	for in, where := range places {
		for _, name := range k.keys[in][do] {
			if k.everywhere(b, name) {
				return name
			}
			if some == "" && b.where&where != 0 {
				some = name
			}
		}
	}
	if some == "" {
		return ":" + b.name
	}
	return some
}

// everywhere reports whether a key does this wherever it can be done.
func (k *Keys) everywhere(b *binding, name string) bool {
	for in, where := range places {
		if b.where&where != 0 && k.means[in][name] != b.do {
			return false
		}
	}
	return true
}

// bound reports whether an action has a key.
func (k *Keys) bound(do intent) bool { return k.label(do) != ":"+byIntent[do].name }

// labels are all keys of an action in a place, or where it has none there, anywhere.
func (k *Keys) labels(do intent, where place) string {
	if keys := k.keys[where.index()][do]; len(keys) > 0 {
		return strings.Join(keys, "  ")
	}
	for in := range places {
		if keys := k.keys[in][do]; len(keys) > 0 {
			return strings.Join(keys, "  ")
		}
	}
	return ""
}

// asksTheRun reports whether an intent asks something of the run, or changes what it is made from.
func asksTheRun(do intent) bool {
	switch do {
	case gateApprove, gateApproveAll, gateExclude, gateExcludeHost, gateBreak, runContinue, runStep, runOver, runOut, runUntil, runPause, runRetry, runRetryAll, stepDone, sourceEdit, nodeFix, nodeShell, gateBreakIf:
		return true
	default:
		return false
	}
}

// tip is a key of the footer with what it does now, in a word or two.
type tip struct {
	do    intent
	words string
}

// tipOf names an intent with what it does.
func tipOf(do intent, words string) tip { return tip{do: do, words: words} }
