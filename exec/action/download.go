package action

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"moon/exec/fault"
	"moon/exec/fsys"
)

// peekLimit is how much of a download is loaded to predict what it will do, in bytes. A dry run loads no more.
const peekLimit = fsys.DiffLimit

// download is something to be fetched: over the network, or from a file of this machine.
type download struct {
	request
	path      string // that the result goes to, for errors
	algorithm string // what the content must hash to; "": anything
	digits    string
}

// peeked is the beginning of a download.
type peeked struct {
	data    []byte // all of it; nil if it is larger than peekLimit
	size    int64  // -1: not known
	name    string // what the server calls it, or the last part of the URL
	url     string // after redirects
	status  int
	same    bool // nothing newer is there
	elapsed time.Duration
}

// filePath is the path that a file:// URL names.
func (d download) filePath() (string, bool) {
	u, err := url.Parse(d.url)
	if err != nil || u.Scheme != "file" {
		return "", false
	}
	return u.Path, true
}

// peekAt asks for the download and loads it if it is small.
func (d download) peekAt(ctx context.Context) (*peeked, error) {
	start := time.Now()
	body, p, err := d.beginRequest(ctx)
	if err != nil || p.same {
		return p, err
	}
	defer func() { _ = body.Close() }() // it was only read
	if p.size > peekLimit {
		return p, nil
	}
	// One byte more tells a file that is larger from one that just fits.
	data, err := io.ReadAll(io.LimitReader(body, peekLimit+1))
	switch {
	case err != nil:
		return nil, d.notYet(err)
	case len(data) > peekLimit:
		return p, nil
	}
	if d.algorithm != "" {
		h := fsys.Hashes[d.algorithm]()
		_, _ = h.Write(data) // a hash does not fail
		if err := d.checkSum(h); err != nil {
			return nil, err
		}
	}
	p.data, p.size, p.elapsed = append([]byte{}, data...), int64(len(data)), time.Since(start)
	return p, nil
}

// beginRequest sends the request and returns the body of an answer that is what was asked for.
func (d download) beginRequest(ctx context.Context) (io.ReadCloser, *peeked, error) {
	if file, ok := d.filePath(); ok {
		f, err := fsys.OpenRegular(file)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, fault.Missing(d.path, "%s does not exist", file)
		}
		if err != nil {
			return nil, nil, err
		}
		info, err := f.Stat()
		if err != nil {
			return nil, nil, errors.Join(err, f.Close())
		}
		return f, &peeked{size: info.Size(), name: path.Base(file), url: d.url, status: http.StatusOK}, nil
	}
	resp, err := d.doRequest(ctx)
	if err != nil {
		return nil, nil, d.notYet(err)
	}
	p := &peeked{size: resp.ContentLength, name: nameOf(resp), url: resp.Request.URL.Redacted(), status: resp.StatusCode}
	switch {
	case resp.StatusCode == http.StatusOK:
		return resp.Body, p, nil
	case resp.StatusCode == http.StatusNotModified && !d.since.IsZero():
		p.same = true
	default:
		why := fmt.Sprintf("%s answered %s%s", hidePassword(d.url), statusText(resp.StatusCode), wantedLogin(resp))
		err = fault.NotYet{Path: d.path, Message: why, Passing: isPassingStatus(resp.StatusCode), Status: resp.StatusCode}
	}
	_ = resp.Body.Close() // it is of no use
	return nil, p, err
}

// wantedLogin says what a server asks for that will not let everybody in.
func wantedLogin(resp *http.Response) string {
	scheme, _, _ := strings.Cut(resp.Header.Get("WWW-Authenticate"), " ")
	switch {
	case resp.StatusCode != http.StatusUnauthorized:
		return ""
	case strings.EqualFold(scheme, "basic") || scheme == "":
		return "; it wants another `url_username` and `url_password`"
	}
	return "; it wants to know who asks by " + scheme + ", and moon can only tell a name and a password, or show a `client_cert`"
}

// notYet makes an error of the network one that an earlier step may prevent: it may start the server.
func (d download) notYet(err error) error {
	if e, ok := errors.AsType[requestError](err); ok {
		return fault.NotYet{Path: d.path, Message: e.message, Passing: e.passing}
	}
	return err
}

// nameOf is the name that a download has.
func nameOf(resp *http.Response) string {
	if _, params, err := mime.ParseMediaType(resp.Header.Get("Content-Disposition")); err == nil {
		if name := fileName(params["filename"]); name != "" {
			return name
		}
	}
	return nameIn(resp.Request.URL)
}

func nameIn(u *url.URL) string {
	if name := fileName(path.Base(u.Path)); name != "" {
		return name
	}
	return "index.html"
}

// fileName is a name that somebody else chose, if it is that of a file in a directory.
func fileName(name string) string {
	if name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		return ""
	}
	return name
}

// streamBody loads the download once more, as it is read. At its end it must have the checksum.
func (d download) streamBody(ctx context.Context) (io.ReadCloser, error) {
	body, _, err := d.beginRequest(ctx)
	if err != nil {
		return nil, err
	}
	checked := &checkedBody{ReadCloser: body, check: func() error { return nil }}
	if d.algorithm != "" {
		h := fsys.Hashes[d.algorithm]()
		checked.Reader = io.TeeReader(body, h)
		checked.check = func() error { return d.checkSum(h) }
	} else {
		checked.Reader = body
	}
	return checked, nil
}

// checkedBody ends with an error if what was read is not as it should be.
type checkedBody struct {
	io.Reader
	io.ReadCloser
	check func() error
}

func (b *checkedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF {
		// The error takes the place of the end of the file, so no reader takes what it has for complete.
		if wrong := b.check(); wrong != nil {
			return n, wrong
		}
	}
	return n, err
}

func (d download) checkSum(h hash.Hash) error {
	if got := hex.EncodeToString(h.Sum(nil)); got != d.digits {
		return fmt.Errorf("checksum: %s has %s %s, not %s", hidePassword(d.url), d.algorithm, got, d.digits)
	}
	return nil
}

// loadUnnamed loads the download into a file that has no name any more. Dir is where; "": where such files go.
func (d download) loadUnnamed(ctx context.Context, dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".moon-*")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Missing(d.path, "directory %s does not exist", dir)
	}
	if err != nil {
		return nil, err
	}
	// Without a name it is gone with the process, however that ends.
	err = os.Remove(f.Name())
	if err == nil {
		err = d.loadInto(ctx, f)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (d download) loadInto(ctx context.Context, to io.Writer) error {
	body, err := d.streamBody(ctx)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, body)
	return errors.Join(err, body.Close())
}
