package ansible

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"moon/internal/test/fakes"
)

// ansibleParts are the parts of the page, in this order.
var ansibleParts = []string{
	"Loop and when", "Register", "Result policy", "Blocks", "Handlers", "Meta", "Import and include", "Collections", "Tags", "Order in a play", "Variables", "Check mode",
	"Secrets and become", "Strategy and facts", "Inventory and patterns", "Templates", "Actions", "Whole projects",
}

// TestAnsiblePage compares the lists of the page with the trials.
func TestAnsiblePage(t *testing.T) {
	trials := append(allTrials(t), writtenProjects(t)...)
	text := strings.Join(fakes.ReadLines(t, fakes.AnsiblePage), "\n")
	for _, list := range []struct {
		name string
		line func(*trial) string
	}{
		{"supported", supportedLine},
		{"differs", func(c *trial) string { return markedLine(c, "differs") }},
		{"yet", func(c *trial) string { return markedLine(c, "yet") }},
	} {
		before, got, after := fakes.CutMarked(t, fakes.AnsiblePage, text, list.name)
		want := "\n" + trialList(trials, list.line) + "\n"
		if got == want {
			continue
		}
		if os.Getenv("UPDATE") == "" {
			t.Errorf("%s: the list %s is not what the trials show; UPDATE=1 writes it:\n%s", fakes.AnsiblePage, list.name, want)
		}
		text = before + want + after
	}
	fakes.WriteLines(t, fakes.AnsiblePage, strings.Split(text, "\n"))
}

// trialList is a heading and a list for each part of the page that has something in it.
func trialList(trials []*trial, line func(*trial) string) string {
	var b strings.Builder
	for _, part := range ansibleParts {
		heading := "### " + part + "\n\n"
		for _, c := range trials {
			if text := line(c); c.about == part && text != "" {
				fmt.Fprintf(&b, "%s- %s\n", heading, text)
				heading = ""
			}
		}
		if heading == "" {
			b.WriteString("\n")
		}
	}
	return strings.TrimSpace(b.String())
}

func supportedLine(c *trial) string {
	switch c.mark {
	case "":
		return c.title
	case "newer":
		return fmt.Sprintf("%s (Δ ansible-core %s)", c.title, c.reason)
	}
	return ""
}

func markedLine(c *trial, mark string) string {
	if c.mark != mark {
		return ""
	}
	return fmt.Sprintf("%s: %s", c.title, c.reason)
}
