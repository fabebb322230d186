package events

import (
	"bufio"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestOrdersSurvive(t *testing.T) {
	for verb, kind := range commandVerbs.byName {
		v := reflect.New(kind).Elem()
		for _, field := range v.Fields() {
			switch f := field; f.Kind() {
			case reflect.Bool:
				f.SetBool(true)
			case reflect.Int:
				f.SetInt(2)
			case reflect.String:
				f.SetString("step")
			case reflect.Struct:
				f.Set(reflect.ValueOf(Range{1, 4}))
			case reflect.Slice:
				if f.Type() == reflect.TypeFor[[]int]() {
					f.Set(reflect.ValueOf([]int{1, 3}))
					break
				}
				f.Set(reflect.ValueOf([]Override{{Field: "env", Name: "TZ", Value: "UTC", At: "p/s", From: "p/s", Secret: true, Clear: true}}))
			default:
				t.Fatalf("%s has a field of kind %s", verb, f.Kind())
			}
		}
		want := Order{ID: "7", Actor: "tui", Command: v.Interface().(Command)}
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Order
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) || Verb(got.Command) != verb {
			t.Errorf("%s: wrote %+v, read %+v", verb, want, got)
		}
	}
	var o Order
	if err := json.Unmarshal([]byte(`{"do":"dance"}`), &o); err == nil {
		t.Error("an unknown command was read")
	}
}

// TestDocumented checks that docs/events.md shows a line of every kind of event, and that each is what moon writes.
func TestDocumented(t *testing.T) {
	f, err := os.Open("../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	shown := map[string]bool{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if !strings.HasPrefix(line, `{"type":`) {
			continue
		}
		var got map[string]any
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		name := got["type"].(string)
		shown[name] = true
		if len(kindOf(name)) == 0 {
			t.Errorf("docs/events.md shows %s, which there is not", name)
		}
		known := map[string]bool{"type": true, "seq": true, "run": true, "time": true, "step": true, "path": true, "host": true, "origin": true}
		for _, key := range keysOf(name) {
			known[key] = true
		}
		for key := range got {
			if !known[key] {
				t.Errorf("docs/events.md gives %s the key %q, which it never has", name, key)
			}
		}
		for _, key := range always(name) {
			if _, ok := got[key]; !ok {
				t.Errorf("docs/events.md shows %s without %q, which it always has", name, key)
			}
		}
	}
	for name := range eventTypes.byName {
		names := []string{name}
		if name == "step.output" {
			names = []string{"step.stdout", "step.stderr"}
		}
		for _, name := range names {
			if !shown[name] {
				t.Errorf("docs/events.md shows no %s", name)
			}
		}
	}
}

// kindOf is the name under which an event is registered; "" if it is not.
func kindOf(name string) string {
	if name == "step.stdout" || name == "step.stderr" {
		return "step.output"
	}
	if _, ok := eventTypes.byName[name]; !ok || name == "step.output" {
		return ""
	}
	return name
}

// keysOf are the JSON keys an event may have.
func keysOf(name string) []string {
	kind, ok := eventTypes.byName[kindOf(name)]
	if !ok {
		return nil
	}
	if strings.HasPrefix(name, "command.") {
		return []string{"id", "actor", "do", "args", "reason"}
	}
	var keys []string
	for field := range kind.Fields() {
		key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		keys = append(keys, key)
	}
	return keys
}

// always are the keys of its own that an event always has.
func always(name string) []string {
	if strings.HasPrefix(name, "command.") {
		return []string{"do"}
	}
	kind, ok := eventTypes.byName[kindOf(name)]
	if !ok {
		return nil
	}
	var keys []string
	for field := range kind.Fields() {
		key, omit, _ := strings.Cut(field.Tag.Get("json"), ",")
		if omit == "" && key != "-" {
			keys = append(keys, key)
		}
	}
	return keys
}

func TestRecordIsFlat(t *testing.T) {
	r := Record{Seq: 3, Run: "r", Time: time.Unix(0, 0), Step: 1, Event: StepOmitted{Name: "n", Reason: "step-0001 failed", Cause: RefTo(0)}}
	got, err := r.JSON(Where{Step: "step-0002", Path: "p"})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"step.omitted","seq":3,"run":"r","time":"1970-01-01T00:00:00Z","step":"step-0002","path":"p","name":"n","reason":"step-0001 failed","cause":"step-0001"}`
	if string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// A step that failed and was given up took as long as it ran, and not as long as somebody thought about it.
func TestGivenUpStepKeepsItsTime(t *testing.T) {
	var run Run
	at := time.Unix(1_800_000_000, 0)
	for _, e := range []struct {
		after time.Duration
		step  int
		event Event
	}{
		{0, -1, RunStarted{TotalSteps: 2}},
		{0, -1, PlanLoaded{TotalSteps: 2}},
		{0, 0, StepStarted{}},
		{3 * time.Second, 0, StepFailed{Error: "no"}},
		{3 * time.Second, 0, RunPaused{Reason: PauseFailure}},
		{time.Hour, 0, StepSkipped{Reason: SkipUser}},
		{time.Hour, 1, StepSkipped{Reason: SkipUser}},
	} {
		run.Apply(Record{Time: at.Add(e.after), Step: e.step, Event: e.event})
	}
	for i, want := range []time.Duration{3 * time.Second, time.Hour} {
		if got := run.Steps[i].Ended.Sub(at); got != want || run.Steps[i].Outcome != Skipped {
			t.Errorf("step %d ended %s after its %v, want %v", i, run.Steps[i].Outcome, got, want)
		}
	}
}
