package planfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"

	"moon/engine/graph"
	"moon/plan"
	"moon/plan/saved"
	"moon/plan/source"
)

// Move is a saved plan for a machine that has the directories it was made in elsewhere. They and the root stand in its third line, which is
// not sealed: what the rest says has the places where it was saved, and reading it compares it with these.
func Move(doc []byte, moved source.Moved) ([]byte, error) {
	var h header
	if err := json.Unmarshal(doc, &h); err != nil || h.Root == "" {
		return nil, errors.New("it is not a saved plan; make one with moon plan -o FILE")
	}
	root, err := json.Marshal(moved.Here(h.Root))
	if err != nil {
		return nil, err
	}
	where, err := json.Marshal(moved)
	if err != nil {
		return nil, err
	}
	line := "  \"root\": " + string(root) + ", \"moved\": " + string(where) + ",\n"
	return withRoot(doc, line), nil
}

// withRoot is a saved plan with another third line.
func withRoot(doc []byte, line string) []byte {
	return bytes.Join([][]byte{doc[:lineStart(doc, 2)], []byte(line), doc[lineStart(doc, 3):]}, nil)
}

// startOfSources is where a saved plan goes from what will run to what it was made from.
var startOfSources = []byte(",\n  \"sources\": ")

// sameElsewhere compares a plan that was made again with the file that it was saved in elsewhere: once the places are those of then it is the
// same, byte for byte. Only the sources may come in another order, which is that of places.
func sameElsewhere(h header, doc []byte, p *plan.Plan, g *graph.Graph) error {
	for _, m := range h.Moved {
		// A place that is not a directory could make one word pass for another.
		for _, path := range []string{m.From, m.To} {
			if !filepath.IsAbs(path) || filepath.Clean(path) != path || path == "/" {
				return errDiffers
			}
		}
	}
	var again bytes.Buffer
	if err := Write(&again, p, g, h.Expected, h.Moon); err != nil {
		return err
	}
	is, err := back(again.Bytes(), h.Moved)
	if err != nil {
		return err
	}
	root, err := json.Marshal(h.Moved.Back(h.Root))
	if err != nil {
		return err
	}
	was := withRoot(doc, "  \"root\": "+string(root)+",\n")
	whatWas, from, ok := bytes.Cut(was, startOfSources)
	whatIs, now, also := bytes.Cut(is, startOfSources)
	if !ok || !also || !bytes.Equal(whatWas, whatIs) {
		return errDiffers
	}
	a, err := unmoved(from)
	if err != nil {
		return err
	}
	b, err := unmoved(now)
	if err != nil || !bytes.Equal(a, b) {
		return errors.Join(err, errDiffers)
	}
	return nil
}

// back is a document with the places in which directories were. It is JSON, so both are as they stand there.
func back(doc []byte, moved source.Moved) ([]byte, error) {
	text := string(doc)
	for _, m := range moved {
		from, err1 := json.Marshal(m.From)
		to, err2 := json.Marshal(m.To)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		text = strings.ReplaceAll(text, string(to[1:len(to)-1]), string(from[1:len(from)-1]))
	}
	return []byte(text), nil
}

// unmoved are the sources at the beginning of a text in the form in which they are compared.
func unmoved(text []byte) ([]byte, error) {
	s := &saved.Sources{}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(s); err != nil {
		return nil, err
	}
	return json.Marshal(s.Unmoved())
}
