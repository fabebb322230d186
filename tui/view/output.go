package view

import "slices"

// OutputView is where in an output the screen is.
type OutputView struct {
	Top     int // first line on the screen, if it does not follow
	Sub     int // rows of that line that are above the screen, with wrapping
	X       int // cells to the left of the screen, without
	Follow  bool
	Wrap    bool
	Times   LineTimes
	Attempt int  // or -1 for the last
	Pick    int  // the line whose step enter goes to, where lines are of several steps and it does not follow
	Aim     int  // a line to bring onto the screen with what is looked for in it, or -1
	Height  int  // as last drawn
	Last    int  // the last line, as last drawn
	Ended   bool // nothing comes after what was last drawn
}

// LineTimes is what stands before each line.
type LineTimes uint8

// What may stand there.
const (
	TimesOff   LineTimes = iota
	TimesSince           // since the attempt began
	TimesClock           // of the day
)

func newOutputView() OutputView { return OutputView{Follow: true, Attempt: -1, Aim: -1} }

// FreshView is the same view of another output.
func (v *OutputView) FreshView() OutputView {
	n := newOutputView()
	n.Wrap, n.Times = v.Wrap, v.Times
	return n
}

// ShowLine brings a line onto the screen, with what is looked for in it when the line is there.
func (v *OutputView) ShowLine(line int) {
	v.Aim, v.Pick = line, line
	first := v.Top
	if v.Sub > 0 {
		first++ // only the end of that one is on the screen
	}
	if !v.Follow && line >= first && line <= v.Last {
		return
	}
	v.Follow, v.Sub = false, 0
	v.Top = max(line-v.Height/3, 0)
}

// Search is looking for a text in an output. Commands look, a piece at a time, first from where the person is to the
// end and then from the beginning; each says what it found, so the first hit shows before the last line was read. A text
// without capitals is found in any case.
type Search struct {
	Text  string // "": there is no search
	Fold  bool   // capitals do not count; text has none
	Gen   int    // of the search: answers to an older one are dropped
	Hits  []int32
	At    int // the line the screen was moved to, or -1
	Known int // lines of the output that were looked at, or are in todo
	Todo  []LineRange
	Busy  bool
	Wait  bool // jump to the first hit when it comes
	From  int  // and that is the first from this line on
}

// LineRange is lines from one to before another.
type LineRange struct{ From, To int }

// RestartIn looks for the same in another output.
func (s *Search) RestartIn() Search {
	return Search{Text: s.Text, Fold: s.Fold, Gen: s.Gen + 1, At: -1}
}

// IsDone reports whether everything that is known was looked at.
func (s *Search) IsDone() bool {
	for _, r := range s.Todo {
		if r.From < r.To {
			return false
		}
	}
	return true
}

// HitIndex is the number of the first hit from a line on.
func (s *Search) HitIndex(line int) int {
	i, _ := slices.BinarySearch(s.Hits, int32(line))
	return i
}
