package spec

import (
	"fmt"
	"reflect"
	"strings"
	"time"
)

// kindOf is the kind that a Go type stands for. A pointer tells a field that was not given from an empty one.
var kindOf = map[reflect.Type]Kind{
	reflect.TypeFor[string]():         String,
	reflect.TypeFor[*string]():        String,
	reflect.TypeFor[bool]():           Bool,
	reflect.TypeFor[*bool]():          Bool,
	reflect.TypeFor[int]():            Int,
	reflect.TypeFor[*int]():           Int,
	reflect.TypeFor[time.Duration]():  Duration,
	reflect.TypeFor[Mode]():           FileMode,
	reflect.TypeFor[[]string]():       Strings,
	reflect.TypeFor[map[string]any](): Map,
	reflect.TypeFor[any]():            Any,
}

var kindTags = map[string]Kind{
	"path": Path, "paths": Paths, "source": Path, "target": Path, "script": ScriptLine, "expression": Expression,
	"conditions": Conditions,
}

// fieldsOf reads the declarations off an argument struct. A mistake in one is a bug, found by any test.
func fieldsOf(t reflect.Type) []Field {
	var fields []Field
	for i := range t.NumField() {
		sf := t.Field(i)
		// The index of an embedded struct goes in front, so that reflect finds the field from the outside.
		if sf.Anonymous { // fields that several actions have
			for _, f := range fieldsOf(sf.Type) {
				f.index = append([]int{i}, f.index...)
				fields = append(fields, f)
			}
			continue
		}
		names, ok := sf.Tag.Lookup("arg")
		if !ok {
			continue
		}
		all := strings.Split(names, ",")
		f := Field{
			Name: all[0], Aliases: all[1:], Doc: sf.Tag.Get("doc"), Required: sf.Tag.Get("need") == "yes", index: []int{i},
			URL: sf.Tag.Get("kind") == "source", AsIs: sf.Tag.Get("kind") == "target",
		}
		// A default is filled in; what is only implied appears in the documentation.
		f.Default, f.fill = sf.Tag.Lookup("default")
		if !f.fill {
			f.Default = sf.Tag.Get("implied")
		}
		f.JSON = sf.Tag.Get("data") == "json"
		f.setEnum(sf.Tag.Get("enum"))
		f.Kind = fieldKind(sf)
		if f.Kind == Object {
			f.Fields = fieldsOf(sf.Type.Elem())
		}
		fields = append(fields, f)
	}
	return fields
}

func fieldKind(sf reflect.StructField) Kind {
	if tag, ok := sf.Tag.Lookup("kind"); ok {
		kind, known := kindTags[tag]
		if !known {
			panic(fmt.Sprintf("spec: %s has kind %q", sf.Name, tag))
		}
		return kind
	}
	if kind, ok := kindOf[sf.Type]; ok {
		return kind
	}
	if sf.Type.Kind() == reflect.Pointer && sf.Type.Elem().Kind() == reflect.Struct {
		return Object
	}
	panic(fmt.Sprintf("spec: %s has type %s", sf.Name, sf.Type))
}

func (f *Field) setEnum(tag string) {
	if tag == "" {
		return
	}
	for word := range strings.SplitSeq(tag, "|") {
		// "old>new" in a declaration: old is accepted and means new.
		word, same, ok := strings.Cut(word, ">")
		if ok {
			if f.same == nil {
				f.same = map[string]string{}
			}
			f.same[word] = same
		}
		f.Enum = append(f.Enum, word)
	}
}
