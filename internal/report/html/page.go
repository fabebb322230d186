package html

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"strings"

	"moon/internal/report/reading"
	"moon/internal/termtext"
	"moon/tui/status"
)

// The bounds of a page. What is beyond them is counted, and the page says how to get it.
const (
	mostSteps   = 5000     // shown with all there is; of more those that failed come first, then those that changed something
	mostBars    = 1000     // in the picture of times: those that took longest
	attemptText = 64 << 10 // of what one attempt printed, in bytes
	outputText  = 12 << 20 // of all output together
	diffText    = 64 << 10 // of one change
	diffsText   = 6 << 20  // of all changes together
	mostErrors  = 50       // in the list of failures
)

//go:embed style.css
var style string

//go:embed script.js
var script string

// Page is the page of a run that was taken in.
type Page struct {
	*reading.Reading

	w         *bufio.Writer
	shown     []bool  // by step
	output    int64   // how much output there may still be
	diffs     int     // how much of changes
	cutOutput int     // how many attempts are cut
	cutDiffs  int     // how many changes are cut
	inside    [][]int // the scopes in each scope
}

// Write writes the page.
func (p *Page) Write(to io.Writer) error {
	p.w = bufio.NewWriterSize(to, 64<<10)
	p.output, p.diffs = outputText, diffsText
	p.choose()
	p.writeHead()
	p.writeSummary()
	p.writeFailures()
	p.writeSteps()
	p.writeTimes()
	p.writeHosts()
	p.writeEnd()
	return p.w.Flush()
}

// printf writes markup: the texts among args are escaped, whatever they are.
func (p *Page) printf(format string, args ...any) {
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			args[i] = html.EscapeString(arg)
		case markup:
			args[i] = string(arg)
		}
	}
	fmt.Fprintf(p.w, format, args...)
}

// markup is a text that is written as it is: the page's own.
type markup string

func (p *Page) writeHead() {
	sum := sha256.Sum256([]byte(script))
	// Only this script runs, nothing is fetched, and no form sends anything.
	policy := "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; script-src 'sha256-" +
		base64.StdEncoding.EncodeToString(sum[:]) + "'"
	word, _ := p.Outcome()
	p.printf(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="%s">
<title>%s: %s</title>
<style>
%s</style>
</head>
<body>
`, markup(policy), "moon "+p.Moon, termtext.CleanName(p.Run.Playbook), word, markup(style))
}

func (p *Page) writeSummary() {
	word, grade := p.Outcome()
	e := p.Result()
	p.printf("<header>\n<h1>%s <span class=\"badge %s\">%s</span></h1>\n<dl class=\"facts\">\n", termtext.CleanName(p.Run.Playbook), markup(grade), word)
	fact := func(name, text string) {
		if text != "" {
			p.printf("<dt>%s</dt><dd>%s</dd>\n", name, text)
		}
	}
	if p.Plan != nil {
		fact("name", termtext.CleanName(p.Plan.Name))
	}
	fact("run", p.Run.ID)
	fact("started", p.Run.Started.UTC().Format("2006-01-02 15:04:05 MST"))
	took := reading.Duration(e.Duration)
	if e.Waited.Seconds() >= 1 {
		took += ", waited " + reading.Duration(e.Waited)
	}
	fact("took", took)
	for _, f := range p.Head {
		fact(f.Name, termtext.CleanName(f.Text))
	}
	if p.Run.Check {
		fact("mode", "dry run: what would change")
	}
	fact("error", termtext.CleanName(e.Error))
	p.printf("</dl>\n<ul class=\"counts\">\n")
	for _, c := range p.Counts() {
		p.printf("<li data-state=\"%s\"><strong>%d</strong> %s</li>\n", c.Word, c.N, c.Word)
	}
	p.printf("</ul>\n")
	if len(p.Warnings) > 0 {
		p.printf("<details class=\"note\"%s><summary>%s</summary>\n<ul>\n", markup(openIf(len(p.Warnings) < 10)), plural(len(p.Warnings), "warning"))
		for _, text := range p.Warnings {
			p.printf("<li>%s</li>\n", text)
		}
		p.printf("</ul>\n</details>\n")
	}
	p.printf("</header>\n")
}

func openIf(open bool) string {
	if open {
		return " open"
	}
	return ""
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func (p *Page) writeFailures() {
	failed := p.Failed()
	if len(failed) == 0 {
		return
	}
	p.printf("<section id=\"failures\">\n<h2>Failed</h2>\n")
	for n, i := range failed {
		if n == mostErrors {
			p.printf("<p class=\"cut\">and %s more</p>\n", plural(len(failed)-n, "step"))
			break
		}
		head, rest := p.Why(i)
		p.printf("<p>%s %s <strong class=\"bad\">%s</strong></p>\n", p.link(i), dim(p.Origin(i)), head)
		if len(rest) > 0 {
			p.printf("<pre>%s</pre>\n", strings.Join(rest, "\n"))
		}
	}
	p.printf("</section>\n")
}

// dim is a text that is less important, or nothing.
func dim(text string) markup {
	if text == "" {
		return ""
	}
	return markup(`<span class="dim">` + html.EscapeString(text) + `</span>`)
}

// named is what a step is called where it stands alone, with its host.
func (p *Page) named(i int) string {
	if host := p.Host(i); host != "" {
		return host + "  " + p.Name(i)
	}
	return p.Name(i)
}

// writeHosts writes how the tasks of each host ended.
func (p *Page) writeHosts() {
	hosts := p.Hosts()
	if len(hosts) == 0 {
		return
	}
	p.printf("<section id=\"hosts\">\n<h2>Hosts</h2>\n<div class=\"wide\"><table>\n<tr><th>host</th>")
	for _, word := range []string{"ok", "changed", "unreachable", "failed", "skipped", "rescued", "ignored"} {
		p.printf("<th>%s</th>", word)
	}
	p.printf("</tr>\n")
	for i := range hosts {
		p.printf("<tr><td>%s</td>", termtext.CleanName(hosts[i].Host))
		for n, count := range status.Tallies(&hosts[i]) {
			class := "n"
			switch {
			case count > 0 && n == 1:
				class = "n changed"
			case count > 0 && (n == 2 || n == 3):
				class = "n bad"
			}
			p.printf("<td class=\"%s\">%d</td>", markup(class), count)
		}
		p.printf("</tr>\n")
	}
	p.printf("</table></div>\n</section>\n")
}

// writeEnd says what is not in the page, and what wrote it.
func (p *Page) writeEnd() {
	var cut []string
	hidden := 0
	for _, shown := range p.shown {
		if !shown {
			hidden++
		}
	}
	for _, c := range []struct {
		n    int
		word string
	}{
		{hidden, "step"}, {p.cutOutput, "output"}, {p.cutDiffs, "diff"},
	} {
		if c.n > 0 {
			cut = append(cut, plural(c.n, c.word))
		}
	}
	if len(cut) > 0 {
		p.printf("<p class=\"note\" id=\"cut\">Not in this page, or not whole: %s. <code>moon show %s</code> has all of it.</p>\n",
			strings.Join(cut, ", "), p.Run.ID)
	}
	p.printf("<footer>%s</footer>\n<script>%s</script>\n</body>\n</html>\n", "Written by moon "+p.Moon+".", markup(script))
}
