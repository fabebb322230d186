package jinja

// Statement is one node of a template: text, an output, or a tag with what it encloses.
type Statement interface{ isStatement() }

// Statements are run one after the other.
type Statements []Statement

// Verbatim is text as it is.
type Verbatim struct {
	Text string
	at   int
}

// Printing is {{ of }}, and {% include of %}.
type Printing struct {
	Of         Node
	Start, End int      // delimiters included: it stands for itself while it is open
	Changes    []string // as those of a Span
}

// Span is where a tag stands that stays as it is written while it depends on something unknown.
type Span struct {
	Start, End int      // end tag included
	Sets       []string // names that may have another value behind it, sorted
	// Changes are the names by which lists and maps are reached in it that a method changes, sorted; "" where no name says which.
	Changes []string
}

// IfTag takes the first branch whose condition holds.
type IfTag struct {
	Span
	Branches []Branch
}

// Branch is a condition and what it decides about; that of an else is nil.
type Branch struct {
	Cond Node
	Body Statements
}

// ForTag is a loop.
type ForTag struct {
	Span
	Names     []string // that an item is unpacked into, if there are several
	In        Node
	Cond      Node // only items for which it holds; nil for all
	Recursive bool // loop(items) runs it again
	Body      Statements
	Empty     Statements // else: there are no items
}

// SetTag is {% set a, b = value %}.
type SetTag struct {
	Names   []string
	Value   Node
	Changes []string // as those of a Span
}

// CaptureTag is {% set name | filters %}body{% endset %}.
type CaptureTag struct {
	Span
	Name  string
	Value Node // the filters on the name; nil if there are none
	Body  Statements
}

// WithTag binds names inside of its body. Their values belong to the outside.
type WithTag struct {
	Names  []string
	Values []Node
	Body   Statements
}

// MacroTag is a macro, and the body of a {% call %}, which is one without name.
type MacroTag struct {
	Name   string
	Params []Param
	// What gathers the arguments that have no parameter: *names and **names that are declared, and the names that Jinja has
	// for them, if the body uses them. Both are "" if such arguments are mistakes.
	Varargs, Kwargs string
	Body            Statements
}

// Has reports whether the macro has a parameter of that name.
func (m *MacroTag) Has(param string) bool {
	for _, p := range m.Params {
		if p.Name == param {
			return true
		}
	}
	return false
}

// Param is a parameter of a macro. The value of one without default is *absent.
type Param struct {
	Name  string
	Value Node
}

// CallTag is {% call(params) of(args) %}body{% endcall %}: the macro finds the body as caller.
type CallTag struct {
	Span
	Of     *Call
	Caller *MacroTag
	TagAt  int // of its name
}

// FilterTag is {% filter chain %}body{% endfilter %}. In the chain the body is the name captured.
type FilterTag struct {
	Span
	Chain Node
	Body  Statements
}

// Captured is the name that the body of a {% filter %} has in its chain. No text can spell it.
const Captured = "\x00captured"

// BlockTag is {% block name %}body{% endblock %}. It stands where it stands, unless a template that extends this one has its own.
type BlockTag struct {
	At
	Name     string
	Scoped   bool // it sees the names of the loop, or other tag, that it stands in
	Required bool // its body is only a place
	Body     Statements
}

// The names that a template with blocks has: in a block, what that stands in front of, and everywhere the blocks.
const (
	Super = "super"
	Self  = "self"
)

// ExtendsTag is {% extends of %}: the text is that of another file, with the blocks of this one.
type ExtendsTag struct {
	At
	Of Node
}

// DoTag evaluates for the effect: {% do of %}, {% set ns.name = value %}.
type DoTag struct {
	Of      Node
	Changes []string // as those of a Span
}

// ExitTag is {% break %}, and {% continue %}, which goes on with the next item.
type ExitTag struct{ Again bool }

// ImportTag is {% import file as name %}.
type ImportTag struct {
	File *Importing
	Name string
}

// FromTag is {% from file import a, b as c %}.
type FromTag struct {
	File  *Importing
	Parts []*Member // each of a variable named imported
	Names []string
}

// Imported is the name that a file has while {% from %} takes its names out of it. No text can spell it.
const Imported = "\x00imported"

func (*Verbatim) isStatement()   {}
func (*Printing) isStatement()   {}
func (*IfTag) isStatement()      {}
func (*ForTag) isStatement()     {}
func (*SetTag) isStatement()     {}
func (*CaptureTag) isStatement() {}
func (*WithTag) isStatement()    {}
func (*MacroTag) isStatement()   {}
func (*CallTag) isStatement()    {}
func (*FilterTag) isStatement()  {}
func (*BlockTag) isStatement()   {}
func (*ExtendsTag) isStatement() {}
func (*DoTag) isStatement()      {}
func (*ExitTag) isStatement()    {}
func (*ImportTag) isStatement()  {}
func (*FromTag) isStatement()    {}
