package crash

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"moon/internal/app"
	"moon/internal/test/fakes"
)

// TestNoRoomForARun starts and resumes runs on disks that are nearly full: without 2 MiB moon says so before the first step, and leaves
// nothing behind.
func TestNoRoomForARun(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root may make a file system of a given size")
	}
	disk := t.TempDir()
	if err := syscall.Mount("moon", disk, "tmpfs", 0, "size=8m,mode=0755"); err != nil {
		t.Skip("no file system of a given size here:", err)
	}
	defer func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
	p := fakes.NewPatient(t, t.TempDir())
	p.Playbook = filepath.Join(p.Dir, "playbook.yml")
	if err := os.WriteFile(p.Playbook, []byte("- shell: echo ran >> "+p.Dir+"/log; test -e "+p.Dir+"/well\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	state := "XDG_STATE_HOME=" + disk
	ran := func() int {
		text, err := os.ReadFile(filepath.Join(p.Dir, "log"))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return strings.Count(string(text), "ran\n")
	}
	if out, err := p.Command("run", state).CombinedOutput(); fakes.ExitCode(err) != app.ExitFailed || ran() != 1 {
		t.Fatalf("%v\n%s", err, out)
	}
	runs := filepath.Join(disk, "moon/runs")
	first := filepath.Base(runDirs(t, runs)[0])
	for _, free := range []int64{0, 4 << 10, 64 << 10, 1<<20 + 64<<10, 2<<20 - 64<<10} {
		fillBut(t, disk, free)
		for verb, where := range map[string]string{"run": runs, "resume": filepath.Join(runs, first)} {
			out, err := p.Command(verb, state).CombinedOutput()
			want := fmt.Sprintf("not enough space for a run on the disk of %s: %.1f MiB free, at least 2 MiB are needed; nothing was run\n  make room there (moon prune", where, math.Floor(float64(free)/(1<<20)*10)/10)
			if fakes.ExitCode(err) != app.ExitDisk || !strings.Contains(string(out), want) {
				t.Errorf("%s with %d bytes free: %v\n%s\nwant\n%s", verb, free, err, out, want)
			}
			if n := ran(); n != 1 {
				t.Errorf("%s with %d bytes free: the step has run %d times", verb, free, n)
			}
			if left := runDirs(t, runs); len(left) != 1 {
				t.Errorf("%s with %d bytes free: it has left %q", verb, free, left)
			}
		}
	}
	fillBut(t, disk, 4<<20)
	if err := os.WriteFile(filepath.Join(p.Dir, "well"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := p.Command("resume", state).CombinedOutput(); err != nil || ran() != 2 {
		t.Errorf("%v\n%s", err, out)
	}
}

// fillBut fills a disk but for so many bytes, which are whole blocks.
func fillBut(t *testing.T, disk string, free int64) {
	t.Helper()
	name := filepath.Join(disk, "fill")
	if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var st syscall.Statfs_t
	if err := syscall.Statfs(disk, &st); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, make([]byte, int64(st.Bavail)*st.Bsize-free), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestFullDisk runs a playbook whose steps fill the disk that the run is recorded on: the run comes to its end in order,
// says why, and goes on when there is room again.
func TestFullDisk(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root may make a file system of a given size")
	}
	disk := t.TempDir()
	if err := syscall.Mount("moon", disk, "tmpfs", 0, "size=8m"); err != nil {
		t.Skip("no file system of a given size here:", err)
	}
	defer func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
	for name, tt := range map[string]struct{ playbook, why string }{
		// The output of a step does not fit any more.
		"output": {"- shell: head -c 20m /dev/zero > $DISK/fill 2>/dev/null || true\n- shell: echo something\n- shell: touch $HERE/last\n", "keep output"},
		// Nobody prints, but the journal grows beyond what is reserved behind it.
		"journal": {"- shell: head -c 20m /dev/zero > $DISK/fill 2>/dev/null || true\n- print: \"{{ 'x' * 12000 }} {{ item }}\"\n  loop: \"{{ range(0, 60) | list }}\"\n- shell: touch $HERE/last\n", "journal"},
	} {
		t.Run(name, func(t *testing.T) {
			p := fakes.NewPatient(t, t.TempDir())
			p.Playbook = filepath.Join(p.Dir, "playbook.yml")
			text := strings.NewReplacer("$DISK", disk, "$HERE", p.Dir).Replace(tt.playbook)
			if err := os.WriteFile(p.Playbook, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			state := "XDG_STATE_HOME=" + filepath.Join(disk, name)
			out, err := p.Command("run", state).CombinedOutput()
			said := string(out)
			if code := fakes.ExitCode(err); code != app.ExitDisk || !strings.Contains(said, "no space left on device") || !strings.Contains(said, tt.why) {
				t.Fatalf("exit %d\n%s", code, said[max(0, len(said)-2000):])
			}
			if !strings.Contains(said, `"type":"warning"`) || !strings.Contains(said, `"type":"run.completed"`) {
				t.Errorf("the run did not end in order\n%s", said[max(0, len(said)-2000):])
			}
			journals, err := filepath.Glob(filepath.Join(disk, name, "moon/runs/*/journal.jsonl"))
			if err != nil || len(journals) != 1 || !fakes.ReadBook(t, journals[0]).Finished {
				t.Fatalf("%v: the end is not recorded: %v", journals, err)
			}
			if _, err := os.Stat(filepath.Join(p.Dir, "last")); err == nil {
				t.Error("the run went on")
			}
			if err := os.Remove(filepath.Join(disk, "fill")); err != nil {
				t.Fatal(err)
			}
			if out, err := p.Command("resume", state).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if _, err := os.Stat(filepath.Join(p.Dir, "last")); err != nil {
				t.Error("the run did not go on:", err)
			}
			var held syscall.Stat_t
			if err := syscall.Stat(journals[0], &held); err != nil || held.Blocks*512 > held.Size+64<<10 {
				t.Errorf("the journal of %d bytes keeps %d reserved: %v", held.Size, held.Blocks*512, err)
			}
		})
	}
	t.Run("screen", func(t *testing.T) {
		playbook := filepath.Join(t.TempDir(), "playbook.yml")
		text := "- shell: head -c 20m /dev/zero > $DISK/fill 2>/dev/null || true\n- name: talk\n  shell: head -c 9m /dev/zero\n- shell: echo after\n"
		if err := os.WriteFile(playbook, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := fakes.OpenTerminal(t, 80, 24, []string{"DISK=" + disk, "XDG_STATE_HOME=" + disk + "/screen"}, "tui", playbook)
		c.See("REVIEW")
		c.Press("Ac")
		if code, left := c.End(); code != app.ExitDisk || !strings.Contains(left, "no space left on device") {
			t.Errorf("exit %d, left in the terminal:\n%s", code, left)
		}
		c.CheckClean()
	})
}
