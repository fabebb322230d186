package machine

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"moon/events"
)

// onlyChanges are the actions that create nothing by their nature, with why.
var onlyChanges = map[string]string{
	"add_host":               "it concerns the run and not the machine",
	"async_status":           "it only asks",
	"assert":                 "it concerns the run and not the machine",
	"docker_prune":           "it only removes",
	"debconf":                "an answer is there before, if only as the default",
	"dpkg_selections":        "a selection is there before, if only as the default",
	"fail":                   "it concerns the run and not the machine",
	"find":                   "it only looks",
	"getent":                 "it only looks",
	"group_by":               "it concerns the run and not the machine",
	"hostname":               "a machine always has a name",
	"meta":                   "it concerns the run and not the machine",
	"mysql_info":             "it only looks",
	"mysql_query":            "what queries make is known to who wrote them",
	"mysql_replication":      "whom a server follows is known to who says it",
	"mysql_variables":        "a server always has its variables",
	"package_facts":          "it only looks",
	"pause":                  "it concerns the run and not the machine",
	"ping":                   "it only looks",
	"postgresql_privs":       "privileges are given on what is there",
	"print":                  "it concerns the run and not the machine",
	"replace":                "it changes what is in a file",
	"seboolean":              "a boolean always has a value",
	"service_facts":          "it only looks",
	"set_fact":               "it concerns the run and not the machine",
	"set_stats":              "it concerns the run and not the machine",
	"setup":                  "it only looks",
	"slurp":                  "it only looks",
	"stat":                   "it only looks",
	"timezone":               "a machine always has one",
	"validate_argument_spec": "it concerns the run and not the machine",
	"wait":                   "it only looks",
	"wait_for_connection":    "it only looks",
}

// takeAway runs, the last first, the steps that the actions of a run have recorded to take away again what they created, and returns how
// many there were. After that the machine must be as before, but for what was only changed, and what is excused.
func (s *scratch) takeAway(t *testing.T, playbook string, did []done, before map[string]string, excused excuses) int {
	t.Helper()
	var undo []map[string]any
	for _, d := range slices.Backward(did) {
		for _, r := range slices.Backward(d.Resources) {
			switch {
			case r.Undo != nil:
				step := map[string]any{r.Undo.Action: r.Undo.Args}
				if len(r.Undo.Env) > 0 {
					step["env"] = r.Undo.Env
				}
				undo = append(undo, step)
			case r.Change == events.ChangeCreate && !excused.has(r.Type+":"+r.Name):
				t.Errorf("%s: %s %s is created, and nothing takes it away", playbook, r.Type, r.Name)
			case r.Type == events.FileResource && playbook != "undo.yml":
				excused[r.Name], excused[r.Name+"/*"] = true, true // it was there, and was changed
			}
		}
	}
	if len(undo) > 0 {
		text, err := json.MarshalIndent(undo, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		s.write(t, "taken.json", text, 0o644)
		for _, end := range s.steps(t, "taken.json", "") {
			if end.Outcome == "skipped" {
				t.Logf("%s: %s: %s", playbook, end.Name, end.Detail)
			}
		}
	}
	excused["/work/taken.json"] = true
	if wrong := s.otherThan(t, before, excused); len(wrong) > 0 {
		t.Errorf("%s: after %s\n%s", playbook, undo, strings.Join(wrong, "\n"))
	}
	return len(undo)
}

// excuses are patterns of what stays.
type excuses map[string]bool

func readStays(t *testing.T, text string) excuses {
	t.Helper()
	all := excuses{}
	for line := range strings.Lines(text) {
		pattern, reason, _ := strings.Cut(strings.TrimSpace(line), " ")
		if pattern == "" {
			continue
		}
		if strings.TrimSpace(reason) == "" {
			t.Errorf("stays: %s has no reason", pattern)
		}
		all[pattern] = true
	}
	return all
}

func (e excuses) has(name string) bool {
	for pattern := range e {
		if ok, err := path.Match(pattern, name); err == nil && ok {
			return true
		}
		// A star at the end means all that is below, too.
		if above, ok := strings.CutSuffix(pattern, "*"); ok && strings.HasPrefix(name, above) {
			return true
		}
	}
	return false
}

// otherThan says what of the machine is not as before. What was written again with the same content, mode and owners is as before: only
// its time tells.
func (s *scratch) otherThan(t *testing.T, before map[string]string, excused excuses) (wrong []string) {
	t.Helper()
	after := s.changes(t)
	for _, name := range slices.Sorted(maps.Keys(after)) {
		is, was := withoutTime(after[name]), withoutTime(before[name])
		if before[name] == "" {
			was = lookBelow(t, name)
		}
		if strings.HasPrefix(is, gone) {
			is = ""
		}
		if is != was && !excused.has(name) {
			wrong = append(wrong, fmt.Sprintf("%s\n  was %.90s\n  is  %.90s", name, was, is))
		}
	}
	for name := range before {
		if _, there := after[name]; !there && !excused.has(name) {
			wrong = append(wrong, name+" is gone")
		}
	}
	return wrong
}

// gone is how a layer says that a file of the one below is not there.
const gone = "Dcrw-------- 0:0 0"

// installed is when crontab wrote a file, as it says in the file.
var installed = regexp.MustCompile(`# \([^)]* installed on [^)]*\)`)

// withoutTime cuts the time out of what changes says of a file.
func withoutTime(text string) string {
	text = installed.ReplaceAllString(text, "")
	mode, rest, _ := strings.Cut(text, " +0000 UTC ")
	if rest == "" {
		return text
	}
	words := strings.Fields(mode)
	return strings.Join(words[:3], " ") + " " + rest
}

// lookBelow is what this machine has under the name, in the words of changes; "": nothing.
func lookBelow(t *testing.T, name string) string {
	t.Helper()
	info, err := os.Lstat(name)
	if err != nil {
		return ""
	}
	st := info.Sys().(*syscall.Stat_t)
	text := fmt.Sprintf("%s %d:%d %d", info.Mode(), st.Uid, st.Gid, st.Rdev)
	switch {
	case info.Mode().IsRegular():
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return text + " " + contentOf(data)
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(name)
		if err != nil {
			t.Fatal(err)
		}
		text += " " + target
	}
	return text
}

// contentOf is a short content itself, and of a long one its checksum.
func contentOf(data []byte) string {
	if len(data) > 1<<16 { // lists of packages
		return fmt.Sprintf("sha256 %x", sha256.Sum256(data))
	}
	return strconv.Quote(string(data))
}
