package fact

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"moon/events"
)

// filled sets every field of a struct to something that is not its zero value.
func filled(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(5, 7).UTC()))
			return
		}
		if v.Type() == reflect.TypeFor[events.Order]() {
			v.Set(reflect.ValueOf(events.Order{ID: "1", Actor: "a", Command: events.Retry{Range: events.Range{From: 1, To: 3}}}))
			return
		}
		for t, field := range v.Fields() {
			if t.Tag.Get("json") != "-" { // what is not written is not read
				filled(field)
			}
		}
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(3)
	case reflect.Uint8:
		v.SetUint(uint64(events.Failed))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem())
	case reflect.Map:
		if v.Type() == reflect.TypeFor[map[string]Source]() {
			v.Set(reflect.ValueOf(map[string]Source{"stdout": FromFile}))
			return
		}
		if v.Type() == reflect.TypeFor[map[string]string]() {
			v.Set(reflect.ValueOf(map[string]string{"k": "v"}))
			return
		}
		v.Set(reflect.ValueOf(map[string]any{"k": "v", "list": []any{1.5}}))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			filled(v.Index(i))
		}
	default:
		panic(v.Kind())
	}
}

// TestRecordsSurvive writes and reads a record of every kind.
func TestRecordsSurvive(t *testing.T) {
	for kind, zero := range kinds {
		v := reflect.New(reflect.TypeOf(zero))
		filled(v.Elem())
		want := Record{Seq: 4, Run: "r", At: time.Unix(9, 0).UTC(), Mono: 5, Cause: 2, Fact: v.Elem().Interface().(Fact)}
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Record
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: wrote\n%+v\nread\n%+v", kind, want, got)
		}
		if Kind(got.Fact) != kind {
			t.Errorf("%s is read as %s", kind, Kind(got.Fact))
		}
	}
}

func TestUnknownKindIsRefused(t *testing.T) {
	var r Record
	if err := json.Unmarshal([]byte(`{"seq":1,"kind":"node.exploded","data":{}}`), &r); err == nil {
		t.Error("a record of an unknown kind was read")
	}
}
