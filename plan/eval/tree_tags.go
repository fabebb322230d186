package eval

// statement is one node of a template: text, an output, or a tag with what it encloses.
type statement interface{ isStatement() }

type statements []statement

// verbatim is text as it is.
type verbatim struct {
	text string
	at   int
}

// printing is {{ of }}, and {% include of %}.
type printing struct {
	of         node
	start, end int // delimiters included: it stands for itself while it is open
}

// span is where a tag stands that stays as it is written while it depends on something unknown.
type span struct {
	start, end int      // end tag included
	sets       []string // names that may have another value behind it, sorted
}

// ifTag takes the first branch whose condition holds.
type ifTag struct {
	span
	branches []branch
}

// branch is a condition and what it decides about; that of an else is nil.
type branch struct {
	cond node
	body statements
}

type forTag struct {
	span
	names     []string // that an item is unpacked into, if there are several
	in        node
	cond      node // only items for which it holds; nil for all
	recursive bool // loop(items) runs it again
	body      statements
	empty     statements // else: there are no items
}

// setTag is {% set a, b = value %}.
type setTag struct {
	names []string
	value node
}

// captureTag is {% set name | filters %}body{% endset %}.
type captureTag struct {
	span
	name  string
	value node // the filters on the name; nil if there are none
	body  statements
}

// withTag binds names inside of its body. Their values belong to the outside.
type withTag struct {
	names  []string
	values []node
	body   statements
}

// macroTag is a macro, and the body of a {% call %}, which is one without name.
type macroTag struct {
	name   string
	params []param
	// What gathers the arguments that have no parameter: *names and **names that are declared, and the names that Jinja has
	// for them, if the body uses them. Both are "" if such arguments are mistakes.
	varargs, kwargs string
	body            statements
}

func (m *macroTag) has(param string) bool {
	for _, p := range m.params {
		if p.name == param {
			return true
		}
	}
	return false
}

// param is a parameter of a macro. The value of one without default is *absent.
type param struct {
	name  string
	value node
}

// callTag is {% call(params) of(args) %}body{% endcall %}: the macro finds the body as caller.
type callTag struct {
	span
	of     *call
	caller *macroTag
	tagAt  int // of its name
}

// filterTag is {% filter chain %}body{% endfilter %}. In the chain the body is the name captured.
type filterTag struct {
	span
	chain node
	body  statements
}

// captured is the name that the body of a {% filter %} has in its chain. No text can spell it.
const captured = "\x00captured"

// blockTag stands where it stands: there is no {% extends %}.
type blockTag struct{ body statements }

// doTag evaluates for the effect: {% do of %}, {% set ns.name = value %}.
type doTag struct{ of node }

// exitTag is {% break %}, and {% continue %}, which goes on with the next item.
type exitTag struct{ again bool }

type importTag struct {
	file *importing
	name string
}

// fromTag is {% from file import a, b as c %}.
type fromTag struct {
	file  *importing
	parts []*member // each of a variable named imported
	names []string
}

// imported is the name that a file has while {% from %} takes its names out of it. No text can spell it.
const imported = "\x00imported"

func (*verbatim) isStatement()   {}
func (*printing) isStatement()   {}
func (*ifTag) isStatement()      {}
func (*forTag) isStatement()     {}
func (*setTag) isStatement()     {}
func (*captureTag) isStatement() {}
func (*withTag) isStatement()    {}
func (*macroTag) isStatement()   {}
func (*callTag) isStatement()    {}
func (*filterTag) isStatement()  {}
func (*blockTag) isStatement()   {}
func (*doTag) isStatement()      {}
func (*exitTag) isStatement()    {}
func (*importTag) isStatement()  {}
func (*fromTag) isStatement()    {}
