package screen

import (
	"image/color"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"moon/internal/test/fakes"
)

// settings writes a config.yaml, and gives the environment in which it counts.
func settings(t *testing.T, text string) []string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "moon"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "moon", "config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"XDG_CONFIG_HOME=" + dir, "NO_COLOR=", "COLORTERM=truecolor", "MOON_THEME="}
}

func playbookOf(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "site.yml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestThemeOfTheTerminal has a pair of themes in a terminal that becomes light, and says so; afterwards it is told to say nothing
// more, also while an editor has it.
func TestThemeOfTheTerminal(t *testing.T) {
	night, paper := color.RGBA{0x17, 0x1c, 0x28, 0xff}, color.RGBA{0xfb, 0xfa, 0xf5, 0xff}
	editor := filepath.Join(t.TempDir(), "nvim")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\necho editing\nread line\n"), 0o700); err != nil { // it is run
		t.Fatal(err)
	}
	env := append(settings(t, "theme: { light: daylight, dark: moonlight }\nglyphs: ascii\n"), "EDITOR="+editor, "VISUAL=")
	c := fakes.OpenTerminal(t, 100, 30, env, "tui", playbookOf(t, "- name: first\n  shell: \"true\"\n"))
	c.See("REVIEW", "`-   first")
	c.SeeBackground(night)
	c.SetBackground(color.White)
	c.Press("\x1b[?997;2n", "REVIEW")
	c.SeeBackground(paper)
	c.Press("E", "editing")
	if reports := c.ReportsColours(); reports {
		t.Error("the editor is told when the colours of the terminal change")
	}
	c.Press("\r", "REVIEW")
	c.SeeBackground(paper)
	for end := time.Now().Add(fakes.Patience); !c.ReportsColours() && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if !c.ReportsColours() {
		t.Error("the screen is not told after the editor")
	}
	c.Press("q")
	if code, left := c.End(); code != 3 { // nothing was run
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	if left := c.Modes(); left != "" {
		t.Errorf("modes are left: %s", left)
	}
}

// TestNoColor is any value of NO_COLOR, and a terminal that has no colours.
func TestNoColor(t *testing.T) {
	coloured := regexp.MustCompile(`\x1b\[(\d+;)*(3[0-9]|4[0-9]|9[0-7]|10[0-7])[;m]`)
	for name, with := range map[string][]string{"NO_COLOR": {"NO_COLOR=no"}, "vt100": {"TERM=vt100", "COLORTERM="}, "flag": nil} {
		args := []string{"tui", "testdata/playbooks/devbox/playbook.yml"}
		if with == nil {
			args = append(args, "--no-color")
		}
		c := fakes.OpenTerminal(t, 100, 30, append(settings(t, "theme: moonlight\n"), with...), args...)
		c.Press("j", "REVIEW")
		c.Press("q")
		c.End()
		if found := coloured.FindString(c.Written()); found != "" {
			t.Errorf("%s: a colour is set: %q", name, found)
		}
		if !strings.Contains(c.Written(), "\x1b[7m") && !regexp.MustCompile(`\x1b\[[0-9;]*7m`).MatchString(c.Written()) {
			t.Errorf("%s: nothing is in reverse", name)
		}
	}
}

// TestProduction is a machine that was marked: one key does not approve everything, a name does.
func TestProduction(t *testing.T) {
	made := filepath.Join(t.TempDir(), "made")
	playbook := playbookOf(t, "- name: make it\n  shell: touch "+made+"\n- name: unmake it\n  file: { path: "+made+", state: absent }\n")
	env := settings(t, "banner: production\nbaner: x\n")
	c := fakes.OpenTerminal(t, 80, 24, env, "tui", playbook)
	c.See("PRODUCTION", "REVIEW", "config.yaml:2: unknown setting")
	c.Press("A", "Approve 2 steps on PRODUCTION?", "unmake it", "state: absent")
	c.Press("\r\ryes\r", "that is not the name")
	c.Press("\x1b", "nothing was approved", "0 approved")
	c.Press("A", "type  site.yml")
	c.Press("site.yml\r", "2 approved")
	c.Press("c", "DONE")
	c.Press("q")
	if code, left := c.End(); code != 0 || !strings.Contains(left, "2 changed") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	// A flag comes before the settings, and no flag is asked for a headless run.
	c = fakes.OpenTerminal(t, 80, 24, env, "tui", playbook, "--banner=")
	c.Press("A", "2 approved")
	c.Press("q")
	c.End()
	c = fakes.OpenTerminal(t, 80, 24, env, "run", playbook)
	if code, left := c.End(); code != 0 {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	// What cannot be read might have held the mark.
	c = fakes.OpenTerminal(t, 80, 24, settings(t, "banner: [production\n"), "tui", playbook)
	if code, left := c.End(); code != 2 || !strings.Contains(left, "nothing was run") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
}
