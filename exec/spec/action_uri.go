package spec

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// URIArgs are the arguments of uri. Once decoded, Text is the body of every format but form-multipart, whose fields
// are Parts.
type URIArgs struct {
	URL             string        `arg:"url" need:"yes" doc:"The URL: https:// or http://."`
	Method          string        `arg:"method" default:"GET" doc:"The method: GET, POST, PUT, PATCH, DELETE, HEAD or another."`
	Body            any           `arg:"body" doc:"Body of the request: text, or a map or list encoded according to body_format."`
	BodyFormat      string        `arg:"body_format" default:"raw" enum:"raw|json|form-urlencoded|form-multipart" doc:"The format of the body, with its Content-Type. With raw, a map or list is sent as JSON."`
	Src             string        `arg:"src" kind:"path" doc:"A file to send instead of body."`
	StatusCode      []string      `arg:"status_code,status" default:"200" doc:"The status codes that count as success."`
	Contains        *string       `arg:"contains" doc:"Text that the answer must contain, in its first 10 MiB."`
	Equals          *string       `arg:"body_equals,equals" doc:"What the answer must be, byte for byte."`
	ReturnContent   bool          `arg:"return_content" default:"false" doc:"Keep the answer as content in the result. The answer of a failed request is always kept, and JSON as json."`
	Dest            string        `arg:"dest" kind:"path" doc:"A file to write the answer to, or a directory to write it to under its own name."`
	Mode            Mode          `arg:"mode" implied:"0644 less the umask for new files" doc:"Mode of dest."`
	Owner           string        `arg:"owner" doc:"Name or id of the owner of dest."`
	Group           string        `arg:"group" doc:"Name or id of the group of dest."`
	Creates         string        `arg:"creates" kind:"path" doc:"Send nothing if this path exists."`
	Removes         string        `arg:"removes" kind:"path" doc:"Send nothing if this path does not exist."`
	FollowRedirects string        `arg:"follow_redirects" default:"safe" enum:"all|yes>all|true>all|safe|no>safe|false>safe|urllib2>safe|none" doc:"When to follow redirects: always, for GET and HEAD only, or never."`
	Timeout         time.Duration `arg:"timeout" default:"30s" doc:"How long the server may be silent."`
	UnixSocket      string        `arg:"unix_socket" kind:"path" doc:"A Unix socket to use instead of the network."`
	Force           bool          `arg:"force" default:"false" doc:"Do not accept cached answers."`
	RemoteSrc       bool          `arg:"remote_src" default:"false" doc:"src is on the machine of the step, not with the other files that steps copy; in a step of another user, that user reads it."`

	FileAttributes

	HTTPArgs

	Statuses []int
	Text     *string
	Typ      string // its Content-Type
	Parts    []Part
}

// Part is a field of a form that is sent as form-multipart.
type Part struct {
	Name     string
	Content  string
	File     string // instead of Content
	FileName string
	Typ      string // "": by the name
}

var _ = declareAction(&Action{
	Name:    "uri",
	Doc:     "Asks a web server for something, and fails unless it answers as wanted. A dry run asks for nothing.",
	Proxies: true,
	args:    reflect.TypeFor[URIArgs](),
	Returns: append([]Return{
		{"status", "The status of the answer."},
		{"json", "What is in an answer that is JSON."},
		{"content", "The answer as text, with return_content or when it is not wanted."},
		{"url", "What was asked for in the end."},
		{"redirected", "Whether that is something else than url."},
		{"msg", "The status in words, with the size."},
		{"cookies", "The cookies that were set, by name."},
		{"cookies_string", "The same as a Cookie header."},
		{"elapsed", "How long it took, in seconds."},
		{"path", "The file that was written."},
	}, attributeReturns[:len(attributeReturns)-1]...),
	Least: "uri: {url: \"https://example.com/\"}",
	Example: `- uri: {url: "http://localhost:8080/health", contains: fine}
- uri:
    url: http://localhost:8080/users
    method: POST
    body_format: json
    body: {name: ann}
    status_code: [200, 201]
  register: made
- print: user {{ made.json.id }}
`,
})

func (a *URIArgs) validateArgs(given func(string) bool) []Problem {
	problems := append(checkURL("url", a.URL, "https", "http"), a.checkArgs(given)...)
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	a.Method = strings.ToUpper(a.Method)
	if a.Method == "" || strings.Trim(a.Method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_") != "" {
		add("method", "`method` must be a word like GET or POST", "")
	}
	if given("body") && given("src") {
		add("src", "`body` and `src` exclude each other", "give one of them")
	}
	if a.Timeout <= 0 {
		add("timeout", "`timeout` must be longer than nothing", "")
	}
	if !given("dest") {
		for _, field := range []string{"mode", "owner", "group"} {
			if given(field) {
				add(field, "`"+field+"` goes with `dest` only", "")
			}
		}
	}
	for _, entry := range a.StatusCode {
		for text := range strings.SplitSeq(entry, ",") {
			status, err := strconv.Atoi(strings.TrimSpace(text))
			if err != nil || status < 100 || status > 599 {
				add("status_code", "`status_code` must be a number like 200, or several", "")
				return problems
			}
			a.Statuses = append(a.Statuses, status)
		}
	}
	if given("body") && a.Body != nil {
		problems = append(problems, a.formatBody()...)
	}
	return problems
}

// formatBody puts the body into words.
func (a *URIArgs) formatBody() []Problem {
	wrong := func(message string) []Problem { return []Problem{{"body", message, ""}} }
	text, isText := asText(a.Body)
	if isText && a.BodyFormat != "form-multipart" {
		a.Text = &text
	}
	switch a.BodyFormat {
	case "json":
		a.Typ = "application/json"
		// A text that is JSON is not quoted again.
		if s, ok := a.Body.(string); !ok || !json.Valid([]byte(s)) { // text that is JSON already is sent as it is
			a.Text = nil
		}
	case "form-urlencoded":
		a.Typ = "application/x-www-form-urlencoded"
		if isText {
			return nil
		}
		form, ok := encodeForm(a.Body)
		if !ok {
			return wrong("`body` of a form must be a map of names and values, or a list of such pairs")
		}
		a.Text = &form
		return nil
	case "form-multipart":
		var ok bool
		if a.Parts, ok = readParts(a.Body); !ok {
			return wrong("`body` of a multipart form must be a map of names to texts, or to maps with `content` or `filename`")
		}
		return nil
	}
	if a.Text == nil {
		text, ok := asJSON(a.Body)
		if !ok {
			return wrong("`body` cannot be written as JSON")
		}
		a.Text = &text
	}
	return nil
}

// encodeForm writes a form: of a map sorted by name, of a list in its order.
func encodeForm(body any) (string, bool) {
	var pairs []string
	add := func(name string, value any) bool {
		values, ok := asStrings(value)
		if value == nil {
			values, ok = []string{""}, true
		}
		for _, v := range values {
			pairs = append(pairs, url.QueryEscape(name)+"="+url.QueryEscape(v))
		}
		return ok
	}
	switch body := body.(type) {
	case map[string]any:
		// Sorted, so that a change in the order of a map is not a change of the request.
		for _, name := range slices.Sorted(maps.Keys(body)) {
			if !add(name, body[name]) {
				return "", false
			}
		}
	case []any:
		for _, item := range body {
			pair, _ := item.([]any)
			if len(pair) != 2 || !add(fmt.Sprint(pair[0]), pair[1]) {
				return "", false
			}
		}
	default:
		return "", false
	}
	return strings.Join(pairs, "&"), true
}

// readParts reads the fields of a form, sorted by name.
func readParts(body any) ([]Part, bool) {
	m, ok := body.(map[string]any)
	if !ok {
		return nil, false
	}
	var all []Part
	for _, name := range slices.Sorted(maps.Keys(m)) {
		p := Part{Name: name}
		field, ok := m[name].(map[string]any)
		if !ok {
			if p.Content, ok = asText(m[name]); !ok {
				return nil, false
			}
			all = append(all, p)
			continue
		}
		content, has := field["content"]
		p.FileName, _ = asText(field["filename"])
		p.Typ, _ = asText(field["mime_type"])
		if has {
			p.Content, ok = asText(content)
		} else {
			// Without content the file is read where the step runs; the server sees only its name.
			p.File, ok = p.FileName, p.FileName != ""
			p.FileName = p.FileName[strings.LastIndexByte(p.FileName, '/')+1:]
		}
		for key := range field {
			ok = ok && slices.Contains([]string{"content", "filename", "mime_type"}, key)
		}
		if !ok {
			return nil, false
		}
		all = append(all, p)
	}
	return all, true
}
