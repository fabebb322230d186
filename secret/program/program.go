package program

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"moon/secret"
)

// Formats are the ways to read what a program prints; the first is that of a request that names none.
var Formats = []string{"text", "line", "json", "yaml"}

// maxText is the most that a program may print, in bytes.
const maxText = 1 << 20

// Request is what is asked of which program.
type Request struct {
	Command []string `json:"command"`
	Format  string   `json:"format,omitempty"` // one of Formats
}

const keyPrefix = "program:"

// Key names where the secret comes from, so that it can be asked for there again.
func (r Request) Key() string {
	text, err := json.Marshal(r)
	if err != nil { // of texts alone
		return ""
	}
	return keyPrefix + string(text)
}

// ParseKey is the request that a Key, or the key of a value inside of what was printed, is of.
func ParseKey(from string) (r Request, ok bool) {
	text, is := strings.CutPrefix(from, keyPrefix)
	if !is {
		return r, false
	}
	err := json.NewDecoder(strings.NewReader(text)).Decode(&r)
	return r, err == nil && len(r.Command) > 0
}

// String is the request as people see it.
func (r Request) String() string {
	words := make([]string, len(r.Command))
	for i, w := range r.Command {
		words[i] = strconv.Quote(w)
		if w != "" && !strings.ContainsAny(w, " \t\n'\"\\") {
			words[i] = w
		}
	}
	return strings.Join(words, " ")
}

// Check says what is wrong with a request, and how to fix it.
func (r Request) Check() (wrong, hint string) {
	switch {
	case len(r.Command) == 0 || r.Command[0] == "":
		return "the command of a secret names no program", "give its words: [pass, show, db]"
	case r.Format != "" && !slices.Contains(Formats, r.Format):
		return fmt.Sprintf("the format `%s` of a secret is unknown", r.Format), "give one of " + strings.Join(Formats, ", ")
	}
	return "", ""
}

// Words takes a command apart that is written as one text. There is no shell, and what only a shell would understand is refused.
func Words(text string) ([]string, error) {
	if strings.ContainsAny(text, "'\"\\|&;<>$`") {
		return nil, errors.New("a command of a secret is not run by a shell")
	}
	return strings.Fields(text), nil
}

// Learn reads what the program has printed, and makes it known as a secret.
func (r Request) Learn(set *secret.Set, text string) (any, error) {
	switch {
	case len(text) > maxText:
		return nil, fmt.Errorf("it printed more than %d KiB", maxText>>10)
	case !utf8.ValidString(text):
		return nil, errors.New("it printed something that is not text")
	}
	if r.Format == "line" {
		text, _, _ = strings.Cut(text, "\n")
	}
	text = strings.TrimRight(text, "\r\n")
	if text == "" {
		return nil, errors.New("it printed nothing")
	}
	// Nothing may be guessed from the name of where it comes from; a word that is a secret itself would be readable there.
	from := r.Key()
	if set.Has(strings.Join(r.Command, " ")) {
		from = ""
	}
	var data any
	var err error
	switch r.Format {
	case "json":
		decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
		decoder.UseNumber()
		if err = decoder.Decode(&data); err == nil {
			data = plainNumbers(data)
		}
	case "yaml":
		err = yaml.Unmarshal([]byte(text), &data)
	default:
		set.Add(from, text)
		return text, nil
	}
	// The parser's own words may quote what it has read.
	if err != nil {
		return nil, fmt.Errorf("what it printed is not %s", strings.ToUpper(r.Format))
	}
	learnParts(set, from, "", data)
	return data, nil
}

// leastDigits is how long a number must be to be looked for in texts: shorter ones are ports, counts and years.
const leastDigits = 6

// learnParts makes each text in a value known, by its place in what was printed. Of a whole document the parts are secret, and not the
// names of its keys.
func learnParts(set *secret.Set, from, at string, v any) {
	add := func(text string) {
		name := from
		if name != "" {
			name += "#" + at
		}
		set.Add(name, text)
	}
	switch v := v.(type) {
	case string:
		add(v)
	case map[string]any:
		for key, part := range v {
			learnParts(set, from, at+"."+key, part)
		}
	case []any:
		for i, part := range v {
			learnParts(set, from, at+"."+strconv.Itoa(i), part)
		}
	case nil, bool:
	default:
		if text := fmt.Sprint(v); len(text) >= leastDigits {
			add(text)
		}
	}
}

// plainNumbers turns the numbers of JSON into those of values: whole ones stay whole.
func plainNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := strconv.Atoi(v.String()); err == nil {
			return n
		}
		f, err := v.Float64()
		if err != nil {
			return v.String()
		}
		return f
	case []any:
		for i := range v {
			v[i] = plainNumbers(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = plainNumbers(v[key])
		}
	}
	return v
}

// Asked asks each program once, also if several steps need its secret at the same time. A program that fails is asked again by the next.
type Asked struct {
	// Run runs a program in a directory, and gives what it prints.
	Run func(argv []string, dir string) (string, error)

	mu      sync.Mutex
	answers map[string]*answer
}

type answer struct {
	done chan struct{} // closed when text and err are there
	text string
	err  error
}

// Text is what a program prints.
func (a *Asked) Text(argv []string, dir string) (string, error) {
	key := dir + "\x00" + strings.Join(argv, "\x00")
	a.mu.Lock()
	if a.answers == nil {
		a.answers = map[string]*answer{}
	}
	one, asked := a.answers[key]
	if !asked {
		one = &answer{done: make(chan struct{})}
		a.answers[key] = one
	}
	a.mu.Unlock()
	if asked {
		<-one.done
		return one.text, one.err
	}
	one.text, one.err = a.Run(argv, dir)
	if one.err != nil {
		a.mu.Lock()
		delete(a.answers, key)
		a.mu.Unlock()
	}
	close(one.done)
	return one.text, one.err
}
