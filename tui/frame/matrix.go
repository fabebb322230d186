package frame

import (
	"fmt"

	"moon/events"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/status"
	"moon/tui/tree"
	"moon/tui/view"
)

// matrixPane is the table of hosts and tasks.
type matrixPane struct{ *view.State }

// matrixRows is what is on the screen beside the rows of hosts: header, rule, marks of columns, detail, rule, footer.
const matrixRows = 6

// The widths of the matrix: a cell with the line or the blank behind it, and a number of the recap.
const (
	matrixCell   = 2
	recapNumber  = 5
	leastHosts   = 6
	narrowRecap  = 3 // numbers of the recap where there is not much room
	roomForRecap = 80
)

// recapWords stand above the numbers; signs would not tell failed from ignored.
var recapWords = [status.States]string{
	status.OK: "ok", status.Changed: "chg", status.Unreachable: "unr", status.Failed: "fail", status.Skipped: "skip",
	status.Rescued: "resc", status.Ignored: "ign",
}

// matrixView is the part of a matrix that is drawn.
type matrixView struct {
	hosts   int // cells of their names
	across  int // columns
	numbers int // of the recap
	high    int // rows
}

func (m matrixPane) matrixView() matrixView {
	x := m.Matrix
	v := matrixView{high: max(m.Height-matrixRows, 1), numbers: narrowRecap}
	if m.Width >= roomForRecap {
		v.numbers = len(status.TallyWords)
	}
	v.hosts = max(min(x.Wide, m.Width/4), leastHosts)
	v.across = max((m.Width-v.hosts-3-v.numbers*recapNumber)/matrixCell, 1)
	return v
}

// drawMatrix draws the hosts by their tasks, those that are on the screen.
func (m picture) drawMatrix(b *draw.Brush) {
	m.FollowMatrix()
	x, v := m.Matrix, matrixPane(m).matrixView()
	x.Height, x.Across = v.high, v.across
	x.Top = draw.WindowStart(x.Top, x.Row, v.high, len(x.Hosts))
	x.Left = draw.WindowStart(x.Left, x.Col, v.across, len(x.Columns))
	headerBar(m).drawHeader(b)
	matrixPane(m).matrixRule(b)
	matrixPane(m).matrixMarks(b, v)
	// Counted under one lock for all hosts that are drawn, so that their numbers are of the same moment.
	counts := make([]events.HostCounts, min(v.high, len(x.Hosts)-x.Top))
	m.Store.Read(func(run *events.Run) {
		if len(run.Steps) < len(m.Plan.Steps) {
			return // it is about another plan
		}
		for i := range counts {
			counts[i] = x.CountHost(x.Top+i, run.Steps)
		}
	})
	for i := range v.high {
		if i < len(counts) {
			matrixPane(m).matrixRow(b, v, x.Top+i, &counts[i])
		} else {
			b.Begin(m.Width, draw.OnRow)
			b.End()
		}
		b.Newline()
	}
	b.Begin(m.Width, draw.OnRow)
	matrixPane(m).matrixDetail(b)
	b.End()
	b.Newline()
	b.Begin(m.Width, draw.OnRow)
	Rules(m).stateRule(b, -1)
	b.End()
	b.Newline()
	Footer(m).drawFooter(b)
}

// matrixRule says which task the cursor is on.
func (m matrixPane) matrixRule(b *draw.Brush) {
	x := m.Matrix
	b.Begin(m.Width, draw.OnRow)
	b.Rule(m.Glyphs, 1)
	b.Put(draw.InkTitle, " Hosts")
	words := fmt.Sprintf("  %d/%d", x.Row+1, len(x.Hosts))
	b.Put(themes.Dim, words+fmt.Sprintf(" %s task %d/%d  ", m.Glyphs.Dot, x.Col+1, len(x.Columns)))
	b.Put(themes.Text, draw.CutMiddle(m.taskName(x.Col), max(b.Left-2, 0), m.Glyphs.Dots))
	b.Put(themes.Text, " ")
	b.Rule(m.Glyphs, b.Left)
	b.End()
	b.Newline()
}

// taskName is what a column is called, with its role.
func (m matrixPane) taskName(col int) string {
	n := m.Matrix.Columns[col].Node
	role := ""
	if s := m.Tree.Scope(n); s != nil {
		role = s.Role
	}
	if r := m.Tree.Steps(n); role == "" && r.From < r.To {
		role = m.Plan.Steps[r.From].Role
	}
	if s := m.Tree.Scope(n); s != nil {
		_, name := status.ScopeTitle(s)
		if name == "" && s.First < s.Last {
			name = m.Plan.Steps[s.First].Action
		}
		return draw.Plain(status.TaskTitle(role, name))
	}
	return draw.Plain(status.TaskTitle(role, m.Tree.Title(n)))
}

// matrixMarks is the row above the hosts: where the cursor is, and what the numbers of the recap count.
func (m matrixPane) matrixMarks(b *draw.Brush, v matrixView) {
	x := m.Matrix
	b.Begin(m.Width, draw.OnRow)
	b.At(v.hosts + 2 + (x.Col-x.Left)*matrixCell)
	b.Put(themes.Accent, m.Glyphs.Open)
	b.At(m.recapFrom(v))
	for k, st := range m.recapColumns(v) {
		word := recapWords[st]
		b.At(m.recapFrom(v) + (k+1)*recapNumber - len(word))
		b.Put(draw.SignLooks[tree.FaceSigns[st]].Role, word)
	}
	b.End()
	b.Newline()
}

func (m matrixPane) recapFrom(v matrixView) int { return m.Width - 1 - v.numbers*recapNumber }

// recapColumns are the states that the recap counts, where there is not much room the most telling.
func (m matrixPane) recapColumns(v matrixView) []status.State {
	if v.numbers == narrowRecap {
		return []status.State{status.OK, status.Changed, status.Failed}
	}
	return status.TallyStates[:]
}

// matrixRow draws a host.
func (m matrixPane) matrixRow(b *draw.Brush, v matrixView, row int, counts *events.HostCounts) {
	x := m.Matrix
	mode := draw.OnRow
	if row == x.Row {
		mode = draw.OnCursor
	}
	b.Begin(v.hosts+2, mode)
	look := themes.Text
	if m.FindUnreached(x.Hosts[row]) != nil {
		look = themes.Failed
	}
	b.Put(look, " "+draw.CutMiddle(draw.Plain(x.Hosts[row]), v.hosts, m.Glyphs.Dots))
	b.End()
	for k := range v.across {
		col := x.Left + k
		if col >= len(x.Columns) {
			b.Begin(matrixCell, draw.OnRow)
			b.End()
			continue
		}
		m.matrixCell(b, row, col)
	}
	b.Begin(m.Width-v.hosts-2-v.across*matrixCell, draw.OnRow)
	numbers := status.Tallies(counts)
	at := b.Wide - 1 - v.numbers*recapNumber
	for k, st := range m.recapColumns(v) {
		n := numbers[k]
		if v.numbers == narrowRecap && st == status.Failed {
			n = counts.Failed + counts.Unreachable
		}
		look := draw.SignLooks[tree.FaceSigns[st]].Role
		// Zeros are dim: among many hosts the eye should find those that have changed or failed.
		if n == 0 {
			look = themes.Dim
		}
		text := fmt.Sprint(n)
		b.At(at + (k+1)*recapNumber - len(text))
		b.Put(look, text)
	}
	b.End()
}

// matrixCell draws how a task stands on a host. A line stands between two plays, and between two batches.
func (m matrixPane) matrixCell(b *draw.Brush, row, col int) {
	x := m.Matrix
	mode := draw.OnRow
	if row == x.Row && col == x.Col {
		mode = draw.OnCursor
	}
	b.Begin(1, mode)
	// A host may have no part in a task, and its cell stays empty: a sign would read as if it had still to run.
	if n := x.NodeAt(row, col); n >= 0 {
		look, spins := m.SignOf(n)
		if m.Tree.Step(n) < 0 {
			t := m.Tree.Tally(n)
			look, spins = tree.Sign(&t, true, m.Shot.Phase == events.Review), t[status.Running] > 0
		}
		glyph := m.Glyphs.Signs[look]
		if spins {
			glyph = m.Glyphs.Spin[m.Spin%len(m.Glyphs.Spin)]
		}
		// A cell has room for one sign. The mark wins, because it says what the next key decides about; the status is in the line
		// below.
		if m.Cur.Marked(n) {
			b.Put(themes.Selection, m.Glyphs.Mark)
		} else {
			b.Put(draw.SignLooks[look].Role, glyph)
		}
	}
	b.End()
	b.Begin(1, draw.OnRow)
	if col+1 < len(x.Columns) && x.Columns[col+1].Play != x.Columns[col].Play {
		b.Put(themes.Border, m.Glyphs.Down)
	}
	b.End()
}

// matrixDetail says what the cell under the cursor is.
func (m matrixPane) matrixDetail(b *draw.Brush) {
	x := m.Matrix
	host := draw.Plain(x.Hosts[x.Row])
	b.Put(themes.Text, " ")
	b.Put(draw.InkTitle, draw.CutMiddle(host, m.Width/3, m.Glyphs.Dots))
	n := x.NodeAt(x.Row, x.Col)
	if n < 0 {
		b.Put(themes.Dim, "  has no part in this task")
		return
	}
	i := m.Tree.Steps(n).From
	look, _ := m.SignOf(n)
	if m.Tree.Step(n) < 0 {
		t := m.Tree.Tally(n)
		look = tree.Sign(&t, true, m.Shot.Phase == events.Review)
	}
	b.Put(draw.SignLooks[look].Role, "  "+m.Glyphs.Signs[look]+" "+draw.SignLooks[look].Word)
	place := draw.Plain(m.Plan.Steps[i].Origin.String())
	if draw.Cells(place) > b.Left/2 {
		place = draw.CutLeft(place, b.Left/2, m.Glyphs.Dots)
	}
	var of events.Step
	m.Store.Read(func(run *events.Run) {
		if i < len(run.Steps) {
			of = run.Steps[i]
		}
	})
	words := ""
	if m.Tree.Step(n) < 0 {
		words = draw.Count(m.Tree.Steps(n).To-i, "item")
	} else {
		words = m.cellWords(i, &of)
	}
	b.Put(themes.Text, "  "+draw.CutRight(words, max(b.Left-draw.Cells(place)-4, 0), m.Glyphs.Dots))
	b.At(m.Width - draw.Cells(place) - 1)
	b.Put(themes.Dim, place)
}

// cellWords is what there is to say of a step on one line: why it ended so, how long it took, or what it does.
func (m matrixPane) cellWords(step int, of *events.Step) string {
	missed := m.FindUnreached(m.Plan.Steps[step].Host)
	switch {
	case missed != nil && of.Attempt == 0:
		return "not reached: " + draw.Plain(missed.Why)
	case of.Error != "":
		return draw.Plain(of.Error)
	case of.Reason != "":
		return draw.Plain(of.Reason)
	case of.Message != "":
		return draw.Plain(of.Message)
	case of.Diff != nil && of.Diff.Summary != "":
		return draw.Plain(of.Diff.Summary)
	}
	return draw.Plain(m.StepNow(step).Summary)
}

// matrixTips are the keys of the matrix.
func (m matrixPane) matrixTips() []keymap.Tip {
	tips := []keymap.Tip{keymap.TipOf(keymap.NodeToggle, "to the plan")}
	switch m.Shot.Phase {
	case events.Review, events.Paused:
		tips = append(append(tips, Footer(m).decisionTips()...), keymap.TipOf(keymap.GateExcludeHost, "host"),
			keymap.TipOf(keymap.GateBreak, "break"), keymap.TipOf(keymap.RunStep, "step"), keymap.TipOf(keymap.RunContinue, "run"))
		// At a failure the ways out replace the other hints, which would be refused or do something else there.
		if m.Position().Failed(m.Tree.Step(m.CursorNode())) {
			tips = append(tips[:1], keymap.TipOf(keymap.RunRetry, "retry"), keymap.TipOf(keymap.NodeFix, "edit"),
				keymap.TipOf(keymap.GateExclude, "skip"), keymap.TipOf(keymap.RunContinue, "go on"))
		}
	case events.Running:
		tips = append(tips, keymap.TipOf(keymap.RunPause, "pause"), keymap.TipOf(keymap.CursorFollow, "follow"))
	case events.Ended, events.Done:
	}
	return append(tips, keymap.TipOf(keymap.NeedNext, "next"), keymap.TipOf(keymap.FindText, "find"), keymap.TipOf(keymap.GoBack, "back"))
}
