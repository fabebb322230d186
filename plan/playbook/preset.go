package playbook

import (
	"slices"
	"strings"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/internal/suggest"
)

// PresetFile is a parameterised playbook.
type PresetFile struct {
	File        *File
	Name        Value
	Description Value
	Version     Value
	Parameters  []Parameter
	Tasks       []*Task
	Handlers    []*Task
	Exports     []Entry // names and templates; a zero value stands for the variable of that name
}

// Parameter is what a preset can be given.
type Parameter struct {
	Name        string
	Pos         diag.Pos
	Type        string // one of ParameterTypes
	Required    bool
	Default     Value // zero if there is none
	Enum        []Value
	Description Value
	Secret      bool // nobody may see what it is given
}

// ParameterTypes are the types a parameter may have. Without one it is a string.
var ParameterTypes = []string{"string", "int", "number", "bool", "array", "object"}

// PresetKeys and ParameterKeys are the keys of a preset file and of one of its parameters, for the reference.
var (
	PresetKeys    = []string{"name", "description", "version", "parameters", "exports", "steps", "handlers"}
	ParameterKeys = []string{"type", "required", "default", "enum", "description", "secret"}
)

// ParsePreset reads a preset. Like Parse it adds every mistake to ds and returns what it understood.
func ParsePreset(f *File, actions Actions, ds *diag.List) *PresetFile {
	p := &parser{dialect: stepForm, file: f, actions: actions, ds: ds}
	preset := &PresetFile{File: f}
	root, ok := readDocument(f, ds)
	if !ok {
		return preset
	}
	const what = "a preset is a map with `parameters:` and `steps:`"
	switch root.Kind() {
	case Map:
	case Null:
		p.errorf(diag.Pos{File: f.Name, Line: 1, Column: 1}, 0, what, "the file is empty")
		return preset
	case List:
		p.errorf(root.Pos(), 0, what+"; a list of steps is for `include`", "this is a list of steps and no preset")
		return preset
	case Bool, Int, Float, String:
		p.errorf(root.Pos(), 0, what, "the file holds %s", root.Kind())
		return preset
	}
	steps := false
	for _, e := range root.Entries() {
		switch e.Key {
		case "name":
			p.scalarOf(e, &preset.Name)
		case "description":
			p.scalarOf(e, &preset.Description)
		case "version":
			p.scalarOf(e, &preset.Version)
		case "parameters":
			preset.Parameters = readParameters(p, e)
		case "exports":
			preset.Exports = p.readExports(e)
		case "steps":
			steps = true
			preset.Tasks = p.readTasks(e.Value, "`steps:`")
		case "handlers":
			preset.Handlers = handlersParser{p}.read(e)
		default:
			// Keys with x- are the user's own, as in a playbook.
			if !strings.HasPrefix(e.Key, "x-") {
				p.reportUnknown(e, "of a preset", PresetKeys)
			}
		}
	}
	if !steps {
		p.errorf(root.Pos(), 0, "add `steps:` with a list of steps", "this preset has no `steps:`")
	}
	return preset
}

func (p *parser) scalarOf(e Entry, to *Value) {
	if !isScalar(e.Value) {
		p.reportKind(e, "text")
		return
	}
	*to = e.Value
}

// readParameters reads what a preset takes.
func readParameters(p *parser, e Entry) []Parameter {
	switch e.Value.Kind() {
	case Null:
		return nil
	case Map:
	default:
		p.reportKind(e, "a map of names and their `type`, `required`, `default`, `enum` and `description`")
		return nil
	}
	p.varNames(e.Value)
	list := make([]Parameter, 0, e.Value.Len())
	for _, c := range e.Value.Entries() {
		list = append(list, readParameter(p, c))
	}
	return list
}

func readParameter(p *parser, e Entry) Parameter {
	param := Parameter{Name: e.Key, Pos: e.Pos, Type: "string"}
	switch e.Value.Kind() {
	case Null:
		return param
	case Map:
	default:
		p.errorf(e.Value.Pos(), 0, "write `"+e.Key+": {default: …}`", "a parameter is a map of %s; this is %s",
			strings.Join(ParameterKeys, ", "), e.Value.Kind())
		return param
	}
	for _, c := range e.Value.Entries() {
		switch c.Key {
		case "type":
			param.Type = c.Value.Text()
			if !slices.Contains(ParameterTypes, param.Type) {
				p.errorf(c.Value.Pos(), utf8.RuneCountInString(param.Type), typeHint(param.Type), "`type:` must be one of %s",
					strings.Join(ParameterTypes, ", "))
				// Without a type nothing else about the parameter is checked.
				param.Type = "" // no default is compared with a type that does not exist
			}
		case "required":
			if c.Value.Kind() != Bool {
				p.reportKind(c, "true or false")
			}
			param.Required = c.Value.Bool()
		case "secret":
			if c.Value.Kind() != Bool {
				p.reportKind(c, "true or false")
			}
			param.Secret = c.Value.Bool()
		case "default":
			param.Default = c.Value
		case "enum":
			switch {
			case c.Value.Kind() != List:
				p.reportKind(c, "a list of the values that are allowed")
			case c.Value.Len() == 0:
				p.errorf(c.Value.Pos(), 0, "list the values that are allowed, or remove it", "`enum:` allows no value at all")
			}
			param.Enum = c.Value.Items()
		case "description":
			p.scalarOf(c, &param.Description)
		default:
			p.reportUnknown(c, "of the parameter `"+e.Key+"`", ParameterKeys)
		}
	}
	if param.Required && param.Default.Kind() != Null {
		p.errorf(param.Default.Pos(), 0, "remove one of them", "`%s` is required and has a default, which would never be used", e.Key)
	}
	return param
}

// typeHint translates the names that other tools have for types.
func typeHint(name string) string {
	same := map[string]string{
		"str": "string", "text": "string", "integer": "int", "float": "number", "boolean": "bool", "list": "array", "dict": "object",
		"map": "object",
	}
	if t, ok := same[strings.ToLower(name)]; ok {
		return "did you mean `" + t + "`?"
	}
	return suggest.DidYouMean(name, ParameterTypes)
}
