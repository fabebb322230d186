package action

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = exec.Register("uri", exec.Action{Run: runURI, Served: true, Dry: dryURI, Effect: events.ChangeUnknown})

// dryURI asks for nothing: a request may change the server, whatever its method is called.
func dryURI(_ context.Context, a *exec.Attempt) exec.Result {
	args := a.Args.(*spec.URIArgs)
	if skip := skipURI(a, args); skip != nil {
		return *skip
	}
	return exec.UnknownChange(fmt.Sprintf("would send %s to %s; requests are not made in a dry run", args.Method, hidePassword(args.URL)))
}

// skipURI decides creates and removes of the action's own.
func skipURI(a *exec.Attempt, args *spec.URIArgs) *exec.Result {
	own := exec.Attempt{Job: &exec.Job{Creates: args.Creates, Removes: args.Removes, Dialect: a.Dialect}, Overlay: a.Overlay}
	skip := own.Skips()
	if skip == nil {
		return nil
	}
	r := own.AsUnneededRequest(skip)
	return &r
}

// answered is what a server said.
type answered struct {
	*http.Response
	body    []byte // as far as the limit
	cut     bool
	elapsed time.Duration
}

func runURI(ctx context.Context, a *exec.Attempt) exec.Result {
	args := a.Args.(*spec.URIArgs)
	if skip := skipURI(a, args); skip != nil {
		return *skip
	}
	return askOnce(ctx, a, args)
}

func askOnce(ctx context.Context, a *exec.Attempt, args *spec.URIArgs) exec.Result {
	got, err := askServer(ctx, a, args)
	if err != nil {
		r := a.Failure(ctx, onceOnly(err, args.Method))
		if r.Outcome == events.Failed {
			r.Fields = map[string]any{"status": -1, "url": hidePassword(args.URL), "redirected": false, "elapsed": 0}
		}
		return r
	}
	r := exec.Result{Outcome: events.OK, Fields: got.resultFields(args)}
	a.RewordForPlays(r.Fields, got.reword)
	if why := got.explainUnwanted(args); why != "" {
		r.Outcome, r.Error, r.Class = events.Failed, hidePassword(args.URL)+" "+why, fault.Fatal
		// A read may be sent again; anything else may have had its effect before the server failed.
		if isReadOnly(args.Method) && isPassingStatus(got.StatusCode) {
			r.Class = fault.Transient
		}
		r.Fields["content"], r.Fields["msg"] = textOf(got.body), r.Error
		return r
	}
	if args.Dest == "" {
		return r
	}
	return keepAnswer(ctx, a, args, got, r)
}

// isReadOnly reports a method that may be tried again: it changes nothing on the server.
func isReadOnly(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// onceOnly lets a request that may have changed something be tried again only if it never arrived.
func onceOnly(err error, method string) error {
	if e, ok := errors.AsType[requestError](err); ok && !isReadOnly(method) {
		e.passing = e.passing && e.unsent
		return e
	}
	return err
}

func askServer(ctx context.Context, a *exec.Attempt, args *spec.URIArgs) (*answered, error) {
	r := request{
		method: args.Method, url: args.URL, timeout: args.Timeout, args: &args.HTTPArgs, env: a.Getenv,
		body: args.Text, typ: args.Typ, follow: args.FollowRedirects, socket: args.UnixSocket,
	}
	if args.Force {
		how := args.HTTPArgs
		// The step's own headers win over this one.
		how.Headers = map[string]any{"Cache-Control": "no-cache"}
		maps.Copy(how.Headers, args.Headers)
		r.args = &how
	}
	if args.Src != "" {
		from := fsys.Files(fsys.OwnFiles{})
		if !args.RemoteSrc {
			from = a.Files()
		}
		r.upload = func() (io.ReadCloser, int64, error) { return openSource(from, args.Src) }
	}
	if args.Parts != nil {
		body, typ, err := multipartBody(a, args.Parts)
		if err != nil {
			return nil, err
		}
		r.body, r.typ = &body, typ
	}
	start := time.Now()
	resp, err := r.doRequest(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	// One byte more shows that the answer was cut.
	body, err := io.ReadAll(io.LimitReader(resp.Body, bodyLimit+1))
	if err != nil {
		return nil, err
	}
	got := &answered{resp, body, len(body) > bodyLimit, time.Since(start)}
	got.body = body[:min(len(body), bodyLimit)]
	return got, nil
}

func openSource(from fsys.Files, path string) (io.ReadCloser, int64, error) {
	info, err := from.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fault.Missing(path, "src %s does not exist", path)
	}
	if err != nil {
		return nil, 0, err
	}
	f, err := from.Open(path)
	return f, info.Size(), err
}

// multipartBody writes a form with files in it.
func multipartBody(a *exec.Attempt, parts []spec.Part) (body, typ string, err error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		if p.File != "" {
			path := p.File
			if !filepath.IsAbs(path) {
				path = filepath.Join(a.Cwd, path)
			}
			f, _, err := openSource(fsys.OwnFiles{}, path)
			if err != nil {
				return "", "", err
			}
			content, err := io.ReadAll(f)
			if err := errors.Join(err, f.Close()); err != nil {
				return "", "", err
			}
			p.Content = string(content)
		}
		h := textproto.MIMEHeader{}
		params := map[string]string{"name": p.Name}
		if p.FileName != "" {
			params["filename"] = p.FileName
			// A part without a type counts as plain text, which a file need not be.
			if p.Typ == "" {
				p.Typ = mime.TypeByExtension(filepath.Ext(p.FileName))
			}
			if p.Typ == "" {
				p.Typ = "application/octet-stream"
			}
		}
		h.Set("Content-Disposition", mime.FormatMediaType("form-data", params))
		if p.Typ != "" {
			h.Set("Content-Type", p.Typ)
		}
		field, err := w.CreatePart(h)
		if err == nil {
			_, err = io.WriteString(field, p.Content)
		}
		if err != nil {
			return "", "", err
		}
	}
	if err := w.Close(); err != nil {
		return "", "", err
	}
	return b.String(), w.FormDataContentType(), nil
}

// ownNames are parts of a result that a server must not be able to make up by a header.
var ownNames = []string{
	"json", "content", "path", "changed", "failed", "skipped", "rc", "stdout", "stdout_lines", "stderr", "stderr_lines", "start", "end",
	"duration_ms", "attempts", "state", "mode", "owner", "group", "uid", "gid", "size", "dest", "checksum",
}

// resultFields are the result: the headers under their names in small letters with underscores, and what is known besides.
func (g *answered) resultFields(args *spec.URIArgs) map[string]any {
	f := map[string]any{}
	for name, values := range g.Header {
		if name = strings.ReplaceAll(strings.ToLower(name), "-", "_"); !slices.Contains(ownNames, name) {
			f[name] = strings.Join(values, ", ")
		}
	}
	cookies, all := map[string]any{}, []string{}
	for _, c := range g.Cookies() {
		cookies[c.Name] = c.Value
		all = append(all, c.Name+"="+c.Value)
	}
	// -1 is a length that the server has not given.
	length := "unknown"
	if g.ContentLength >= 0 {
		length = fmt.Sprint(g.ContentLength)
	}
	maps.Copy(f, map[string]any{
		"status": g.StatusCode, "url": g.Request.URL.Redacted(), "redirected": g.Request.URL.Redacted() != hidePassword(args.URL),
		"msg":     fmt.Sprintf("%s (%s bytes)", strings.TrimSpace(http.StatusText(g.StatusCode)), length),
		"elapsed": int(g.elapsed.Seconds()), "cookies": cookies, "cookies_string": strings.Join(all, "; "),
	})
	// A body is registered only on demand: it is kept with the results of the run.
	if args.ReturnContent {
		f["content"] = textOf(g.body)
	}
	if isJSON(g.Header.Get("Content-Type")) && !g.cut {
		if v, ok := decodeJSON(g.body); ok {
			f["json"] = v
		}
	}
	return f
}

// reword words the result as conditions of plays look for it.
func (g *answered) reword(f map[string]any) {
	if g.StatusCode >= http.StatusMultipleChoices {
		f["msg"] = fmt.Sprintf("HTTP Error %d: %s", g.StatusCode, http.StatusText(g.StatusCode))
	} else if _, size, ok := strings.Cut(f["msg"].(string), " ("); ok {
		f["msg"] = "OK (" + size
	}
	if to, err := g.Location(); err == nil { // a whole address, whatever the server has written
		f["location"] = to.String()
	}
}

// decodeJSON reads JSON into plain values: whole numbers are ints.
func decodeJSON(data []byte) (any, bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	// Otherwise large ids would become floating-point numbers and lose digits.
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() {
		return nil, false
	}
	return plainValue(v), true
}

func plainValue(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return int(n)
		}
		f, err := v.Float64()
		if err != nil {
			return v.String()
		}
		return f
	case []any:
		for i := range v {
			v[i] = plainValue(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = plainValue(v[name])
		}
	}
	return v
}

func isJSON(contentType string) bool {
	typ, _, _ := mime.ParseMediaType(contentType)
	_, sub, _ := strings.Cut(typ, "/")
	return sub == "json" || strings.HasSuffix(sub, "+json") || sub == "javascript" || sub == "x-json"
}

// textOf is an answer as a value; what is no text in it is left out.
func textOf(body []byte) string {
	if utf8.Valid(body) {
		return string(body)
	}
	return strings.ToValidUTF8(string(body), "�")
}

// explainUnwanted says how the answer is not as it should be.
func (g *answered) explainUnwanted(args *spec.URIArgs) string {
	switch {
	case !slices.Contains(args.Statuses, g.StatusCode):
		want := strings.Trim(fmt.Sprint(args.Statuses), "[]")
		return fmt.Sprintf("answered %s, not %s%s", statusText(g.StatusCode), strings.ReplaceAll(want, " ", " or "), wantedLogin(g.Response))
	case args.Contains != nil && !bytes.Contains(g.body, []byte(*args.Contains)):
		return fmt.Sprintf("does not answer with %q", *args.Contains)
	case args.Equals != nil && string(g.body) != *args.Equals:
		return "answers with something else"
	case args.Dest != "" && g.cut:
		return "answers with more than " + fsys.FormatSize(bodyLimit) + "; `get_url` takes files of any size"
	}
	return ""
}

// keepAnswer writes the answer to a file.
func keepAnswer(ctx context.Context, a *exec.Attempt, args *spec.URIArgs, got *answered, r exec.Result) exec.Result {
	attrs, err := a.Overlay.NewAttributes(args.Mode, args.Owner, args.Group, args.FileAttributes)
	if err != nil {
		return a.Failure(ctx, err)
	}
	c := &exec.Change{Fields: map[string]any{}}
	t := target{attrs: attrs, from: fsys.Source{Data: got.body, Size: int64(len(got.body))}, force: true}
	c, err = t.writeInto(ctx, a, c, args.Dest, nameOf(got.Response))
	if err != nil {
		return a.Failure(ctx, err)
	}
	kept := a.Apply(ctx, c)
	for name, value := range kept.Fields {
		// Headers and fields of the answer win over those of the file.
		if _, ok := r.Fields[name]; !ok {
			r.Fields[name] = value
		}
	}
	r.Fields["path"] = kept.Fields["dest"]
	kept.Fields = r.Fields
	return kept
}
