package starter

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"moon/internal/pattern"
)

var (
	shebang    = pattern.New(`^#!\s*(?:/usr/bin/env\s+(?:-S\s+)?)?(\S+)(.*)$`)
	definition = pattern.New(`^(?:(?:export|readonly|declare|local|unset|alias|shopt|trap|umask|cd|pushd|source|set)\s|\.\s|[A-Za-z_][A-Za-z0-9_]*\+?=\S*\s*$|[A-Za-z_][A-Za-z0-9_]*\+?=["'(].*$|function\s|[A-Za-z_][A-Za-z0-9_-]*\s*\(\))`)
	hereDoc    = pattern.New(`<<-?\s*\\?["']?([A-Za-z_][A-Za-z0-9_]*)["']?`)
	opens      = pattern.New(`(?:^|[;&|(]|\b(?:then|do|else)\s)\s*(?:if|for|while|until|case|select)\b|(?:^|\s|\))\{\s*(?:#.*)?$`)
	closes     = pattern.New(`(?:^|[;&|])\s*(?:fi|done|esac)\b|(?:^|;)\s*\}`)
	cases      = pattern.New(`(?:^|[;&|(]|\b(?:then|do|else)\s)\s*case\b`)
	caseEnds   = pattern.New(`(?:^|[;&|])\s*esac\b`)
)

// command is a command of a script with all of its lines.
type command struct {
	text string
	kept bool // it sets something that later commands may use
}

// paragraph is commands without a blank line between them.
type paragraph struct {
	about    []string
	commands []command
}

// FromScript makes a playbook of a shell script: a step for each paragraph. What sets something for the rest of the script, as variables,
// functions and cd do, stands in front of each step after it, as each has a shell of its own.
func FromScript(name, text string) (string, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	shell := "/bin/sh"
	if m := shebang.FindStringSubmatch(text[:max(strings.IndexByte(text, '\n'), 0)]); m != nil {
		shell = m[1]
		if base := filepath.Base(shell); !slices.Contains([]string{"sh", "bash", "dash", "ksh", "zsh"}, base) {
			return "", fmt.Errorf("it is a script of %s, and not of a shell", base)
		}
		if options := strings.TrimSpace(m[2]); options != "" {
			shell += " " + options
		}
	}
	paragraphs := readScript(text)
	var b strings.Builder
	fmt.Fprintf(&b, "# Made of %s: a step for each paragraph, in their order. What it sets is set again in each step behind it.\nname: %s\n\nsteps:\n", name, quoted("the steps of "+name))
	var before []string
	steps := 0
	for _, p := range paragraphs {
		lines := slices.Clone(before)
		// What a paragraph sets counts in it from there on, and in front of those behind it.
		works := false
		for _, c := range p.commands {
			lines = append(lines, c.text)
			if c.kept {
				before = append(before, c.text)
			} else {
				works = true
			}
		}
		if !works {
			continue
		}
		if steps++; steps > 1 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "  - name: %s\n", quoted(escape(p.title())))
		indent := "      "
		if filepath.Base(shell) == "sh" {
			b.WriteString("    shell: |\n")
		} else {
			fmt.Fprintf(&b, "    shell:\n      interpreter: %s\n      cmd: |\n", quoted(shell))
			indent = "        "
		}
		for l := range strings.SplitSeq(escape(strings.Join(lines, "\n")), "\n") {
			b.WriteString(strings.TrimRight(indent+l, " ") + "\n")
		}
	}
	if steps == 0 {
		return "", errors.New("it has no commands")
	}
	return b.String(), nil
}

// title is the comment above a paragraph, or its first command that does something.
func (p *paragraph) title() string {
	if len(p.about) > 0 {
		return p.about[len(p.about)-1]
	}
	for _, c := range p.commands {
		if !c.kept {
			first, more, _ := strings.Cut(c.text, "\n")
			if more != "" {
				first += " …"
			}
			return first
		}
	}
	return ""
}

// readScript takes a script apart. Blank lines inside a loop, a function or a text do not end a paragraph.
func readScript(text string) (all []paragraph) {
	var now paragraph
	end := func() {
		if len(now.commands) > 0 {
			all = append(all, now)
			now = paragraph{}
		}
	}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], " \t")
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "":
			if len(now.commands) == 0 {
				now.about = nil // a comment that stands alone
			}
			end()
			continue
		case strings.HasPrefix(trimmed, "#"):
			if about := strings.TrimSpace(strings.TrimLeft(trimmed, "#")); about != "" && !strings.HasPrefix(about, "!") &&
				len(now.commands) == 0 {
				now.about = append(now.about, about)
			}
			continue
		}
		last := commandEnd(lines, i)
		text := strings.Join(lines[i:last+1], "\n")
		now.commands = append(now.commands, command{text, definition.MatchString(trimmed)})
		i = last
	}
	end()
	return all
}

// commandEnd is the last line of the command that begins on a line.
func commandEnd(lines []string, from int) int {
	depth, inCase, quote := 0, 0, byte(0)
	for i := from; i < len(lines); i++ {
		line := lines[i]
		bare := ""
		bare, quote = withoutQuotes(line, quote)
		if m := hereDoc.FindStringSubmatch(line); m != nil && !strings.Contains(bare, "<<<") && strings.Contains(bare, "<<") {
			for j := i + 1; j < len(lines); j++ {
				if strings.TrimLeft(lines[j], "\t") == m[1] {
					i = j
					break
				}
			}
		}
		depth += len(opens.FindAllString(bare, -1)) - len(closes.FindAllString(bare, -1))
		inCase += len(cases.FindAllString(bare, -1))
		if inCase == 0 { // in one, a bracket that closes ends a pattern
			depth += strings.Count(bare, "(") - strings.Count(bare, ")")
		}
		inCase -= len(caseEnds.FindAllString(bare, -1))
		if depth <= 0 && quote == 0 && !strings.HasSuffix(line, `\`) && !strings.HasSuffix(bare, "|") && !strings.HasSuffix(bare, "&&") {
			return i
		}
	}
	return len(lines) - 1
}

// withoutQuotes is a line without what is quoted, and without its comment. quote is that in which it begins and ends, or 0.
func withoutQuotes(line string, quote byte) (bare string, still byte) {
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '\\' && quote != '\'':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t'):
			return strings.TrimRight(b.String(), " \t"), 0
		default:
			b.WriteByte(c)
		}
	}
	return strings.TrimRight(b.String(), " \t"), quote
}
