package action

import (
	"bufio"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

// packedBy is how a file of this name is compressed, as the ending says.
func packedBy(path string) string { return strings.TrimPrefix(filepath.Ext(path), ".") }

// planDump plans to write what a program prints to a file, compressed as its name says. The file takes its place only when the program
// has succeeded. What it would print no one knows, so it is always a change.
func planDump(a *exec.Attempt, c *exec.Change, path string, tool exec.Tool) error {
	return planDumpAs(a, c, path, packedBy(path), tool)
}

// planDumpAs is planDump with a format of compression that the name does not say; "": none.
func planDumpAs(a *exec.Attempt, c *exec.Change, path, format string, tool exec.Tool) error {
	attrs, err := a.Overlay.NewAttributes(spec.Mode{}, "", "", spec.FileAttributes{})
	if err != nil {
		return err
	}
	p, err := a.Overlay.OpenPlace(path)
	if err != nil {
		return err
	}
	c.Places = append(c.Places, p)
	is, err := p.Look()
	if err != nil {
		return err
	}
	t := target{at: p, is: is, attrs: attrs, force: true}
	c.Diff.Path, c.Result = p.Path, p
	kind, w, words := events.ChangeCreate, fsys.Wanted{}, "new file"
	switch is.Kind {
	case fsys.Absent:
		w, _ = attrs.ForNew(fsys.Regular)
	case fsys.Regular:
		kind, words = events.ChangeUpdate, "written again"
		w, _ = attrs.For(is)
	default:
		return errors.New(p.Path + " is " + is.What())
	}
	c.AddPrediction(func(f *fsys.Overlay) { f.Put(p.Path, fsys.Predicted{Entry: w.Entry(fsys.Regular)}) })
	c.Plan(kind, func(ctx context.Context) error {
		stream := func() (io.ReadCloser, error) { return streamOutput(ctx, a, tool, format) }
		t.from = fsys.Source{Size: fsys.CopySize, Stream: stream}
		return t.replaceFile(a, c, w)(ctx)
	}, words, tool.Argv[0])
	return nil
}

// streamOutput is what a program prints, compressed. That it fails is an error of reading.
func streamOutput(ctx context.Context, a *exec.Attempt, tool exec.Tool, format string) (io.ReadCloser, error) {
	r, w := io.Pipe()
	z, err := fsys.Compressor(w, format)
	if err != nil {
		return nil, err
	}
	tool.Output = z
	go func() {
		said, err := a.RunToolReading(ctx, tool)
		w.CloseWithError(errors.Join(said.Explain(err), z.Close()))
	}()
	return r, nil
}

// feedFile runs a program with the content of a file as its input, uncompressed as its name says.
func feedFile(ctx context.Context, a *exec.Attempt, path string, tool exec.Tool) (exec.Answer, error) {
	f, err := fsys.OpenRegular(path)
	if err != nil {
		return exec.Answer{}, err
	}
	defer func() { _ = f.Close() }() // it was only read
	in, done, err := fsys.Uncompressed(bufio.NewReader(f), packedBy(path))
	if err != nil {
		return exec.Answer{}, errors.New(path + " is not what its name says: " + err.Error())
	}
	defer done()
	r, w := io.Pipe()
	tool.Input = r
	broken := make(chan error, 1)
	go func() {
		_, err := io.Copy(w, in)
		broken <- err
		w.CloseWithError(err)
	}()
	said, err := a.RunToolReading(ctx, tool)
	_ = r.Close() // so that the copy ends, whatever was read
	if err := <-broken; err != nil && !errors.Is(err, io.ErrClosedPipe) {
		return said, errors.New(path + " cannot be read to its end: " + err.Error())
	}
	return said, said.Explain(err)
}

// mustFile is the error for a file that is not there yet.
func mustFile(a *exec.Attempt, path string) error {
	e, err := a.Overlay.Stat(path)
	switch {
	case err != nil || e.Kind == fsys.Absent:
		return fault.Missing(path, "target %s does not exist", path)
	case e.Kind == fsys.Directory:
		return errors.New(path + " is a directory")
	}
	return nil
}
