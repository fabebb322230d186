package manual

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"moon/internal/app"
	"moon/internal/build"
	"moon/internal/suggest"
)

// Pages prints a manual page, or writes all of them.
type Pages struct {
	Command string `arg:"" optional:"" help:"The command whose page is printed; default: the page of moon."`
	Dir     string `placeholder:"DIR" env:"-" help:"Write the pages of moon and of all commands into this directory, instead of printing one."`
}

// Help says how a page is read.
func (Pages) Help() string {
	return `Prints a page for man, with what --help has. Packages have the pages of all commands.

  moon man run | man -l -
  moon man --dir /usr/local/share/man/man1`
}

// Run prints a page, or writes them.
func (c *Pages) Run(call *app.Invocation, ctx *kong.Context) error {
	root := ctx.Model.Node
	if c.Dir != "" {
		if c.Command != "" {
			return app.Usage("--dir writes the pages of all commands; it takes no command like %s", c.Command)
		}
		return writePages(root, c.Dir)
	}
	if c.Command == "" {
		return printTo(call.Out, rootPage(root))
	}
	var known []string
	for _, n := range commands(root) {
		if n.Name == c.Command {
			return printTo(call.Out, commandPage(n))
		}
		known = append(known, n.Name)
	}
	hint := suggest.DidYouMean(c.Command, known)
	if hint == "" {
		hint = "moon --help lists them"
	}
	return app.Usage("there is no command `%s`; %s", c.Command, hint)
}

// writePages writes a page for moon and one for each command, named as man finds them.
func writePages(root *kong.Node, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return app.Usage("%s", err)
	}
	pages := map[string]string{"moon.1": rootPage(root)}
	for _, n := range commands(root) {
		pages["moon-"+n.Name+".1"] = commandPage(n)
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return app.Usage("%s", err)
		}
	}
	return nil
}

// page is a manual page that is being written, in the language of man(7). It has no date, so that the same moon always prints the same.
type page struct{ strings.Builder }

func newPage(name, about string) *page {
	p := &page{}
	p.request("TH", strings.ToUpper(name), "1", "", "moon "+build.Version, "Manual of moon")
	p.request("SH", "NAME")
	// A search for pages by words reads this line as it stands, so its hyphen is one that nothing may replace.
	p.line(escape(name) + ` \- ` + escape(strings.TrimSuffix(about, ".")))
	return p
}

// escape makes text safe in a page: a backslash begins a request there, and hyphens of flags are to be copied as such.
func escape(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...", "«", `"`, "»", `"`).Replace(text)
}

// request writes a request with its arguments, of which each may have blanks.
func (p *page) request(name string, args ...string) {
	p.WriteString("." + name)
	for _, a := range args {
		p.WriteString(` "` + strings.ReplaceAll(escape(a), `"`, `\(dq`) + `"`)
	}
	p.WriteByte('\n')
}

// line writes a line of text that is escaped. One that begins with a dot or a quote would be a request.
func (p *page) line(text string) {
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		p.WriteString(`\&`)
	}
	p.WriteString(text + "\n")
}

// prose writes a text as help has it: paragraphs are filled, and lines that begin with two blanks stand as they are.
func (p *page) prose(text string) {
	shown, begun := false, false
	for line := range strings.Lines(strings.TrimSpace(text)) {
		line = strings.TrimRight(line, "\n")
		if is := strings.HasPrefix(line, "  "); is != shown {
			p.request(map[bool]string{true: "EX", false: "EE"}[is])
			shown = is
		}
		if line == "" {
			if begun {
				p.request("PP")
			}
			begun = false
			continue
		}
		p.line(escape(line))
		begun = true
	}
	if shown {
		p.request("EE")
	}
}

// term writes what a list explains, such as a flag, and its explanation.
func (p *page) term(name, about string) {
	p.request("TP")
	p.line(`\fB` + escape(name) + `\fR`)
	p.line(escape(about))
}

// flags writes the flags of a command, with the headings of help.
func (p *page) flags(n *kong.Node) {
	for _, group := range n.AllFlags(true) {
		last := ""
		for i, f := range group {
			title := "Flags:"
			if f.Group != nil {
				title = f.Group.Title
			}
			if i == 0 || title != last {
				p.request("SS", strings.TrimSuffix(title, ":"))
				last = title
			}
			p.term(flagName(f), f.Help)
		}
	}
}

// flagName is a flag as a person types it, with the word that its value stands for.
func flagName(f *kong.Flag) string {
	name := "--" + f.Name
	if f.Short != 0 {
		name = fmt.Sprintf("-%c, %s", f.Short, name)
	}
	if !f.IsBool() {
		name += "=" + f.FormatPlaceHolder()
	}
	return name
}

// about writes what a command, or a command of a command, is for, and what may stand after it.
func (p *page) about(n *kong.Node) {
	p.line(escape(n.Help))
	if n.Detail != "" {
		p.request("PP")
		p.prose(n.Detail)
	}
	for i, a := range n.Positional {
		if i == 0 {
			p.request("SS", "Arguments")
		}
		p.term(a.Summary(), a.Help)
	}
	p.flags(n)
}

// commandPage is the page of a command, and of the commands that it has itself.
func commandPage(n *kong.Node) string {
	p := newPage("moon-"+n.Name, n.Help)
	p.request("SH", "SYNOPSIS")
	leaves := n.Leaves(true)
	if len(leaves) == 0 { // it has no commands of its own
		leaves = []*kong.Node{n}
	}
	for i, leaf := range leaves {
		if i > 0 {
			p.request("br")
		}
		p.line(`\fBmoon\fR ` + escape(leaf.Summary()))
	}
	p.request("SH", "DESCRIPTION")
	if len(leaves) == 1 && leaves[0] == n {
		p.about(n)
	} else {
		p.line(escape(n.Help))
		for _, leaf := range leaves {
			p.request("SH", strings.ToUpper("moon "+leaf.Path()))
			p.about(leaf)
		}
	}
	p.request("SH", "SEE ALSO")
	p.line(`\fBmoon\fR(1)`)
	return p.String()
}

// exits is what the exit code of moon says.
var exits = []struct {
	code int
	says string
}{
	{app.ExitDone, "done"},
	{app.ExitFailed, "a step failed"},
	{app.ExitUsage, "the playbook or the command line is invalid; nothing ran"},
	{app.ExitStopped, "stopped by the user"},
	{app.ExitStale, "a saved plan is stale"},
	{app.ExitDisk, "the journal or the disk failed"},
	{app.ExitInterrupted, "interrupted"},
}

// rootPage is the page of moon itself: its commands, and what all of them have in common.
func rootPage(root *kong.Node) string {
	p := newPage("moon", "plan YAML playbooks, and run them step by step")
	p.request("SH", "SYNOPSIS")
	p.line(`\fBmoon\fR \fIcommand\fR [\fIflags\fR]`)
	p.request("SH", "DESCRIPTION")
	p.prose(root.Help)
	p.request("SH", "COMMANDS")
	last := ""
	for _, n := range commands(root) {
		if n.Group != nil && n.Group.Title != last {
			last = n.Group.Title
			p.request("SS", strings.TrimSuffix(last, ":"))
		}
		p.term("moon-"+n.Name+"(1)", n.Help)
	}
	p.request("SH", "OPTIONS")
	p.flags(root)
	p.request("SH", "EXIT STATUS")
	for _, e := range exits {
		p.term(strconv.Itoa(e.code), e.says)
	}
	p.request("SH", "ENVIRONMENT")
	p.term("MOON_AGENTS", "Directories with the programs that hosts are sent, with colons between them.")
	p.term("NO_COLOR", "No colours.")
	p.line(".PP")
	p.line(escape("A flag may be given by a variable: --program-timeout by MOON_PROGRAM_TIMEOUT. What the command line has comes first."))
	p.request("SH", "FILES")
	p.term("~/.local/state/moon/runs", "What runs have done: journals, and the output of steps. XDG_STATE_HOME names another place.")
	p.term("~/.config/moon", "Settings, keys and themes. XDG_CONFIG_HOME names another place.")
	p.term("~/.local/share/moon/agents, and agents or ../lib/moon/agents next to moon", "Programs that hosts are sent, each in a directory of its system's name.")
	return p.String()
}
