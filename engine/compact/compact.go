package compact

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"unicode/utf8"

	"moon/engine/journal"
	"moon/events"
	"moon/events/fact"
	"moon/events/steplog"
	"moon/plan/saved"
)

// What a record carries of one thing, in bytes. Values that are larger go to files of their own, so that views need not read
// them; what is only for people is cut. However large a record then is, the journal takes it.
const (
	MaxInline  = 16 << 10
	maxTitle   = 16 << 10
	MaxError   = 4 << 10
	maxMessage = 1 << 20
)

// Shrink makes a fact fit into the journal. Values that steps need go to a file by their digest; what is only for
// reading is cut.
func Shrink(f *fact.AttemptFinished, blobs journal.Blobs) error {
	f.Error = Cut(f.Error, MaxError)
	f.Detail = Cut(f.Detail, MaxError)
	f.Message = Cut(f.Message, maxMessage)
	if f.Diff != nil && len(f.Diff.Text) > MaxInline {
		d := *f.Diff
		d.Text = Cut(d.Text, MaxInline)
		f.Diff = &d
	}
	// Halves until it fits: which of ten thousand files are listed matters less than that the record can be written.
	if n := len(f.Resources); Size(f.Resources) > MaxInline {
		for Size(f.Resources) > MaxInline {
			f.Resources = f.Resources[:len(f.Resources)/2]
		}
		f.Warnings = append(f.Warnings, fmt.Sprintf("of the %d things it changed only %d are recorded", n, len(f.Resources)))
	}
	var errs []error
	for _, m := range []*map[string]any{&f.Registered, &f.Values, &f.Order, &f.Result} {
		large := Size(*m) > MaxInline
		small := maps.Clone(*m)
		for name, v := range small {
			// A value that looks like a reference is stored as well, or it would be read as one.
			if large && Size(v) > MaxInline/8 || blobOf(v) != "" {
				blob, err := store(blobs, v)
				errs = append(errs, err)
				small[name] = blob
			}
		}
		*m = small
	}
	return errors.Join(errs...)
}

// Cut is the beginning of a text that is longer than a limit in bytes, and says how much more there was.
func Cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	text, more := begin(text, limit)
	return fmt.Sprintf("%s\n… (%d more bytes)", text, more)
}

// Title is Cut for the title of a step, which is shown in one line.
func Title(text string) string {
	if len(text) <= maxTitle {
		return text
	}
	text, more := begin(text, maxTitle)
	return fmt.Sprintf("%s … (%d more bytes)", text, more)
}

// begin is the beginning of a text, without a part of a character at its end, and how much it leaves.
func begin(text string, limit int) (start string, more int) {
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit], len(text) - limit
}

// Size is how many bytes a value takes in a record.
func Size(v any) int {
	if v == nil {
		return 0
	}
	b, err := json.Marshal(v)
	if err != nil {
		return 0
	}
	return len(b)
}

// store puts aside a large value beside the journal and returns what stands for it in a record.
func store(blobs journal.Blobs, v any) (any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("store value: %w", err)
	}
	name, err := blobs.Store(text)
	if err != nil {
		return nil, err
	}
	return map[string]any{blobKey: name}, nil
}

const blobKey = "$blob"

// blobOf is the name of the file that a value stands for in a record, or "". A value of a step that looks the same is always
// stored in a file, so that none is taken for what it is not.
func blobOf(v any) string {
	ref, _ := v.(map[string]any)
	name, _ := ref[blobKey].(string)
	if len(ref) == 1 && journal.IsBlob(name) {
		return name
	}
	return ""
}

// KeepOutput makes output certain to stay that a record refers to.
func KeepOutput(disk journal.Disk, dir, prefix string) error {
	for _, path := range steplog.Files(dir, prefix) {
		if err := disk.Keep(path); err != nil {
			return fmt.Errorf("keep output: %w", err)
		}
	}
	return disk.SyncDir(dir)
}

// Hide removes from a fact what no_log keeps from being shown or stored.
func Hide(f *fact.AttemptFinished) {
	f.Registered, f.Later, f.Values, f.Order, f.Result, f.Message, f.Diff, f.Warnings = nil, nil, nil, nil, nil, "", nil, nil
	f.Detail, f.Drift, f.Resources = "", "", nil
	if f.Error != "" && events.Bad.Has(f.Outcome) {
		f.Error = "failed (the reason is hidden by no_log)"
	}
}

// Restore is the reverse of Shrink, for the values of one map.
func Restore(blobs journal.Blobs, m map[string]any) (map[string]any, error) {
	if m == nil {
		return nil, nil
	}
	out := make(map[string]any, len(m))
	for name, v := range m {
		if blob := blobOf(v); blob != "" {
			text, err := blobs.Load(blob)
			if err != nil {
				return nil, err
			}
			if err := json.Unmarshal(text, &v); err != nil {
				return nil, fmt.Errorf("read value: %w", err)
			}
		}
		out[name] = saved.WholeNumbers(v)
	}
	return out, nil
}
