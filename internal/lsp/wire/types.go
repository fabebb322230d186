package wire

import "encoding/json"

// Position is a place between two characters. Character counts in the unit that client and server have agreed on.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// Range is what lies between two places.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Location is a range in a document.
type Location struct {
	URI   string `json:"uri"`
	Range Range  `json:"range"`
}

// Document names a document.
type Document struct {
	URI string `json:"uri"`
}

// At is what most requests are about.
type At struct {
	Document Document `json:"textDocument"`
	Position Position `json:"position"`
}

// DidOpen says that the text of a document is the client's from now on.
type DidOpen struct {
	Document struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
		Text    string `json:"text"`
	} `json:"textDocument"`
}

// DidChange has a new text of a document.
type DidChange struct {
	Document struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
	} `json:"textDocument"`
	Changes []struct {
		Range *Range `json:"range"`
		Text  string `json:"text"`
	} `json:"contentChanges"`
}

// Initialize is the first request.
type Initialize struct {
	RootURI string `json:"rootUri"`
	Folders []struct {
		URI string `json:"uri"`
	} `json:"workspaceFolders"`
	Capabilities struct {
		General struct {
			Encodings []string `json:"positionEncodings"`
		} `json:"general"`
		Workspace struct {
			Watched struct {
				Dynamic bool `json:"dynamicRegistration"`
			} `json:"didChangeWatchedFiles"`
			Inlay struct {
				Refresh bool `json:"refreshSupport"`
			} `json:"inlayHint"`
			Lens struct {
				Refresh bool `json:"refreshSupport"`
			} `json:"codeLens"`
		} `json:"workspace"`
	} `json:"capabilities"`
}

// The severities of a diagnostic.
const (
	SeverityError       = 1
	SeverityWarning     = 2
	SeverityInformation = 3
)

// Diagnostic is something wrong in a document.
type Diagnostic struct {
	Range    Range           `json:"range"`
	Severity int             `json:"severity"`
	Source   string          `json:"source"`
	Message  string          `json:"message"`
	Related  []Related       `json:"relatedInformation,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
}

// Related is another place that has to do with a diagnostic.
type Related struct {
	Location Location `json:"location"`
	Message  string   `json:"message"`
}

// Diagnostics are all that a document has.
type Diagnostics struct {
	URI     string       `json:"uri"`
	Version *int         `json:"version,omitempty"`
	List    []Diagnostic `json:"diagnostics"`
}

// TextEdit puts a text in the place of a range.
type TextEdit struct {
	Range   Range  `json:"range"`
	NewText string `json:"newText"`
}

// WorkspaceEdit changes documents.
type WorkspaceEdit struct {
	Changes map[string][]TextEdit `json:"changes"`
}

// CodeActions asks what can be done about a range.
type CodeActions struct {
	Document Document `json:"textDocument"`
	Range    Range    `json:"range"`
	Context  struct {
		Diagnostics []Diagnostic `json:"diagnostics"`
		Only        []string     `json:"only"`
	} `json:"context"`
}

// CodeAction is something that can be done.
type CodeAction struct {
	Title       string         `json:"title"`
	Kind        string         `json:"kind"`
	Diagnostics []Diagnostic   `json:"diagnostics,omitempty"`
	Preferred   bool           `json:"isPreferred,omitempty"`
	Edit        *WorkspaceEdit `json:"edit,omitempty"`
}

// The kinds of symbols that an outline has.
const (
	SymbolModule    = 2
	SymbolNamespace = 3
	SymbolPackage   = 4
	SymbolClass     = 5
	SymbolFunction  = 12
	SymbolVariable  = 13
	SymbolEvent     = 24
)

// Symbol is a node of an outline.
type Symbol struct {
	Name      string    `json:"name"`
	Detail    string    `json:"detail,omitempty"`
	Kind      int       `json:"kind"`
	Range     Range     `json:"range"`
	Selection Range     `json:"selectionRange"`
	Children  []*Symbol `json:"children,omitempty"`
}

// Markup is text in Markdown.
type Markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

// Markdown is a text in it.
func Markdown(text string) Markup { return Markup{"markdown", text} }

// Hover is what is to be said of a range.
type Hover struct {
	Contents Markup `json:"contents"`
	Range    Range  `json:"range"`
}

// The kinds of completions.
const (
	ItemFunction = 3
	ItemField    = 5
	ItemVariable = 6
	ItemModule   = 9
	ItemValue    = 12
	ItemKeyword  = 14
	ItemFile     = 17
	ItemEvent    = 23
)

// Item is a completion.
type Item struct {
	Label  string    `json:"label"`
	Kind   int       `json:"kind"`
	Detail string    `json:"detail,omitempty"`
	Doc    *Markup   `json:"documentation,omitempty"`
	Sort   string    `json:"sortText,omitempty"`
	Edit   *TextEdit `json:"textEdit,omitempty"`
}

// Items are completions.
type Items struct {
	Incomplete bool   `json:"isIncomplete"`
	Items      []Item `json:"items"`
}

// Rename asks for a new name of what is at a place.
type Rename struct {
	At
	NewName string `json:"newName"`
}

// Command is something that the client does if its user wants it.
type Command struct {
	Title     string `json:"title"`
	Command   string `json:"command"`
	Arguments []any  `json:"arguments,omitempty"`
}

// Lens is a command that stands above a line.
type Lens struct {
	Range   Range   `json:"range"`
	Command Command `json:"command"`
}

// Hints asks for what is to be shown within lines.
type Hints struct {
	Document Document `json:"textDocument"`
	Range    Range    `json:"range"`
}

// Hint is text that is shown within a line.
type Hint struct {
	Position Position `json:"position"`
	Label    string   `json:"label"`
	Tooltip  string   `json:"tooltip,omitempty"`
	PadLeft  bool     `json:"paddingLeft,omitempty"`
}
