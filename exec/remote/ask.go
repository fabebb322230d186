package remote

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"moon/exec"
	"moon/exec/action"
	"moon/exec/fsys"
	"moon/exec/pymodule"
	"moon/exec/spec"
)

// asking is the agent's side of the questions of one job.
type asking struct {
	job  uint32
	out  *writer
	gone <-chan struct{} // closed when nobody will answer any more

	mu      sync.Mutex
	last    uint32
	waiting map[uint32]chan answer
}

// errNobody ends what waits for an answer.
var errNobody = errors.New("moon has gone")

func (a *asking) askAndWait(q ask) (answer, error) {
	to, err := a.putQuestion(q)
	if err != nil {
		return answer{}, err
	}
	return a.awaitAnswer(to)
}

// putQuestion puts a question, and does not wait for the answer.
func (a *asking) putQuestion(q ask) (<-chan answer, error) {
	to := make(chan answer, 1)
	// Noted before it is sent: the answer may come at once.
	a.mu.Lock()
	a.last++
	q.Number = a.last
	a.waiting[q.Number] = to
	a.mu.Unlock()
	return to, a.out.sendMessage(kindAsk, a.job, q)
}

func (a *asking) awaitAnswer(to <-chan answer) (answer, error) {
	select {
	case got := <-to:
		return got, got.Err.toError()
	case <-a.gone:
		return answer{}, errNobody
	}
}

// passAnswer hands an answer to whoever waits for it.
func (a *asking) passAnswer(got answer) {
	a.mu.Lock()
	to := a.waiting[got.Number]
	delete(a.waiting, got.Number)
	a.mu.Unlock()
	if to != nil {
		to <- got
	}
}

// theirNames are the variables of a job, which the host has.
type theirNames struct {
	*asking
	source *source // came with the job; nil: nothing did
}

func (n theirNames) Render(_, file string) (string, error) {
	if s := n.source; s != nil && s.Path == file && s.Rendered != nil {
		return *s.Rendered, nil
	}
	got, err := n.askAndWait(ask{What: askRender, File: file})
	return got.Text, err
}

func (n theirNames) Holds(condition string) (bool, error) {
	got, err := n.askAndWait(ask{What: askHolds, Text: condition})
	return got.Yes, err
}

func (n theirNames) Value(expression string) (any, error) {
	got, err := n.askAndWait(ask{What: askValue, Text: expression})
	return nativeValues(got.Value), err
}

// theirFiles are the files that whoever runs moon may read.
type theirFiles struct {
	*asking
	source *source // as of theirNames
}

func (f theirFiles) Stat(path string) (fs.FileInfo, error) {
	if s := f.source; s != nil && s.Path == path {
		return entry{s.Info}, nil
	}
	got, err := f.askAndWait(ask{What: askStat, Text: path})
	if err == nil && len(got.Infos) != 1 {
		err = errFrame
	}
	if err != nil {
		return nil, err
	}
	return entry{got.Infos[0]}, nil
}

func (f theirFiles) Open(path string) (io.ReadCloser, error) {
	if s := f.source; s != nil && s.Path == path {
		return io.NopCloser(bytes.NewReader(s.Data)), nil
	}
	got, err := f.askAndWait(ask{What: askOpen, Text: path})
	if err != nil {
		return nil, err
	}
	return &theirFile{asking: f.asking, handle: got.Handle, window: 1}, nil
}

func (f theirFiles) ReadDir(path string) ([]fs.FileInfo, error) {
	got, err := f.askAndWait(ask{What: askReadDir, Text: path})
	list := make([]fs.FileInfo, len(got.Infos))
	for i := range got.Infos {
		list[i] = entry{got.Infos[i]}
	}
	return list, err
}

func (f theirFiles) Readlink(path string) (string, error) {
	got, err := f.askAndWait(ask{What: askLink, Text: path})
	return got.Text, err
}

// theirFile is one of them, open. It is fetched piece by piece, and the longer it is, the more pieces are on their way at once:
// one after the other, each would take the time of a round trip.
type theirFile struct {
	*asking
	handle uint32
	piece  []byte
	end    bool
	coming []<-chan answer
	window int // how many may be
}

// maxWindow times pieceSize is what a line can hold that is long and fast: 4 MB, or 80 MB a second to the other end of the world.
const maxWindow = 16

func (f *theirFile) Read(p []byte) (int, error) {
	for len(f.piece) == 0 {
		if f.end {
			return 0, io.EOF
		}
		// Several pieces are on the way at a time, so that the delay of the line does not add up.
		for len(f.coming) < f.window {
			to, err := f.putQuestion(ask{What: askRead, Handle: f.handle})
			if err != nil {
				return 0, err
			}
			f.coming = append(f.coming, to)
		}
		got, err := f.awaitAnswer(f.coming[0])
		if err != nil {
			return 0, err
		}
		f.coming = f.coming[1:]
		// A small file needs one piece; the window grows with the file.
		f.window = min(2*f.window, maxWindow)
		f.piece, f.end = got.Data, got.Yes
	}
	n := copy(p, f.piece)
	f.piece = f.piece[n:]
	return n, nil
}

// Close does not wait: the file was only read.
func (f *theirFile) Close() error {
	_, err := f.putQuestion(ask{What: askClose, Handle: f.handle})
	return err
}

// pieceSize is how much of a file goes over a connection at once.
const pieceSize = 256 << 10

// answering is the host's side of the questions of one job. An agent is a process of another user, who may have it ask
// what he likes: it learns only what the job itself is about.
type answering struct {
	job   *exec.Job
	asked chan ask // waiting for their answers

	mu    sync.Mutex
	last  uint32
	files map[uint32]io.ReadCloser
	depot *action.OwnDepot // of a job that fetches a file
	dry   bool
}

// mostAsked is how many questions of a job may wait: the pieces of a file, and its end.
const mostAsked = 2*maxWindow + 1

// answerAll answers the questions of a job in their order, until done.
func (a *answering) answerAll(out *writer, number uint32, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case q := <-a.asked:
			err := out.sendMessage(kindAnswer, number, a.answerTo(q))
			// Every question gets an answer, or the other end would wait for ever.
			if _, large := errors.AsType[tooLargeError](err); large {
				_ = out.sendMessage(kindAnswer, number, answer{Number: q.Number, Err: newFailure(err)}) // or the connection has gone
			}
		}
	}
}

// answerTo answers a question.
func (a *answering) answerTo(q ask) answer {
	got, err := a.findAnswer(q)
	got.Number, got.Err = q.Number, newFailure(err)
	return got
}

func (a *answering) findAnswer(q ask) (got answer, err error) {
	files := a.job.From
	if files == nil {
		files = fsys.OwnFiles{}
	}
	// The other machine may be hostile: it gets what its job names, and nothing else of this one.
	if !a.concernsJob(q) {
		return got, errNotItsOwn
	}
	switch q.What {
	case askRender:
		got.Text, err = a.renderSource(files)
	case askHolds:
		got.Yes, err = a.job.Names.Holds(q.Text)
	case askValue:
		got.Value, err = a.job.Names.Value(q.Text)
		got.Value = plainValues(got.Value)
	case askForget:
		err = a.job.Incremental.Forget()
	case askDecrypt:
		got.Data, err = a.decryptSource(files)
	case askPack:
		got.Data, err = packOf(a.job)
	case askStat:
		var i fs.FileInfo
		if i, err = files.Stat(q.Text); err == nil {
			got.Infos = []info{newInfo(i)}
		}
	case askReadDir:
		var list []fs.FileInfo
		list, err = files.ReadDir(q.Text)
		for _, i := range list {
			got.Infos = append(got.Infos, newInfo(i))
		}
	case askLink:
		got.Text, err = files.Readlink(q.Text)
	case askOpen:
		got.Handle, err = a.openFile(files, q.Text)
	case askRead:
		got.Data, got.Yes, err = a.readPiece(q.Handle)
	case askSum:
		got.Text, got.Value, err = a.sumFile(q.Text)
	case askPut:
		err = a.putFile(q)
	case askClose:
		err = a.closeFile(q.Handle)
	default:
		err = errFrame
	}
	return got, err
}

// errNotItsOwn refuses what a job has nothing to do with.
var errNotItsOwn = errors.New("the step has nothing to do with that")

// concernsJob reports whether a question is about what the job says: the path it copies from and what is below it, a
// condition or an expression among its arguments.
func (a *answering) concernsJob(q ask) bool {
	source := exec.Source(a.job)
	switch q.What {
	case askRender:
		return source != "" && q.File == source
	case askHolds, askValue:
		return mentions(a.job.Raw, q.Text)
	case askSum, askPut:
		return a.job.Action == "fetch"
	case askForget:
		return a.job.Incremental != nil
	case askDecrypt:
		return source != "" && a.job.Decrypt != nil
	case askPack:
		args, ok := a.job.Args.(*spec.PluginArgs)
		return ok && args.Plugin.Speaks == spec.SpeaksPython
	case askStat, askOpen, askReadDir, askLink:
		return source != "" && isBelow(q.Text, filepath.Clean(source))
	}
	return true // by a handle it was given
}

// packOf is the module of a job, with all that it needs.
func packOf(job *exec.Job) ([]byte, error) {
	if job.Pack != nil {
		return job.Pack()
	}
	return pymodule.Pack(job.Args.(*spec.PluginArgs).Plugin)
}

func isBelow(path, dir string) bool {
	path = filepath.Clean(path)
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// mentions reports whether a text is among some arguments, at any depth.
func mentions(v any, text string) bool {
	switch v := v.(type) {
	case string:
		return v == text
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return mentions(item, text) })
	case map[string]any:
		for _, item := range v {
			if mentions(item, text) {
				return true
			}
		}
		return false
	}
	return plainValues(v) == any(text)
}

// renderSource renders the file that the job copies from. It is read here, or another text would be as good.
func (a *answering) renderSource(files fsys.Files) (string, error) {
	source := exec.Source(a.job)
	f, err := files.Open(source)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(f)
	if err != nil {
		return "", err
	}
	return a.job.Names.Render(string(text), source)
}

// decryptSource decrypts the file that the job copies from, and no other text.
func (a *answering) decryptSource(files fsys.Files) ([]byte, error) {
	f, err := files.Open(exec.Source(a.job))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	return a.job.Decrypt(text)
}

func (a *answering) openFile(files fsys.Files, path string) (uint32, error) {
	f, err := files.Open(path)
	if err != nil {
		return 0, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last++
	a.files[a.last] = f
	return a.last, nil
}

func (a *answering) readPiece(handle uint32) (piece []byte, end bool, err error) {
	a.mu.Lock()
	f := a.files[handle]
	a.mu.Unlock()
	if f == nil {
		return nil, false, os.ErrClosed
	}
	piece = make([]byte, pieceSize)
	n, err := io.ReadFull(f, piece)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return piece[:n], true, nil
	}
	return piece[:n], false, err
}

func (a *answering) closeFile(handle uint32) error {
	a.mu.Lock()
	f := a.files[handle]
	delete(a.files, handle)
	a.mu.Unlock()
	if f == nil {
		return os.ErrClosed
	}
	return f.Close()
}

// closeAll closes what a job that was cut off has left open.
func (a *answering) closeAll() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for handle, f := range a.files {
		_ = f.Close() // it was only read
		delete(a.files, handle)
	}
	a.depot.Close()
}
