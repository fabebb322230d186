package crash

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"moon/engine/journal"
	"moon/internal/assault"
	"moon/internal/test/fakes"
)

// kills is the playbook that was made for this.
func kills(t *testing.T, dir string) fakes.Patient {
	t.Helper()
	return fakes.Patient{T: t, Dir: dir, Playbook: "testdata/playbooks/kills/playbook.yml", Args: []string{"-e", "dir=" + dir}, Made: "made"}
}

// devbox is one that people have.
func devbox(t *testing.T, dir string) fakes.Patient {
	t.Helper()
	return fakes.Patient{T: t, Dir: dir, Playbook: "testdata/playbooks/devbox/playbook.yml", Args: []string{"-e", "target=" + filepath.Join(dir, "home")}, Made: "home"}
}

// opened is one with loops whose items only the run finds.
func opened(t *testing.T, dir string) fakes.Patient {
	t.Helper()
	return fakes.Patient{T: t, Dir: dir, Playbook: "testdata/playbooks/opened/playbook.yml", Args: []string{"-e", "dir=" + dir}, Made: "made"}
}

// openedPlays is one where two hosts find items of their own.
func openedPlays(t *testing.T, dir string) fakes.Patient {
	t.Helper()
	p := opened(t, dir)
	p.Playbook, p.Args = "testdata/playbooks/opened/site.yml", append(p.Args, "-i", "testdata/playbooks/opened/hosts")
	return p
}

// openedIncludes is one where they find what they include.
func openedIncludes(t *testing.T, dir string) fakes.Patient {
	t.Helper()
	p := openedPlays(t, dir)
	p.Playbook = "testdata/playbooks/opened/includes.yml"
	return p
}

// addedHosts is one that adds hosts which only the run finds.
func addedHosts(t *testing.T, dir string) fakes.Patient {
	t.Helper()
	p := opened(t, dir)
	p.Playbook = "testdata/playbooks/opened/added.yml"
	return p
}

// TestDieAtEveryPoint lets moon die after each change to its files and each beginning and end of a process, and then
// resumes: the end is that of an unbroken run, what had ended did not run again, and what was lost ran once more. Then
// the same for the process that resumes. An assault takes every point, and not only some.
func TestDieAtEveryPoint(t *testing.T) {
	for _, subject := range []struct {
		name   string
		make   func(*testing.T, string) fakes.Patient
		points int // at least
	}{{"kills", kills, 150}, {"opened", opened, 120}, {"opened plays", openedPlays, 80}, {"opened includes", openedIncludes, 80}, {"added hosts", addedHosts, 80}} {
		t.Run(subject.name, func(t *testing.T) {
			whole := subject.make(t, t.TempDir())
			points := whole.RunWhole()
			if points < subject.points {
				t.Fatalf("only %d points", points)
			}
			stride, from := 1, 1
			if !assault.All() {
				stride = 8
				if testing.Short() {
					stride = 16
				}
				from = 1 + rand.IntN(stride)
			}
			t.Logf("%d points, every %d from %d", points, stride, from)
			for _, second := range []bool{false, true} {
				for k := from; k <= points; k += stride {
					t.Run(fmt.Sprintf("%v/%d", second, k), func(t *testing.T) {
						t.Parallel()
						assault.Tried(t, "deaths after each change of a file, start and end", 1)
						dieAt(t, subject.make(t, t.TempDir()), whole, points, k, second)
					})
				}
			}
		})
	}
}

// dieAt lets moon die at a point of the run, or of what resumes it after a third, and resumes.
func dieAt(t *testing.T, p, whole fakes.Patient, points, k int, second bool) {
	t.Helper()
	first, deaths := k, 1
	if second {
		first, deaths = points/3, 2
	}
	if l := p.Live(p.Command("run", fmt.Sprintf("%s=%d", fakes.DieAtVariable, first)), nil); !l.Killed && first < points-10 {
		t.Fatalf("it did not die: %s", l.Stderr)
	}
	if second {
		p.Live(p.Command("resume", fmt.Sprintf("%s=%d", fakes.DieAtVariable, k)), nil)
	}
	p.ResumeToEnd()
	p.Check(whole, deaths)
}

// TestKilledBeforeItBegan kills a run in the middle, and then another at every point before its first record: what is resumed without a
// name is then not the first one, which is left as it was until it is named.
func TestKilledBeforeItBegan(t *testing.T) {
	assault.Long(t)
	whole := kills(t, t.TempDir())
	points := whole.RunWhole()
	p := kills(t, t.TempDir())
	if l := p.Live(p.Command("run", fmt.Sprintf("%s=%d", fakes.DieAtVariable, points/2)), nil); !l.Killed {
		t.Fatalf("it did not die: %s", l.Stderr)
	}
	runs := filepath.Join(p.Dir, "state/moon/runs")
	first := filepath.Base(runDirs(t, runs)[0])
	moon := func(args ...string) (string, int) {
		cmd := p.Command("run")
		cmd.Args = append(cmd.Args[:1:1], args...)
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	before := strings.Join(fakes.ListTree(t, p.Dir), "\n")
	tried := 0
	for at := 1; ; at++ {
		if at > 100 {
			t.Fatal("the run never begins")
		}
		if l := p.Live(p.Command("run", fmt.Sprintf("%s=%d", fakes.DieAtVariable, at)), nil); !l.Killed {
			t.Fatalf("it did not die: %s", l.Stderr)
		}
		made := runDirs(t, runs)
		if len(made) == 1 {
			continue // it had not even a directory
		}
		latest := made[0]
		if filepath.Base(latest) == first {
			latest = made[1]
		}
		if r, err := journal.Open(filepath.Join(latest, "journal.jsonl")); err == nil {
			_, err := r.Next()
			r.Close()
			if err == nil {
				break
			}
		}
		tried++
		id := filepath.Base(latest)
		text, code := moon("resume", "--no-tui", "--lost", "retry", "--retry-failed")
		if want := "moon: the latest run, " + id + ", had not begun when moon ended: nothing of it ran; start it again\nor name the one before it: " + first + "\n"; code != 2 || text != want {
			t.Errorf("at %d: exit code %d, %q, want %q", at, code, text, want)
		}
		if text, code := moon("resume", "--no-tui", id); code != 2 || text != "moon: "+id+" had not begun when moon ended: nothing of it ran; start it again\n" {
			t.Errorf("at %d, by name: exit code %d, %q", at, code, text)
		}
		if text, code := moon("show"); code != 0 || !strings.Contains(text, id+" had not begun") || !strings.Contains(text, "\n"+first) {
			t.Errorf("at %d, shown: exit code %d, %q", at, code, text)
		}
		if err := os.RemoveAll(latest); err != nil {
			t.Fatal(err)
		}
		if after := strings.Join(fakes.ListTree(t, p.Dir), "\n"); after != before {
			t.Fatalf("at %d something was run:\n%s\nbefore\n%s", at, after, before)
		}
	}
	if tried < 5 {
		t.Errorf("only %d points before the first record", tried)
	}
	if text, code := moon("resume", "--no-tui", "--lost", "retry", "--retry-failed", "--approve", "all", first); code != 0 {
		t.Fatalf("exit code %d\n%s", code, text)
	}
	if got, want := fakes.ListTree(t, filepath.Join(p.Dir, p.Made)), fakes.ListTree(t, filepath.Join(whole.Dir, whole.Made)); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("made\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// runDirs are the directories of runs.
func runDirs(t *testing.T, runs string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(runs, "*"))
	if err != nil || len(list) == 0 {
		t.Fatal("no runs", err)
	}
	return list
}

// TestKillAtRandom kills moon from outside, at random moments, until it has ended nevertheless: what it had said is in
// the journal, nothing ended well twice, and the end is that of an unbroken run. An assault kills 600 times.
func TestKillAtRandom(t *testing.T) {
	n := assault.Rounds(50, 600)
	if testing.Short() {
		n = 10
	}
	for _, subject := range []struct {
		name string
		make func(*testing.T, string) fakes.Patient
		last time.Duration // about how long a run takes
	}{
		{"kills", kills, 120 * time.Millisecond},
		{"devbox", devbox, 250 * time.Millisecond},
		{"opened", opened, 150 * time.Millisecond},
		{"opened plays", openedPlays, 120 * time.Millisecond},
		{"opened includes", openedIncludes, 120 * time.Millisecond},
		{"added hosts", addedHosts, 120 * time.Millisecond},
	} {
		t.Run(subject.name, func(t *testing.T) {
			t.Parallel()
			assault.Tried(t, "kills at random moments", n/2)
			whole := subject.make(t, t.TempDir())
			whole.RunWhole()
			for left := n / 2; left > 0; {
				p := subject.make(t, t.TempDir())
				verb, deaths := "run", 0
				for ended := false; !ended; {
					var kill <-chan time.Time
					if left > 0 {
						kill = time.After(rand.N(subject.last))
					}
					l := p.Live(p.Command(verb), kill)
					if l.Killed {
						deaths++
						left--
					}
					ended = l.Ended
					verb = "resume"
					if !l.Began {
						verb = "run"
					}
				}
				p.Check(whole, deaths)
			}
		})
	}
}
