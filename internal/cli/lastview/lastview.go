package lastview

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"moon/internal/app"
	"moon/plan"
	"moon/tui"
)

// viewsKept is how many playbooks are remembered as they were left on the screen; viewSize, how much of each.
const (
	viewsKept = 200
	viewSize  = 1 << 20
)

// viewFile is where it is remembered how the screen of a playbook was left, or "" where that cannot be: beside the runs.
func viewFile(p *plan.Plan) string {
	state, err := app.StateDir()
	if err != nil || p.RootFile == "-" {
		return ""
	}
	return state.View(filepath.Join(p.Root, p.RootFile))
}

// Read reads how the screen of a playbook was left. What cannot be read is as if it had never been: it says so, once, because
// it is written anew when the screen is closed.
func Read(p *plan.Plan) (*tui.View, string) {
	file := viewFile(p)
	if file == "" {
		return nil, ""
	}
	text, err := app.ReadAtMost(file, viewSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ""
	}
	var v tui.View
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil {
		return nil, "how this was left the last time cannot be read, and is forgotten"
	}
	return &v, ""
}

// Keeper remembers how the screen is left; nil where that cannot be. Whoever cannot write there can do without.
func Keeper(call *app.Invocation, p *plan.Plan) func(tui.View) {
	file := viewFile(p)
	if file == "" {
		return nil
	}
	return func(v tui.View) {
		// A watch or a search text is shown on the next start, and stored in the clear.
		hidden := p.Secrets().Has // somebody may have typed one
		v.Watches, v.Typed = slices.DeleteFunc(v.Watches, hidden), slices.DeleteFunc(v.Typed, hidden)
		text, err := json.Marshal(v)
		dir := filepath.Dir(file)
		if err != nil || len(text) > viewSize || os.MkdirAll(dir, 0o700) != nil {
			return
		}
		if call.WriteFile(file, func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		}) == nil {
			pruneViews(dir)
		}
	}
}

// pruneViews forgets the playbooks that were looked at longest ago.
func pruneViews(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) <= viewsKept {
		return
	}
	var files []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && strings.HasSuffix(e.Name(), ".json") {
			files = append(files, info)
		}
	}
	// By the last time that it was written, which is when the TUI was closed.
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, info := range files[min(len(files), viewsKept):] {
		_ = os.Remove(filepath.Join(dir, info.Name())) // the next time
	}
}
