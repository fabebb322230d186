package tui

import "strings"

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

// binding is one line of the key table: everything that keys, palette, help and footer know of an intent.
type binding struct {
	do    intent
	name  string // for keys.yaml and the palette
	keys  string // separated by blanks; two characters joined as "gg" are pressed one after the other
	words string
	where place
}

// bindings is the key table, in the order of the help.
var bindings = []binding{
	{gateApprove, "gate.approve", "a", "approve this with all below, or the marks", anywhere},
	{gateApproveAll, "gate.approve-all", "A", "approve all but what asks to be confirmed", anywhere},
	{gateExclude, "gate.exclude", "x", "exclude or include again; skip a failed step", anywhere},
	{gateBreak, "gate.breakpoint", "b f9", "breakpoint on or off", anywhere},
	{gateBreakIf, "gate.breakpoint-if", "B", "breakpoint with a condition, a count or a message", anywhere},
	{runContinue, "run.continue", "c f5", "run, continue", anywhere},
	{runStep, "run.step", "s f11", "step: run one step, then pause", anywhere},
	{runOver, "run.over", "o f10", "over: run this whole, then pause", anywhere},
	{runOut, "run.out", "O shift+f11", "out: run to the end of what the pointer is in", anywhere},
	{runUntil, "run.until", "u", "until: run up to the cursor", anywhere},
	{runPause, "run.pause", "p", "pause, resume", anywhere},
	{runRetry, "run.retry", "r", "retry what failed here", anywhere},
	{runRetryAll, "run.retry-all", "R", "retry all that failed below", anywhere},
	{nodeFix, "step.fix", "e", "edit the values of this step, for this run only", anywhere},
	{nodeShell, "step.shell", "!", "a shell where the step runs", anywhere},
	{watchAdd, "watch.add", "W", "watch an expression", anywhere},
	{runLeave, "run.leave", "q", "leave", anywhere},
	{runInterrupt, "run.interrupt", "ctrl+c", "interrupt; again to force", anywhere},

	{cursorDown, "cursor.down", "j down", "down", anywhere},
	{cursorUp, "cursor.up", "k up", "up", anywhere},
	{cursorTop, "cursor.top", "gg home", "to the top", anywhere},
	{cursorBottom, "cursor.bottom", "G end", "to the bottom", anywhere},
	{cursorHalfDown, "cursor.half-down", "ctrl+d", "half a page down", anywhere},
	{cursorHalfUp, "cursor.half-up", "ctrl+u", "half a page up", anywhere},
	{cursorPageDown, "cursor.page-down", "pgdown", "a page down", anywhere},
	{cursorPageUp, "cursor.page-up", "pgup", "a page up", anywhere},
	{needNext, "cursor.next", "]", "next that needs you: failed, to confirm, changed", inTree | inDetail},
	{needPrev, "cursor.previous", "[", "previous that needs you", inTree | inDetail},
	{cursorPointer, "cursor.pointer", ".", "back to the program's pointer", anywhere},
	{cursorFollow, "cursor.follow", "F", "follow the pointer, or the end of the output", anywhere},

	{nodeClose, "node.close", "h left", "fold, or go to what it is in", inTree},
	{nodeOpen, "node.open", "l right", "open, or go in", inTree},
	{nodeToggle, "node.toggle", "enter", "open or fold; a step: look at it", inTree},
	{treeFold, "tree.fold", "-", "fold all", inTree},
	{treeOpen, "tree.open", "=", "open all", inTree},
	{markToggle, "mark.toggle", "space", "mark", inTree},
	{markRange, "mark.range", "v", "mark a range", inTree},

	{paneOther, "pane.other", "tab", "the other pane", anywhere},
	{tabStep, "tab.step", "1", "tab Step", anywhere},
	{tabOutput, "tab.output", "2", "tab Output", anywhere},
	{tabDiff, "tab.diff", "3", "tab Diff", anywhere},
	{tabVars, "tab.vars", "4", "tab Vars", anywhere},
	{tabEvents, "tab.events", "5", "tab Events", anywhere},
	{paneGrow, "pane.grow", "+", "this pane larger: normal, half, full", anywhere},
	{paneShrink, "pane.shrink", "_", "this pane smaller", anywhere},
	{dividerLeft, "pane.divider-left", "<", "divider to the left", anywhere},
	{dividerRight, "pane.divider-right", ">", "divider to the right", anywhere},

	{findText, "find.text", "/", "find", anywhere},
	{findNext, "find.next", "n", "next match", anywhere},
	{findPrev, "find.previous", "N", "previous match", anywhere},
	{filterNext, "filter.next", "f", "filter: all, problems, changed, not done", anywhere},

	{outputWrap, "output.wrap", "w", "wrap long lines", anywhere},
	{outputTimes, "output.times", "t", "show times", inOutput},
	{outputEarlier, "output.earlier", "[", "earlier attempt", inOutput},
	{outputLater, "output.later", "]", "later attempt", inOutput},
	{scrollLeft, "scroll.left", "h left", "to the left, then back to the tree", inDetail | inOutput},
	{scrollRight, "scroll.right", "l right", "to the right", inDetail | inOutput},

	{sourceEdit, "source.edit", "E", "open the source in $EDITOR, then reload", anywhere},
	{copyMenu, "copy.menu", "y", "copy: name, output, file:line, command, diff", anywhere},
	{goBack, "app.back", "esc", "back", anywhere},
	{showPalette, "app.palette", ":", "all commands", anywhere},
	{showHelp, "app.help", "?", "the keys", anywhere},
	{appMouse, "app.mouse", "M", "mouse on or off", anywhere},
	{appSuspend, "app.suspend", "ctrl+z", "suspend", anywhere},
}

// keymap finds the intent of a key in a place.
type keymap struct {
	byKey  map[string][]binding
	first  map[string]bool // keys that begin a sequence
	byName [intents]binding
}

func newKeymap(table []binding) *keymap {
	k := &keymap{byKey: map[string][]binding{}, first: map[string]bool{}}
	for _, b := range table {
		k.byName[b.do] = b
		for _, key := range b.list() {
			k.byKey[key] = append(k.byKey[key], b)
			if len(key) == 2 && isSequence(key) {
				k.first[key[:1]] = true
			}
		}
	}
	return k
}

// isSequence tells "gg" from names of keys such as "f5".
func isSequence(key string) bool { return key[0] == key[1] }

func (b *binding) list() []string { return strings.Fields(b.keys) }

// lookup returns what a key means, after the keys pressed before it; rest is what a sequence waits with.
func (k *keymap) lookup(before, key string, where place) (do intent, rest string) {
	for _, b := range k.byKey[before+key] {
		if b.where&where != 0 {
			return b.do, ""
		}
	}
	if before != "" {
		return k.lookup("", key, where)
	}
	if k.first[key] {
		return intentNone, key
	}
	return intentNone, ""
}

// label is how a hint calls the key of an intent.
func (k *keymap) label(do intent) string {
	b := k.byName[do]
	return b.list()[0]
}

// labels are all keys of an intent, for the help.
func (b *binding) labels() string {
	keys := b.list()
	for i, key := range keys {
		if len(key) == 2 && isSequence(key) {
			keys[i] = key[:1] + " " + key[1:]
		}
	}
	return strings.Join(keys, "  ")
}
