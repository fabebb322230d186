package filters

// What people write who know another language, with what it is called here.

// functionHints are functions of expr that are no filter of the same name.
var functionHints = map[string]string{
	"len": "write `… | length`", "is_defined": "write `… is defined`", "hasPrefix": "write `.startswith(…)`",
	"hasSuffix":  "write `.endswith(…)`",
	"trimPrefix": "write `.removeprefix(…)`", "trimSuffix": "write `.removesuffix(…)`", "toJSON": "write `… | to_json`",
	"fromJSON": "write `… | from_json`",
	"toBase64": "write `… | b64encode`", "fromBase64": "write `… | b64decode`", "uniq": "write `… | unique`",
	"type": "write `… | type_debug`",
	"keys": "write `.keys()`", "values": "write `.values()`", "indexOf": "write `.find(…)`", "concat": "write `… + …`",
	"groupBy": "write `… | groupby(…)`",
	"ceil":    "write `… | round(0, 'ceil')`", "floor": "write `… | round(0, 'floor')`", "toPairs": "write `… | items`",
	"sortBy": "write `… | sort(attribute=…)`",
	"all":    "write `… | reject(…) | length == 0`", "any": "write `… | select(…) | length > 0`",
	"none":   "write `… | select(…) | length == 0`",
	"filter": "write `… | select(…)`",
}

// FunctionHint says what to write for a function that only expr has.
func FunctionHint(name string) string {
	if hint, ok := functionHints[name]; ok {
		return hint
	}
	if _, ok := filters[name]; ok {
		return "write `… | " + name + "`"
	}
	return ""
}

// methodHints are methods of text and lists in other languages.
var methodHints = map[string]string{
	"trim": "write `.strip()`", "contains": "write `… in …`, the part first", "includes": "write `… in …`, the part first",
	"length": "write `| length`", "size": "write `| length`", "len": "write `| length`", "toLowerCase": "write `.lower()`",
	"toUpperCase": "write `.upper()`",
	"matches":     "write `is search(…)`", "hasPrefix": "write `.startswith(…)`", "hasSuffix": "write `.endswith(…)`",
}
