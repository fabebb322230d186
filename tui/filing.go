package tui

import (
	"context"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/internal/termtext"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/overlay"
	"moon/tui/view"
)

// filing watches the files of the playbook. What changes is planned again when nothing runs, and decided about as after an edit: it says
// what is different, and runs nothing. When the run is over, another one continues it.
type filing struct{ *view.State }

type filesChanged struct {
	gen   int
	files []string
	err   error
}

type filesExamined struct {
	gen   int
	files []string
	found view.Examined
	err   error
}

// toggleWatch watches from now on, or ends that.
func (m filing) toggleWatch() tea.Cmd {
	if m.Files.On {
		m.endWatch()
		m.ShowMessage("files are not watched any more")
		return nil
	}
	m.Files.On = true
	m.ShowMessage("watching the files of the playbook; " + m.Keys.Label(keymap.FilesWatch) + " ends it")
	return m.awaitFiles(false)
}

func (m filing) endWatch() {
	m.Files.On, m.Files.Due = false, nil
	m.Files.Gen++
	if m.Files.Stop != nil {
		m.Files.Stop()
		m.Files.Stop = nil
	}
}

// awaitFiles waits for the next change.
func (m filing) awaitFiles(broken bool) tea.Cmd {
	if !m.Files.On || m.Tools.Await == nil {
		return nil
	}
	if m.Files.Stop != nil {
		return nil // it waits already
	}
	ctx, stop := context.WithCancel(context.Background())
	m.Files.Stop = stop
	m.Files.Of = m.Plan
	gen, await, p := m.Files.Gen, m.Tools.Await, m.Plan
	return func() tea.Msg {
		files, err := await(ctx, p, broken)
		return filesChanged{gen, files, err}
	}
}

// takeNews takes in what has changed, or what that means for a run that is over: another run, if it means anything.
func (m filing) takeNews(news tea.Msg) (tea.Cmd, *AgainError) {
	switch news := news.(type) {
	case filesChanged:
		if news.gen != m.Files.Gen {
			return nil, nil
		}
		m.Files.Stop()
		m.Files.Stop = nil
		if news.err != nil {
			m.endWatch()
			m.ShowMessage(news.err.Error())
			return nil, nil
		}
		if m.Files.Due = news.files; m.isBusy() {
			m.ShowMessage(filesWords(news.files) + " has changed: it is planned again when the run pauses")
		}
		return m.planDue(), nil
	case filesExamined:
		if news.gen != m.Files.Gen {
			return nil, nil
		}
		if _, shown := m.Overlay.(*overlay.Diag); shown { // of an earlier state of the files
			m.Overlay = nil
		}
		switch {
		case news.err != nil:
			m.ShowMessage(news.err.Error())
		case news.found.Diagnostics.HasErrors():
			m.Overlay = overlay.NewDiag(news.found.Diagnostics, m.CanEdit())
			m.Message = ""
		case news.found.Edited, len(news.found.Steps) > 0:
			return nil, &AgainError{Steps: news.found.Steps, Edited: news.found.Edited, Watching: true}
		default:
			m.ShowMessage(filesWords(news.files) + " has changed, and the plan has not")
		}
		return m.awaitFiles(news.err != nil || news.found.Diagnostics.HasErrors()), nil
	}
	return nil, nil
}

// isBusy reports whether steps run, or may begin at any moment.
func (m filing) isBusy() bool { return m.Shot.Phase == events.Running || m.Shot.Counts.Running > 0 }

// planDue awaits the files of the plan there is, and plans again what has changed, as soon as nothing runs.
func (m filing) planDue() tea.Cmd {
	files := m.Files.Due
	switch {
	case len(files) == 0 && m.Files.Stop != nil && m.Files.Of != m.Plan: // another plan is made from others
		m.Files.Gen++
		m.Files.Stop()
		m.Files.Stop = nil
		return m.awaitFiles(false)
	case len(files) == 0:
		return nil
	case m.Shot.Phase == events.Done:
		m.Files.Due = nil
		gen, examine, p := m.Files.Gen, m.Tools.Examine, m.Plan
		m.ShowMessage(filesWords(files) + " has changed: " + planning)
		return func() tea.Msg {
			found, err := examine(p, files)
			return filesExamined{gen, files, found, err}
		}
	case m.isBusy():
		return nil
	}
	m.Files.Due = nil
	return replanning(m).planAgain(planning)
}

// filesWords names what has changed.
func filesWords(files []string) string {
	var names []string
	for _, path := range files[:min(len(files), 2)] {
		names = append(names, termtext.CleanName(filepath.Base(path)))
	}
	if more := len(files) - len(names); more > 0 {
		names = append(names, draw.Count(more, "more file"))
	}
	return strings.Join(names, ", ")
}
