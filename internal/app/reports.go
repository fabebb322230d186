package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"moon/events"
	"moon/internal/report/html"
	"moon/internal/report/markdown"
	"moon/internal/report/otlp"
	"moon/internal/report/reading"
	"moon/internal/termtext"
	"moon/tui/plain"
)

// inOnePiece reports whether a format is written when the run has ended.
func inOnePiece(format string) bool {
	return slices.Contains([]string{"junit", "html", "markdown"}, format)
}

// writeReport takes a run in to its end, and writes what is written in one piece then.
func (t target) writeReport(call *Invocation, feed <-chan []events.Record, run story, outDir string) error {
	var write func(io.Writer) error
	if t.format == "junit" {
		j := &plain.JUnit{PlanFor: run.PlanFor, Out: outDir}
		j.Follow(feed)
		write = j.Write
	} else {
		r := &reading.Reading{PlanFor: run.PlanFor, Out: outDir}
		r.Follow(feed)
		write = func(w io.Writer) error { return WriteReport(w, t.format, r) }
	}
	switch {
	case t.file == "" && t.format == "junit":
		return write(reports{call.Doc, &call.Signals.reported})
	case t.file == "":
		return write(reports{call.Out, &call.Signals.reported})
	case t.adds:
		return call.addTo(t.file, write)
	}
	return call.WriteFile(t.file, func(w io.Writer) error { return call.redacted(w, t.format, write) })
}

// export sends a run to a collector of OpenTelemetry. What goes wrong is a warning.
func (t target) export(call *Invocation, feed <-chan []events.Record, run story) {
	host, _ := os.Hostname() // without a name the run is still the run
	x := &otlp.Exporter{
		Settings: t.otlp, PlanFor: run.PlanFor, Host: host, Version: call.version,
		Warn: func(text string) { fmt.Fprintf(call.Err, "moon: %s\n", termtext.CleanName(text)) },
	}
	x.Follow(feed)
}

// WriteReport writes a run that was taken in as html or markdown.
func WriteReport(w io.Writer, format string, r *reading.Reading) error {
	if format == "html" {
		return (&html.Page{Reading: r}).Write(w)
	}
	return (&markdown.Summary{Reading: r}).Write(w)
}

// redacted keeps secrets from a report that is for people. One for programs has a form that masks would break.
func (call *Invocation) redacted(w io.Writer, format string, write func(io.Writer) error) error {
	if format == "junit" {
		return write(w)
	}
	r := newRedactor(call.Secrets, w)
	defer r.flush()
	return write(r)
}

// addTo writes a report behind what is in a file: several runs of a job share its summary.
func (call *Invocation) addTo(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return saving(path, err)
	}
	return errors.Join(call.redacted(f, "markdown", write), f.Close())
}
