package remote_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"moon/exec/remote"
	"moon/exec/spec"
)

func TestFrames(t *testing.T) {
	one, two := remote.Frame(1, 0, nil), remote.Frame(remote.LastKind, math.MaxUint32, []byte("body"))
	large := remote.Frame(6, 7, bytes.Repeat([]byte("x"), 3<<20))
	tests := []struct {
		name   string
		stream []byte
		n      int
		err    error
	}{
		{"nothing", nil, 0, io.EOF},
		{"one", one, 1, io.EOF},
		{"several", append(append(append([]byte{}, one...), two...), large...), 3, io.EOF},
		{"cut in the head", two[:5], 0, io.ErrUnexpectedEOF},
		{"cut after the head", two[:9], 0, io.ErrUnexpectedEOF},
		{"cut in the body", two[:11], 0, io.ErrUnexpectedEOF},
		{"cut in a large body", large[:2<<20], 0, io.ErrUnexpectedEOF},
		{"cut in the second", append(append([]byte{}, one...), two[:3]...), 1, io.ErrUnexpectedEOF},
		{"no kind", remote.Frame(0, 1, nil), 0, remote.ErrFrame},
		{"a kind that is none", remote.Frame(remote.LastKind+1, 1, nil), 0, remote.ErrFrame},
		{"the largest size, and nothing", []byte{0x04, 0, 0, 0, 1, 0, 0, 0, 0}, 0, io.ErrUnexpectedEOF},
		{"too large", []byte{0x04, 0, 0, 1, 1, 0, 0, 0, 0}, 0, remote.ErrFrame},
		{"text", []byte("Welcome to this machine!\n"), 0, remote.ErrFrame},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			again, n, err := remote.Frames(tt.stream)
			if n != tt.n || !errors.Is(err, tt.err) {
				t.Errorf("%d frames, %v; want %d, %v", n, err, tt.n, tt.err)
			}
			if !bytes.HasPrefix(tt.stream, again) {
				t.Error("what was read is not what was written")
			}
		})
	}
}

func FuzzFrames(f *testing.F) {
	f.Add(remote.Frame(1, 0, nil))
	f.Add(append(remote.Frame(2, 1, []byte{0xa0}), remote.Frame(6, 1, []byte("out"))...))
	f.Add([]byte{0x03, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, stream []byte) {
		again, _, err := remote.Frames(stream)
		if err == nil {
			t.Fatal("there is no end")
		}
		if !bytes.HasPrefix(stream, again) {
			t.Fatal("what was read is not what was written")
		}
		if errors.Is(err, io.EOF) && len(again) != len(stream) {
			t.Fatal("something was left out")
		}
	})
}

// FuzzServe lets a stranger speak to an agent: it neither breaks nor hangs, whatever it is told. Nothing that can be
// carried out is told: what names an action is left out.
func FuzzServe(f *testing.F) {
	f.Add(remote.Message("job", 1, map[string]any{"Action": "x", "Raw": map[string]any{"cmd": "x"}}))
	f.Add(remote.Message("cancel", 1, map[string]any{"Stop": "interrupted"}))
	f.Add(append(remote.Message("job", 1, map[string]any{"Dry": true}), remote.Message("answer", 1, map[string]any{"Number": 1})...))
	f.Add(remote.Frame(4, 1, nil))
	f.Fuzz(func(t *testing.T, stream []byte) {
		for _, action := range spec.Names() {
			if bytes.Contains(bytes.ToLower(stream), []byte(action)) {
				t.Skip()
			}
		}
		_ = remote.Serve(t.Context(), bytes.NewReader(stream), io.Discard, "test")
	})
}

type spelling string

func (s spelling) String() string { return string(s) }

func TestValuesArrive(t *testing.T) {
	deep := any("bottom")
	for range 1000 {
		deep = []any{deep}
	}
	for name, v := range map[string]any{
		"null": nil, "true": true, "text": "ü", "no UTF-8": "a\xff\x00b", "a whole number": 42, "the least": math.MinInt64, "the largest": math.MaxInt64,
		"a fraction": 0.1, "a fraction that is whole": 1.0, "infinite": math.Inf(1), "a list": []any{1, nil, "x", []any{}}, "deep": deep,
		"a map": map[string]any{"a": map[string]any{"b": 2.0, "": false}, "\xff": nil}, "an empty map": map[string]any{},
	} {
		if got, err := remote.Carried(v); err != nil || !reflect.DeepEqual(got, v) {
			t.Errorf("%s: %#v arrives as %#v, %v", name, v, got, err)
		}
	}
	if got, err := remote.Carried([]any{spelling("0644")}); err != nil || !reflect.DeepEqual(got, []any{"0644"}) {
		t.Errorf("a number with its spelling arrives as %#v, %v", got, err)
	}
}

func TestErrorsArrive(t *testing.T) {
	if remote.CarriedError(nil) != nil {
		t.Error("no error arrives as one")
	}
	_, gone := os.Stat("/nowhere/at/all")
	for _, err := range []error{gone, &fs.PathError{Op: "open", Path: "/x", Err: syscall.EACCES}, &fs.PathError{Op: "open", Path: "/x", Err: syscall.ENOTDIR}, errors.New("words"), syscall.EBUSY} {
		got := remote.CarriedError(err)
		if got.Error() != err.Error() {
			t.Errorf("%q arrives as %q", err, got)
		}
		for _, is := range []error{fs.ErrNotExist, fs.ErrPermission, syscall.ENOTDIR, syscall.EBUSY} {
			if errors.Is(got, is) != errors.Is(err, is) {
				t.Errorf("%q arrives as another error: is %v: %v", err, is, errors.Is(got, is))
			}
		}
	}
	if err := remote.CarriedError(errors.New(strings.Repeat("x", 1000))); len(err.Error()) != 1000 {
		t.Error("a long error is cut")
	}
}
