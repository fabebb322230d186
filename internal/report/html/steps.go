package html

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"

	"moon/events"
	"moon/internal/report/reading"
	"moon/internal/termtext"
	"moon/tui/status"
)

// stepID is the anchor of a step.
func stepID(i int) string { return events.StepID(i) }

// looks are the class and the mark of each state.
func looks(s status.State) (class, mark string) {
	switch s {
	case status.OK, status.Kept:
		return "good", "✓"
	case status.Changed, status.Outdated:
		return "changed", "~"
	case status.Failed, status.Unreachable:
		return "bad", "✗"
	case status.Ignored, status.Rescued:
		return "changed", "✗"
	case status.Skipped:
		return "dim", "-"
	case status.Excluded:
		return "dim", "⊘"
	case status.Cancelled:
		return "dim", "×"
	case status.Running:
		return "changed", "▸"
	case status.Undecided, status.Waiting, status.Confirm, status.Asking, status.Omitted:
	}
	return "dim", "·"
}

// choose decides which steps are shown: all, or of very many the most important ones.
func (p *Page) choose() {
	n := p.Steps()
	p.shown = make([]bool, n)
	ranks := make([][]int, 4)
	for i := range n {
		rank := 3
		switch s := p.State(i); {
		case s.Bad():
			rank = 0
		case s == status.Changed || s == status.Ignored || s == status.Rescued || s == status.Running:
			rank = 1
		case p.Run.Steps[i].Attempt > 0:
			rank = 2
		}
		ranks[rank] = append(ranks[rank], i)
	}
	left := mostSteps
	for _, rank := range ranks {
		for _, i := range rank[:min(left, len(rank))] {
			p.shown[i] = true
		}
		left -= min(left, len(rank))
	}
}

// writeSteps writes the tree, and what searches it.
func (p *Page) writeSteps() {
	p.printf(`<section id="steps">
<h2>Steps</h2>
<div class="tools" hidden><input id="search" type="search" placeholder="Search names, output, diffs  ( / )" aria-label="Search">
<span id="found" class="dim" role="status"></span>
<button id="expand" type="button">Open all</button> <button id="collapse" type="button">Close all</button></div>
`)
	if p.Plan == nil {
		p.printf("<p class=\"note\">The plan of this run is not known: there are no places, and only the steps that ran.</p>\n")
		p.writeRange(0, p.Steps())
	} else {
		p.inside = make([][]int, len(p.Plan.Scopes))
		for id := 1; id < len(p.Plan.Scopes); id++ {
			parent := p.Plan.Scopes[id].Parent
			p.inside[parent] = append(p.inside[parent], id)
		}
		p.writeInside(0)
	}
	p.printf("</section>\n")
}

// writeInside writes what is in a scope: its steps, and the scopes between them.
func (p *Page) writeInside(scope int) {
	s := &p.Plan.Scopes[scope]
	at := s.First
	for _, id := range p.inside[scope] {
		p.writeRange(at, p.Plan.Scopes[id].First)
		p.writeScope(id)
		at = max(at, p.Plan.Scopes[id].Last)
	}
	p.writeRange(at, s.Last)
}

func (p *Page) writeScope(id int) {
	s := &p.Plan.Scopes[id]
	kind, name := status.ScopeTitle(s)
	title := termtext.CleanName(strings.TrimSpace(kind + " " + name))
	if why := s.WhySkipped(); why != "" && s.Steps() == 0 {
		p.printf("<div class=\"scope dim\">%s: %s</div>\n", title, "skipped, "+termtext.CleanName(why))
		return
	}
	if s.Steps() == 0 {
		return
	}
	words, bad := p.tally(s.First, s.Last)
	p.printf("<details class=\"scope\"%s><summary>%s %s</summary>\n", markup(openIf(bad || s.Steps() <= 100)), title, dim(words))
	p.writeInside(id)
	p.printf("</details>\n")
}

// tally says how the steps of a range ended, and whether one has failed.
func (p *Page) tally(from, to int) (words string, bad bool) {
	n := map[string]int{}
	var order []string
	for i := from; i < min(to, p.Steps()); i++ {
		word := p.Word(i)
		if n[word]++; n[word] == 1 {
			order = append(order, word)
		}
		bad = bad || p.State(i).Bad()
	}
	for k, word := range order {
		order[k] = fmt.Sprintf("%d %s", n[word], word)
	}
	return strings.Join(order, ", "), bad
}

// writeRange writes steps that follow each other, and how many of them are not shown.
func (p *Page) writeRange(from, to int) {
	hidden := 0
	for i := from; i < min(to, p.Steps()); i++ {
		if !p.shown[i] {
			hidden++
			continue
		}
		p.writeStep(i)
	}
	if hidden > 0 {
		p.printf("<p class=\"cut\">and %s more</p>\n", plural(hidden, "step"))
	}
}

func (p *Page) writeStep(i int) {
	state := p.State(i)
	class, mark := looks(state)
	p.printf("<details class=\"step\" id=\"%s\" data-state=\"%s\"%s><summary>", stepID(i), p.Word(i), markup(openIf(state.Bad())))
	if took := p.Took(i); took > 0 {
		p.printf("<span class=\"took\">%s</span>", reading.Duration(took))
	}
	p.printf("<span class=\"state %s\" title=\"%s\">%s</span> ", markup(class), p.Word(i), mark)
	if host := p.Host(i); host != "" {
		p.printf("<strong>%s</strong> ", host)
	}
	p.printf("%s <span class=\"id\">%s %s</span></summary>\n<div class=\"body\">\n", p.Label(i), stepID(i), p.Word(i))
	p.writeFacts(i)
	p.writeDiff(i)
	p.writeOutput(i)
	p.printf("</div>\n</details>\n")
}

// writeFacts writes what is known of a step but for its change and its output.
func (p *Page) writeFacts(i int) {
	s := &p.Run.Steps[i]
	p.printf("<dl class=\"facts\">\n")
	fact := func(name, text string) {
		if text != "" {
			p.printf("<dt>%s</dt><dd>%s</dd>\n", name, termtext.CleanName(text))
		}
	}
	head, rest := p.Why(i)
	name := "why"
	if p.State(i).Bad() || p.State(i) == status.Ignored || p.State(i) == status.Rescued {
		name = "error"
	}
	fact(name, head)
	if p.Plan != nil {
		ps := &p.Plan.Steps[i]
		fact("action", ps.Action)
		fact("place", p.Origin(i))
		fact("tags", strings.Join(ps.Tags, ", "))
		fact("runs if", ps.When)
		fact("item", strings.Join(p.Plan.Items(i), " / "))
	}
	fact("command", s.Command)
	if s.HasRC && s.RC != 0 {
		fact("exit status", fmt.Sprint(s.RC))
	}
	if s.Attempt > 1 {
		fact("attempts", fmt.Sprint(s.Attempt))
	}
	if s.Attempt > 0 {
		fact("started", s.Began().UTC().Format("2006-01-02 15:04:05.000 MST"))
	}
	if s.Diff != nil && s.Diff.Kind != events.ChangeNone {
		fact("change", s.Diff.Words())
		fact("path", s.Diff.Path)
	}
	fact("drift", s.Drift)
	fact("confirmed by", strings.Join(s.By, ", "))
	p.printf("</dl>\n")
	// Of a failure whose output is shown the same lines stand there.
	if len(rest) > 0 && len(s.Out) == 0 {
		p.printf("<pre>%s</pre>\n", strings.Join(rest, "\n"))
	}
	if s.Message != "" {
		p.printf("<pre>%s</pre>\n", cleaned(s.Message))
	}
}

// cleaned is a text of several lines without what a terminal would act on.
func cleaned(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := range lines {
		lines[i] = termtext.CleanName(lines[i])
	}
	return strings.Join(lines, "\n")
}

// writeDiff writes a change of text, with its lines marked as what they are.
func (p *Page) writeDiff(i int) {
	d := p.Run.Steps[i].Diff
	if d == nil || d.Text == "" {
		return
	}
	text, cut := d.Text, 0
	if most := max(min(diffText, p.diffs), 0); len(text) > most {
		end := strings.LastIndexByte(text[:most], '\n') + 1
		text, cut = text[:end], len(text)-end
		p.cutDiffs++
	}
	p.diffs -= len(text)
	if text != "" {
		var lines []line
		for part := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
			l := line{text: markup(html.EscapeString(termtext.CleanName(part)))}
			switch {
			case strings.HasPrefix(part, "@@"), strings.HasPrefix(part, "--- "), strings.HasPrefix(part, "+++ "):
				l.class = "at"
			case strings.HasPrefix(part, "+"):
				l.class = "add"
			case strings.HasPrefix(part, "-"):
				l.class = "del"
			}
			lines = append(lines, l)
		}
		p.writeLines("diff", lines)
	}
	if cut > 0 {
		p.printf("<p class=\"cut\">%s more of the diff: moon show %s --events</p>\n", reading.Size(int64(cut)), p.Run.ID)
	}
}

// line is a line of a text, in a class or in none.
type line struct {
	class markup
	text  markup
}

// writeLines writes a text. Lines of one class that follow each other share an element: there may be very many.
func (p *Page) writeLines(class markup, lines []line) {
	p.printf("<pre class=\"%s\">", class)
	open := markup("")
	for _, l := range lines {
		if l.class != open {
			if open != "" {
				p.printf("</span>")
			}
			if open = l.class; open != "" {
				p.printf("<span class=\"%s\">", open)
			}
		}
		p.printf("%s\n", l.text)
	}
	if open != "" {
		p.printf("</span>")
	}
	p.printf("</pre>\n")
}

// writeOutput writes what each attempt has printed.
func (p *Page) writeOutput(i int) {
	n := p.Attempts(i)
	for attempt := range n {
		limit := max(min(attemptText, p.output), 0)
		printed, left, err := p.Output(i, attempt, limit)
		if err != nil { // the page has the rest
			p.printf("<p class=\"cut\">output: %s</p>\n", termtext.CleanName(err.Error()))
			continue
		}
		if n > 1 && (len(printed) > 0 || left > 0) {
			p.printf("<p class=\"dim\">attempt %d</p>\n", attempt+1)
		}
		if left > 0 {
			p.cutOutput++
			p.printf("<p class=\"cut\">%s before this: moon show %s --output %s</p>\n", reading.Size(left), p.Run.ID, stepID(i))
		}
		if len(printed) == 0 {
			continue
		}
		lines := make([]line, len(printed))
		for k, l := range printed {
			lines[k].text = colours(l.Coloured)
			p.output -= int64(len(lines[k].text)) + 1
			if l.Stderr {
				lines[k].class = "e"
			}
		}
		p.writeLines("out", lines)
	}
}

// link is what a step is called, as a link to it if the page has it.
func (p *Page) link(i int) markup {
	name := html.EscapeString(p.named(i))
	if !p.shown[i] {
		return markup(name)
	}
	return markup(fmt.Sprintf(`<a href="#%s">%s</a>`, stepID(i), name))
}

// writeTimes draws when each step ran.
func (p *Page) writeTimes() {
	var ran []int
	for i := range p.Steps() {
		if s := &p.Run.Steps[i]; s.Attempt > 0 && s.State == events.Settled && !s.Kept {
			ran = append(ran, i)
		}
	}
	if len(ran) == 0 {
		return
	}
	all := len(ran)
	if all > mostBars {
		slices.SortStableFunc(ran, func(a, b int) int { return cmp.Compare(p.Took(b), p.Took(a)) })
		ran = ran[:mostBars]
	}
	began := func(i int) int64 { return p.Run.Steps[i].Began().UnixNano() }
	slices.SortStableFunc(ran, func(a, b int) int { return cmp.Compare(began(a), began(b)) })
	first, last := began(ran[0]), int64(0)
	for _, i := range ran {
		last = max(last, p.Run.Steps[i].Ended.UnixNano())
	}
	whole := float64(max(last-first, 1))
	p.printf("<section id=\"times\">\n<h2>Times</h2>\n<details%s><summary>%s</summary>\n<div class=\"times\">\n", markup(openIf(all <= 100)), plural(all, "step")+" that ran")
	for _, i := range ran {
		class, _ := looks(p.State(i))
		from := float64(began(i)-first) / whole * 100
		wide := float64(p.Run.Steps[i].Ended.UnixNano()-began(i)) / whole * 100
		p.printf("<span class=\"what\">%s</span><span class=\"track\"><i class=\"%s\" style=\"left:%.3f%%;width:%.3f%%\"></i></span>"+
			"<span class=\"took\">%s</span>\n", p.link(i), markup(class), min(from, 99.9), max(min(wide, 100-from), 0), reading.Duration(p.Took(i)))
	}
	p.printf("</div>\n")
	if all > len(ran) {
		p.printf("<p class=\"cut\">and %s more, which took less</p>\n", plural(all-len(ran), "step"))
	}
	p.printf("</details>\n</section>\n")
}
