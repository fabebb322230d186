package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layers says which of moon's packages each package may import. It is the picture in DESIGN.md as a table: changing an
// arrow is a decision, made here and there together, and never a way to fix a build.
var layers = map[string][]string{
	"internal/people":      {}, // names, and who has to be asked: what carries or counts confirmations asks it
	"events":               {"internal/people", "internal/pattern"},
	"secret":               {}, // texts and nothing else: whatever shows or stores something must be able to ask it
	"secret/vault":         {},
	"secret/program":       {"secret"}, // requests and texts: it starts nothing
	"events/fact":          {"events"},
	"events/steplog":       {"internal/termtext", "secret"},
	"events/rundir":        {},                    // paths and nothing else: who writes a file of a run and who reads it ask the same place
	"internal/diag":        {"internal/termtext"}, // what a playbook says is cleaned for the terminal in one way
	"plan/dialect":         {},                    // whatever a playbook becomes carries it
	"plan/playbook":        {"internal/people", "internal/pattern", "internal/diag", "internal/suggest", "plan/playbook/asking", "plan/playbook/node", "plan/playbook/placed", "plan/playbook/yaml11"},
	"plan/playbook/asking": {"plan/playbook/node"},   // nodes: it asks nothing
	"plan/playbook/node":   {"plan/playbook/yaml11"}, // values as written: it knows no files and says nothing
	"plan/playbook/placed": {"plan/playbook/node"},   // texts and nodes: it knows no files
	"plan/playbook/yaml11": {"internal/pattern"},     // texts and numbers: it knows no documents
	"plan/eval":            {"secret/program", "plan/dialect", "plan/eval/jinja", "secret", "internal/suggest", "plan/eval/value", "plan/eval/call", "plan/eval/filters", "plan/eval/lookups", "plan/eval/expr"},
	"plan/eval/call":       {"secret/program", "internal/pyregexp", "plan/dialect", "plan/eval/jinja", "plan/eval/value", "secret"},                                  // what callees see: it evaluates nothing
	"plan/eval/value":      {"plan/eval/jinja", "secret"},                                                                                                            // values and errors: it evaluates nothing
	"plan/eval/jinja":      {"internal/suggest"},                                                                                                                     // texts and trees: it knows no values
	"plan/inventory":       {"exec/spec", "plan/constructed", "plan/eval/value", "internal/pattern", "internal/diag", "plan/playbook", "secret", "internal/suggest"}, // what it writes out masks secrets
	"exec/sshargs":         {"exec/spec"},                                                                                                                            // words, and what ssh makes of them
	"exec/digest":          {"internal/pattern"},                                                                                                                     // texts and nothing else: what is written and what is found are compared by it
	"exec/spec":            {"internal/pyregexp", "internal/pattern", "exec/digest", "internal/suggest", "exec/spec/documented", "exec/pki"},                         // what a certificate may say is checked with the arguments
	"exec/way":             {},
	"exec/becoming":        {},                                    // words of sudo and the like: it starts nothing
	"plan/source":          {"plan/playbook", "secret/vault"},     // files by their digests, and where they are looked for: it knows no plans and no steps
	"plan/found":           {"plan/eval/value"},                   // results, and no steps
	"plan/collection":      {"internal/pattern", "plan/playbook"}, // what is where: it reports nothing and knows no plans
	"plan/schema":          {"internal/people", "plan/playbook", "exec/spec"},
	"plan/vars":            {"internal/diag", "plan/playbook", "plan/inventory", "plan/eval", "plan/eval/value"}, // which value is in effect where: it renders nothing and knows no steps
	"plan/memo":            {"plan/eval/call", "plan/eval/value", "plan/vars"},                                   // values by where they are rendered: it renders nothing
	"plan/reread":          {"internal/diag", "plan/inventory", "plan/playbook", "plan/source", "secret/vault"},  // what sources say, as data
	"plan/prior":           {"events"},                                                                           // what is recorded, and the fold of it: it knows no plans and no files
	"plan/unequal":         {"internal/diag", "internal/pattern", "plan/playbook"},
	"plan":                 {"internal/people", "plan/memo", "plan/unequal", "plan/called", "internal/pattern", "exec/way", "plan/prior", "plan/reread", "plan/found", "plan/parameter", "plan/dialect", "plan/vars", "secret", "secret/vault", "internal/diag", "plan/playbook", "plan/inventory", "plan/eval", "plan/eval/jinja", "plan/source", "exec/spec", "internal/suggest", "plan/eval/value", "plan/eval/call"},
	"plan/doctor":          {"plan/planner/callees", "internal/pattern", "internal/diag", "internal/suggest", "plan", "plan/dialect", "plan/eval", "plan/eval/value", "plan/planner", "plan/planner/library", "plan/planner/problems", "plan/playbook", "plan/source", "plan/walk", "secret"}, // rules that are visited: they neither walk nor open files
	"plan/walk":            {"plan/collection", "internal/diag", "plan", "plan/eval", "plan/planner/library", "plan/planner/problems", "plan/playbook", "plan/source"},                                                                                                                        // tasks as written: it renders nothing and knows no plans but the words of them
	"plan/bind":            {"plan/planner/callees", "exec/becoming", "events", "plan/loops", "secret", "secret/vault", "internal/diag", "plan", "plan/playbook", "plan/vars", "plan/eval", "plan/source", "exec/spec", "plan/eval/value"},
	"plan/planner":         {"plan/planner/gates", "plan/planner/calls", "plan/planner/callees", "plan/planner/imports", "plan/planner/exports", "plan/planner/orphans", "plan/planner/place", "plan/prior", "plan/reread", "plan/planner/content", "plan/planner/defaults", "plan/planner/bindings", "plan/planner/items", "plan/sequence", "plan/loops", "plan/found", "exec/spec", "internal/diag", "internal/suggest", "plan", "plan/dialect", "plan/eval", "plan/eval/value", "plan/inventory", "plan/planner/additions", "plan/planner/choice", "plan/planner/compile", "plan/planner/conceal", "plan/planner/connect", "plan/planner/given", "plan/planner/known", "plan/planner/library", "plan/planner/literal", "plan/planner/lookups", "plan/planner/outline", "plan/planner/override", "plan/planner/pointless", "plan/planner/policy", "plan/planner/preset", "plan/planner/probe", "plan/planner/problems", "plan/planner/prompts", "plan/planner/relay", "plan/planner/spare", "plan/planner/standin", "plan/planner/tags", "plan/planner/unmatched", "plan/planner/varsdir", "plan/playbook", "plan/saved", "plan/source", "plan/vars", "plan/walk", "secret", "plan/collection"},
	"plan/selector":        {"internal/diag", "internal/suggest", "plan"},
	"plan/sequence":        {"plan"},
	"plan/counterpart":     {"internal/pattern", "plan"}, // compares plans, and reads no files
	"plan/parameter":       {"exec/spec", "plan/eval/value"},
	"plan/loops":           {"plan", "plan/eval/value", "plan/playbook"},
	"plan/saved":           {"secret/program", "plan/called", "plan/reread", "plan/selector", "secret", "plan/found", "plan/vars", "internal/diag", "plan", "plan/inventory", "plan/source", "exec/spec", "plan/eval/value"},
	"plan/hostnames":       {"plan"},
	"plan/show":            {"internal/people", "plan/hostnames", "plan/source", "internal/termtext", "plan", "plan/saved", "internal/diag", "plan/playbook", "plan/eval/value"}, // for people and programs: whoever plans or runs does not import it
	"exec/fault":           {},                                                                                                                                                   // what an error means: below all of exec
	"exec/database":        {},                                                                                                                                                   // texts that clients read and print: it starts no programs
	"exec/pki":             {},                                                                                                                                                   // keys, and no files
	"exec/lines":           {"internal/pattern", "exec/spec"},                                                                                                                    // texts and no files
	"exec/fsys":            {"internal/pattern", "exec/digest", "exec/fault", "exec/spec"},                                                                                       // files by anchored names: it knows no jobs, so that an action cannot slip one in
	"exec/process":         {"internal/pattern", "exec/fault"},                                                                                                                   // what moon starts: what an exit means is for those who asked
	"exec/facts":           {"internal/pattern", "exec/process"},
	"exec":                 {"plan/dialect", "secret", "events", "events/steplog", "exec/digest", "exec/spec", "exec/fault", "exec/fsys", "exec/process", "exec/background", "exec/way"},                                                                                                                 // it knows no action: each makes itself known
	"exec/unpack":          {"events", "exec", "exec/fault", "exec/fsys", "exec/spec"},                                                                                                                                                                                                                   // archives that are open: it fetches none
	"exec/action":          {"internal/pyregexp", "internal/pattern", "events", "exec", "exec/digest", "exec/lines", "exec/unpack", "exec/facts", "exec/fault", "exec/fsys", "exec/process", "exec/spec", "internal/suggest", "secret/vault", "exec/database", "exec/pki", "exec/background"},            // a package that is not there may be misspelt, as a key may
	"exec/plugin":          {"exec/pymodule", "exec/pysource", "events", "exec", "exec/spec", "internal/suggest", "exec/fault", "exec/fsys", "exec/process"},                                                                                                                                             // as remote: it needs all of exec, and exec nothing of it
	"exec/remote":          {"internal/pattern", "exec/pymodule", "plan/dialect", "secret", "events", "events/steplog", "exec", "exec/plugin", "exec/spec", "internal/termtext", "exec/fault", "exec/fsys", "exec/process", "exec/facts", "exec/action", "exec/background", "exec/way", "exec/becoming"}, // exec at both ends of a connection; what carries a job must not know of runs
	"exec/background":      {"internal/pattern", "events"},                                                                                                                                                                                                                                               // files of jobs: it starts nothing
	"engine/graph":         {"plan/sequence", "plan/dialect", "events", "plan", "internal/termtext"},
	"engine/planfile":      {"events", "engine/graph", "plan", "plan/planner", "plan/saved", "plan/source", "internal/diag", "plan/show"},
	"engine/pinned":        {"exec/fsys", "plan/source"},                                                // files that are read: it knows no steps
	"engine/exact":         {"events", "events/fact", "plan", "exec/fault", "exec/spec"},                // compares: it neither predicts nor runs
	"engine/compact":       {"engine/journal", "events", "events/fact", "events/steplog", "plan/saved"}, // values of one record: it knows no run
	"engine/moves":         {"events", "events/fact", "plan"},                                           // numbers of steps: it knows no run
	"engine/journal": {
		"events/fact", "events/rundir",
	},
	"engine/durations": {"engine/graph", "engine/journal", "events", "events/rundir", "plan"},                                                                          // times by name: it decides nothing
	"engine/exported":  {"engine/journal", "events/rundir", "plan/found"},                                                                                              // files of values: it knows no runs and no plans
	"engine/history":   {"exec/fault", "engine/journal", "events", "events/fact", "events/rundir", "plan"},                                                             // runs on disk: it reads journals and makes no plan
	"engine/statefile": {"engine/graph", "engine/journal", "events", "events/fact", "events/rundir", "plan", "plan/prior"},                                             // what runs have made: it plans nothing and runs nothing
	"engine/state":     {"internal/people", "plan/counterpart", "plan/sequence", "events", "events/fact", "engine/graph", "exec/fault", "plan", "plan/bind", "secret"}, // the fold: it decides, and does nothing
	"engine/control":   {"events/rundir"},                                                                                                                              // lines through a socket: it must not know what a run is, or a client could reach past the loop
	"engine": {
		"internal/people",
		"internal/pattern",
		"plan/reread",
		"plan/sequence",
		"plan/selector",
		"plan/found",
		"engine/statefile", "engine/compact", "engine/control", "engine/durations", "engine/exact", "engine/exported", "engine/graph", "engine/history", "engine/journal", "engine/moves", "engine/pinned", "engine/state", "events", "events/fact", "events/rundir", "events/steplog", "exec", "plan", "plan/planner", "plan/bind", "plan/saved", "internal/diag", "plan/source", "secret", "internal/termtext", "exec/fault", "exec/fsys", "exec/process",
	},
	"config/yamldoc": {"internal/pattern"},
	"config":         {"config/yamldoc", "internal/diag", "internal/suggest"}, // it says of a setting what the planner says of a key
	"themes":         {"config/yamldoc"},
	"tui":            {"plan/selector", "events", "events/steplog", "plan", "internal/diag", "tui/debugger", "tui/draw", "tui/feed", "tui/fix", "tui/keymap", "tui/known", "tui/overlay", "tui/pane", "tui/tree", "tui/status", "tui/view", "internal/termtext", "internal/suggest", "tui/frame", "tui/looks", "tui/terminal"},
	"tui/console":    {"internal/pattern", "plan/selector", "plan/sequence", "plan/counterpart", "events", "events/steplog", "plan", "internal/diag", "secret", "tui/debugger", "tui/fix", "tui/status", "internal/termtext", "internal/suggest"}, // says "hidden" where a secret is masked
	"tui/plain":      {"plan/hostnames", "plan/eval/pyyaml", "plan/eval/value", "plan/selector", "plan/counterpart", "events", "events/rundir", "events/steplog", "plan", "internal/diag", "secret", "tui/status", "internal/termtext"},           // writes out what stands for a secret, where that has no glyph

	"tui/view":     {"events", "events/steplog", "internal/diag", "plan", "themes", "tui/draw", "tui/feed", "tui/keymap", "tui/known", "tui/overlay", "tui/status", "tui/tree"},                // what a part of the TUI is given; it must not know the model
	"tui/known":    {"plan/hostnames", "events", "internal/diag", "plan", "tui/debugger", "tui/draw", "tui/feed", "tui/status", "tui/tree"},                                                    // the run, and no cursor
	"tui/pane":     {"plan/hostnames", "events", "events/steplog", "internal/diag", "plan", "themes", "tui/draw", "tui/feed", "tui/keymap", "tui/known", "tui/status", "tui/tree", "tui/view"}, // shows; it must not know the model
	"tui/frame":    {"tui/draw", "tui/feed", "tui/keymap", "tui/pane", "tui/view", "tui/tree", "tui/status", "themes", "plan", "events"},                                                       // what is drawn around and next to the panes; it must not know the model
	"tui/picker":   {"themes", "tui/draw", "tui/looks"},                                                                                                                                        // a list, whatever it is of
	"tui/looks":    {"tui/draw", "themes", "internal/suggest"},                                                                                                                                 // colours and glyphs, and no run
	"tui/terminal": {},                                                                                                                                                                         // lends the terminal, whatever is on it
	"tui/overlay":  {"plan/sequence", "events", "internal/diag", "internal/suggest", "plan", "themes", "tui/draw", "tui/fix", "tui/keymap", "tui/known", "tui/status"},                         // reads the run, and wants; it must not know the view
	"tui/feed":     {"events", "events/steplog", "internal/termtext", "tui/draw", "tui/status", "tui/tree"},
	"tui/keymap":   {"config/yamldoc", "internal/diag", "internal/suggest", "tui/draw"},
	"tui/tree":     {"events", "plan", "tui/draw", "tui/status"},
	"tui/draw":     {"internal/termtext", "themes"},                                                 // cells, and no plan
	"tui/debugger": {"events", "plan", "plan/bind", "tui/status"},                                   // what a front end asks, and no words
	"tui/status":   {"internal/pattern", "events", "plan", "plan/source"},                           // what the screen and lines have in common, also the names of changed files
	"tui/fix":      {"plan/counterpart", "events", "plan", "internal/diag", "secret", "tui/status"}, // knows a value that is shown as a secret

	"engine/graph/graphtest": {"engine/graph", "events", "plan", "plan/planner"},               // plans and graphs for the tests of other packages; no program of moon's has it
	"tui/tuitest":            {"events", "internal/diag", "plan"},                              // what tests of the front ends share
	"exec/exectest":          {"events", "events/steplog", "exec", "exec/action", "exec/spec"}, // what tests of exec and its actions share
	"exec/remote/sshtest":    {"exec"},                                                         // servers for the tests of other packages; no program of moon's has it

	"exec/spec/documented": {"internal/pattern", "internal/suggest"},                            // arguments and what is said of them: it reads no text
	"exec/pysource":        {},                                                                  // texts in Python, and nothing is run
	"exec/pymodule":        {"exec/fsys", "exec/pysource", "exec/spec", "exec/spec/documented"}, // modules and what they need, as files: it starts no process

	"internal/termtext":    {},                                                                                                                                  // whatever shows a text from outside asks it
	"internal/pattern":     {},                                                                                                                                  // texts and nothing else
	"internal/pyregexp":    {"internal/pattern"},                                                                                                                // what patterns mean is the same while planning and on the host
	"plan/called":          {"exec/spec"},                                                                                                                       // what Python has answered, as data
	"exec/python":          {"exec", "exec/fault", "exec/process", "exec/spec"},                                                                                 // programs that call files in Python: it knows no templates
	"plan/planner/callees": {"exec/spec", "plan", "plan/called", "plan/eval/call", "plan/eval/jinja", "plan/eval/value", "plan/planner/lookups", "plan/source"}, // asks Python, and starts nothing
	"plan/planner/calls":   {"internal/diag", "internal/suggest", "plan", "plan/eval/value", "plan/playbook"},                                                   // names: it plans nothing
	"plan/constructed":     {"internal/diag", "internal/suggest", "plan/dialect", "plan/eval", "plan/eval/value", "plan/playbook"},                              // makes names of names: it knows no inventory
	"plan/eval/pyyaml":     {"internal/pattern", "plan/eval/value"},                                                                                             // values as text: it reads nothing
	"internal/suggest":     {},                                                                                                                                  // names that do not exist are alike, whatever they name

	"internal/notices":     {}, // files of modules: it knows nothing of moon
	"internal/assault":     {}, // what tests say of themselves
	"internal/assault/cmd": {"internal/assault"},
	"internal/build":       {},              // what every program of moon may say of itself
	"exec/agent":           {"exec/remote"}, // the far end only: hosts are sent what it imports
	"cmd/moon-agent":       {"exec/agent", "exec/remote", "internal/build"},

	"internal/test/fakes":   {"engine/journal", "events", "events/fact", "exec", "exec/exectest", "exec/process", "internal/cli", "tui/tuitest"}, // what the suites share; no program of moon's has it
	"internal/test/ansible": {},                                                                                                                  // suites: they see moon from outside
	"internal/test/bench":   {},
	"internal/test/ci":      {},
	"internal/test/crash":   {},
	"internal/test/docs":    {},
	"internal/test/fleet":   {},
	"internal/test/hostile": {},
	"internal/test/machine": {},
	"internal/test/release": {},
	"internal/test/screen":  {},
	"internal/test/script":  {},
	"internal/test/signals": {},

	"docs/tape": {}, // it looks at moon as a person does, from outside
	".":         {"internal/cli"},
	"internal/app": {"secret/program",
		"internal/build", "internal/watch", "internal/report/html", "internal/report/markdown", "internal/report/otlp", "internal/report/reading",
		"exec/python", "exec/sshargs", "plan/called", "plan/selector",
		"plan/found", "plan/playbook",
		"plan/vars", "internal/diag", "plan/prior", "plan/planner/orphans", "engine/statefile", "engine/control", "events/rundir", "internal/app/statedir", "internal/factcache", "engine", "engine/exported", "engine/history", "engine/graph", "events", "events/fact", "events/steplog", "exec/spec", "exec", "exec/remote", "exec/plugin", "internal/termtext", "plan", "plan/bind", "plan/source", "plan/inventory", "secret", "secret/vault", "tui/plain", "exec/fsys", "exec/process", "exec/facts", "exec/action",
	},
	"embed":                     {"engine", "engine/graph", "events", "events/fact", "events/rundir", "exec/action", "exec/agent", "exec/facts", "exec/remote", "internal/app", "internal/app/statedir", "internal/build", "internal/diag", "plan", "plan/called", "plan/show"}, // moon without a terminal, for other programs: it knows no commands
	"examples/embed":            {"embed", "events"},                                                                                                                                                                                                                            // a program outside of the tree: what it may import, anyone may
	"internal/report/otlp":      {"events", "internal/report/reading", "plan"},                                                                                                                                                                                                  // spans and requests: it waits for nobody
	"internal/report/reading":   {"events", "events/steplog", "internal/termtext", "plan", "tui/status"},                                                                                                                                                                        // takes in, and writes nothing
	"internal/report/comparing": {"internal/report/reading", "plan/counterpart", "plan/show"},                                                                                                                                                                                   // two runs that have been: it changes neither
	"internal/report/html":      {"events", "internal/report/reading", "internal/termtext", "tui/status"},
	"internal/report/markdown":  {"events", "internal/report/reading", "internal/termtext", "tui/status"},
	"internal/report/schemas":   {"engine/graph", "events", "internal/people", "plan", "plan/show", "tui/plain"},                                             // types and words: it writes none of what it describes
	"internal/launch":           {"engine/history", "events", "internal/diag", "internal/termtext", "plan/playbook", "tui/plain"},                            // files and runs: it plans nothing
	"internal/watch":            {},                                                                                                                          // files, and who waits for them
	"internal/factcache":        {"events", "exec", "exec/spec", "plan", "plan/eval/value", "plan/found", "plan/vars"},                                       // files of facts: it gathers none
	"internal/install":          {"exec/fsys", "exec/process", "internal/diag", "internal/suggest", "plan/playbook"},                                         // requirements and files: it knows no plans
	"internal/series":           {"engine/graph", "events/fact", "internal/app", "internal/diag", "internal/termtext", "plan", "plan/playbook", "plan/show"}, // which playbook after which: it plans and runs nothing
	"internal/app/statedir":     {"events/rundir", "exec/fsys"},                                                                                              // paths, and whose they are
	"internal/cli/installing":   {"exec/process", "internal/app", "internal/diag", "internal/install", "internal/termtext", "plan/collection", "plan/playbook", "secret"},
	"internal/cli/starting":     {"engine/history", "internal/app", "internal/launch", "themes", "tui/draw", "tui/looks", "tui/picker"},
	"internal/vaulting":         {"secret/vault"},                                                       // files, and no flags
	"internal/cli/adhoc":        {"exec/spec", "internal/app", "internal/pattern", "plan", "plan/show"}, // words, and one question: it runs nothing
	"internal/formatter":        {"internal/pattern"},                                                   // a text, and no files
	"internal/cli/formatting":   {"exec/fsys", "internal/app", "internal/formatter", "internal/termtext", "internal/vaulting", "secret/vault"},
	"internal/starter":          {"internal/pattern"}, // texts: it plans nothing
	"internal/starter/mooncake": {"internal/pattern"}, // texts: it plans nothing
	"internal/cli/projects":     {"internal/app", "internal/pattern", "internal/starter", "internal/starter/mooncake", "internal/termtext"},
	"plan/lint":                 {"internal/diag", "internal/pattern", "plan", "plan/planner/library", "plan/planner/problems", "plan/playbook", "plan/source", "plan/walk", "secret"}, // as plan/doctor
	"internal/cli/linting":      {"internal/app", "internal/build", "internal/cli/nearby", "internal/diag", "internal/suggest", "internal/termtext", "internal/vaulting", "plan", "plan/lint"},
	"internal/cli/vaults":       {"exec", "internal/app", "internal/pattern", "internal/termtext", "internal/vaulting", "secret/vault"},
	"internal/cli/surroundings": {"internal/app"},                                  // files and the environment: it knows no playbook
	"internal/cli/targets":      {"internal/pattern", "internal/termtext", "plan"}, // words of a call, and what they may be
	"internal/cli/modules":      {"internal/diag", "plan/collection", "plan/playbook"},
	// A module of its own, which moon does not need.
	"nats/link":     {}, // names and a connection
	"nats/record":   {"engine/control", "engine/journal", "events", "events/rundir", "events/steplog", "nats/link"},
	"nats/mirror":   {"engine/control", "engine/history", "events/rundir", "nats/link"},
	"nats/serve":    {},                                                                              // a server
	"nats/session":  {"nats/link"},                                                                   // bytes and how they arrive: it starts nothing
	"nats/agent":    {"nats/session", "nats/link"},                                                   // hosts: it knows no runs and no frames
	"nats/queue":    {"events", "nats/link"},                                                         // it starts no processes, and knows nothing of plans
	"nats/pack":     {"engine/planfile", "exec/spec", "plan/inventory", "plan/saved", "plan/source"}, // what a plan was made from, and where it is here
	"nats/schedule": {"nats/link", "nats/queue"},
	"nats/retain":   {"events", "nats/link", "nats/mirror", "nats/queue", "nats/schedule"}, // what the servers have: it touches nothing of this machine
	"nats/states":   {"engine/statefile", "nats/link", "plan/prior"},                       // where records are, and not what they mean
	"nats/notify":   {"nats/link"},                                                         // it reads journals as anyone outside would
	"nats/test":     {"nats/command", "nats/link", "nats/pack", "nats/queue", "nats/retain", "nats/schedule", "nats/serve"},
	"nats/command":  {"engine/control", "engine/history", "engine/journal", "engine/statefile", "events", "exec/remote", "exec/way", "internal/app", "internal/app/statedir", "internal/cli", "internal/termtext", "nats/states", "plan", "plan/prior", "nats/agent", "nats/link", "nats/mirror", "nats/notify", "nats/pack", "nats/queue", "nats/record", "nats/retain", "nats/schedule", "nats/serve", "nats/session"},
	"nats":          {"nats/command"},

	// An editor.
	"internal/lsp/wire":       {},                                                                                                                                                                                             // messages, and what is in them
	"internal/lsp/text":       {"internal/lsp/wire"},                                                                                                                                                                          // places in a text: it knows no language
	"internal/lsp/index":      {"engine/graph", "internal/diag", "plan", "plan/dialect", "plan/eval", "plan/planner", "plan/planner/library", "plan/planner/problems", "plan/playbook", "plan/source", "plan/walk", "secret"}, // playbooks as they are edited: it knows no protocol
	"internal/lsp/feature":    {"exec/spec", "internal/lsp/index", "internal/lsp/text", "internal/lsp/wire", "internal/termtext", "plan", "plan/eval", "plan/eval/value", "plan/playbook", "plan/source"},                     // answers: it reads, and changes nothing
	"internal/lsp":            {"internal/diag", "internal/lsp/feature", "internal/lsp/index", "internal/lsp/text", "internal/lsp/wire", "plan", "plan/playbook"},                                                             // one client and what it has open: what planning may ask is not its own
	"internal/cli/completing": {"config", "exec/spec", "internal/app", "internal/cli/editing", "internal/termtext", "plan", "plan/planner", "themes"},                                                                         // what may follow: it starts nothing
	"internal/cli/editing":    {"internal/diag", "plan/inventory", "plan/playbook", "plan/source", "exec/facts", "exec/plugin", "exec/spec", "internal/app", "internal/build", "internal/cli/modules", "internal/lsp", "plan", "secret", "secret/vault"},

	"internal/cli/lastview":   {"internal/app", "plan", "tui"}, // a file: it shows nothing
	"internal/cli/nearby":     {"internal/pattern", "internal/diag", "plan"},
	"internal/cli/predicted":  {"events", "plan", "tui/status"},
	"internal/cli/replanning": {"engine", "engine/control", "internal/diag", "tui"},                     // it asks, and does not plan
	"internal/cli/settings":   {"config", "internal/app", "internal/diag", "internal/termtext", "plan"}, // what files say for flags: it plans nothing
	"internal/cli/recorded":   {"internal/app", "plan", "plan/prior"},
	"internal/cli/manual":     {"internal/app", "internal/build", "internal/suggest"}, // the commands as others read them: it plans nothing
	"internal/cli/reference":  {"exec/facts", "exec/remote", "exec/spec", "internal/app", "internal/build", "internal/suggest", "internal/report/schemas", "internal/termtext", "plan/schema"},
	"internal/cli": {
		"internal/report/comparing", "internal/report/reading",
		"exec/agent", "internal/build",
		"plan/called",
		"internal/cli/adhoc", "internal/cli/completing", "internal/cli/editing", "internal/cli/formatting", "internal/cli/installing", "internal/cli/lastview", "internal/cli/linting", "internal/cli/manual", "internal/cli/modules", "internal/cli/nearby", "internal/cli/predicted", "internal/cli/recorded", "internal/cli/reference", "internal/cli/replanning", "internal/cli/settings", "internal/cli/projects", "internal/cli/surroundings", "internal/cli/targets", "internal/cli/vaults",
		"plan/selector",
		"engine/statefile", "plan/prior", "internal/app", "internal/series", "internal/app/statedir", "config", "engine", "engine/control", "engine/exact", "engine/graph", "engine/history", "engine/planfile", "events", "events/fact", "events/rundir", "events/steplog", "exec", "exec/remote", "exec/plugin", "exec/spec", "plan", "plan/doctor", "plan/bind", "plan/saved", "plan/source", "internal/diag", "plan/inventory", "plan/playbook", "plan/schema", "secret", "secret/vault", "themes", "tui", "tui/draw", "tui/keymap", "tui/console", "tui/plain", "tui/status", "internal/termtext", "internal/suggest", "plan/show", "exec/process", "exec/facts", "exec/action", "tui/looks", "tui/terminal", "internal/cli/starting",
	},

	// What templates call, below the evaluator: none of it evaluates anything.
	"plan/eval/expr":    {"plan/eval/jinja", "plan/eval/value", "plan/eval/filters", "plan/eval/lookups"},
	"plan/eval/filters": {"plan/eval/pyyaml", "internal/pyregexp", "internal/pattern", "plan/dialect", "plan/eval/jinja", "internal/suggest", "plan/eval/call", "plan/eval/netaddr", "plan/eval/value"},
	"plan/eval/netaddr": {},
	"plan/eval/lookups": {"internal/pattern", "plan/eval/jinja", "plan/eval/call", "plan/eval/value", "plan/eval/filters"},

	// The planner's components: each is asked through its constructor, and none knows the walk.
	"plan/planner/additions": {"exec/spec", "internal/diag", "plan", "plan/inventory", "plan/planner/problems", "plan/vars"},
	"plan/planner/bindings":  {"plan/memo", "internal/diag", "plan", "plan/eval/value", "plan/planner/compile", "plan/planner/known", "plan/planner/library", "plan/planner/problems", "plan/playbook", "plan/sequence", "plan/vars"},
	"plan/planner/choice":    {"internal/suggest", "plan/selector", "internal/diag", "plan"},
	"plan/planner/compile":   {"plan/eval/lookups", "plan/unequal", "internal/pattern", "exec/spec", "internal/diag", "internal/suggest", "plan", "plan/eval", "plan/eval/value", "plan/planner/problems", "plan/playbook", "plan/vars"},
	"plan/planner/conceal":   {"exec/spec", "internal/diag", "plan", "plan/eval", "plan/eval/value", "plan/planner/problems", "plan/source", "secret"},
	"plan/planner/connect":   {"exec/becoming", "exec/spec", "exec/sshargs", "internal/diag", "plan", "plan/inventory", "plan/eval/value", "plan/planner/known", "plan/planner/problems", "plan/playbook", "plan/source", "plan/vars", "secret", "exec/way", "internal/suggest"},
	"plan/planner/defaults":  {"exec/spec", "internal/diag", "internal/suggest", "plan", "plan/collection", "plan/eval/value", "plan/planner/compile", "plan/planner/known", "plan/planner/library", "plan/planner/problems", "plan/playbook"},
	"plan/planner/content":   {"internal/diag", "plan", "plan/eval", "plan/eval/value", "plan/planner/conceal", "plan/planner/library", "plan/planner/problems", "plan/source", "secret"},
	"plan/planner/exports":   {"internal/suggest", "plan", "plan/eval/value", "plan/planner/problems", "plan/playbook", "plan/vars"},
	"plan/planner/given":     {"internal/diag", "plan", "plan/eval/value", "plan/found", "plan/planner/library", "plan/planner/problems", "plan/playbook", "plan/vars", "secret"},
	"plan/planner/imports":   {"internal/diag", "internal/suggest", "plan", "plan/eval/value", "plan/planner/known", "plan/planner/problems", "plan/playbook", "plan/source", "plan/vars"},
	"plan/planner/items":     {"plan", "plan/eval/value", "plan/loops", "plan/planner/compile", "plan/planner/library", "plan/planner/outline", "plan/planner/problems", "plan/playbook", "plan/source", "plan/vars", "secret"},
	"plan/planner/known":     {"internal/people", "internal/pattern", "plan/eval", "exec/spec", "internal/diag", "plan", "plan/eval/value", "plan/planner/problems", "plan/playbook", "secret"},
	"plan/planner/library":   {"internal/pattern", "exec/spec", "plan/collection", "plan/reread", "internal/diag", "internal/suggest", "plan", "plan/parameter", "plan/eval", "plan/inventory", "plan/planner/problems", "plan/playbook", "plan/source", "secret", "secret/vault"},
	"plan/planner/literal":   {"plan", "plan/playbook"}, // looks at the plan before, and renders nothing
	"plan/planner/lookups":   {"secret/program", "plan", "plan/eval/call", "plan/eval/value", "plan/planner/library", "plan/source"},
	"plan/planner/orphans":   {"events", "exec/spec", "internal/diag", "plan", "plan/playbook", "plan/prior"}, // what no step gives: it walks nothing
	"plan/planner/place":     {"internal/people", "plan", "plan/eval/value", "plan/playbook"},                 // the step of an open place: it walks nothing
	"plan/planner/spare":     {},                                                                              // values that are used again
	"plan/planner/outline":   {"internal/pattern", "plan/prior", "plan/sequence", "internal/diag", "internal/suggest", "plan", "plan/eval/value", "plan/planner/problems", "plan/playbook", "plan/vars"},
	"plan/planner/override":  {"internal/diag", "plan", "plan/eval/value", "plan/planner/compile", "plan/planner/problems", "plan/playbook", "plan/vars", "secret"},
	"plan/planner/pointless": {"exec/spec", "internal/diag", "plan", "plan/planner/problems", "plan/playbook"},
	"plan/planner/preset":    {"internal/diag", "internal/suggest", "plan", "plan/parameter", "plan/eval/value", "plan/planner/problems", "plan/playbook", "plan/vars", "secret"},
	"plan/planner/policy":    {"internal/people", "exec/spec", "plan", "plan/eval/value", "plan/planner/known", "plan/planner/outline", "plan/planner/pointless", "plan/planner/problems", "plan/playbook"},
	"plan/planner/probe":     {"plan/found", "exec/spec", "plan", "plan/eval/value", "plan/planner/problems", "secret"},
	"plan/planner/problems":  {"internal/diag", "plan", "plan/eval/value", "plan/playbook"},
	"plan/planner/prompts":   {"exec/spec", "plan", "plan/planner/known", "plan/planner/problems", "plan/playbook"},
	"plan/planner/relay":     {"internal/diag", "plan", "plan/eval/value", "plan/playbook", "plan/vars"}, // bindings for bindings: it plans nothing
	"plan/planner/gates":     {"internal/diag", "plan", "plan/playbook", "plan/vars"},
	"plan/planner/standin":   {"internal/diag", "plan", "plan/loops", "plan/playbook"}, // tasks for tasks: it plans none of them
	"plan/planner/tags":      {"internal/diag", "internal/suggest", "plan", "plan/planner/problems", "plan/eval", "plan/eval/value", "plan/playbook"},
	"plan/planner/unmatched": {"exec/spec", "plan", "plan/eval", "plan/eval/value", "plan/planner/compile", "plan/planner/library", "plan/planner/problems", "plan/playbook", "plan/source", "plan/walk"},
	"plan/planner/varsdir":   {"exec/spec", "plan", "plan/eval/value", "plan/planner/known", "plan/planner/library", "plan/planner/problems", "plan/playbook", "plan/source"},
}

// owners says who alone may touch a part of the outside world, and why.
var owners = []struct {
	path string // an import path, or the beginning of one if it ends in /
	by   []string
	why  string
}{
	{"os/exec", []string{"exec", "exec/facts", "exec/process", "exec/remote", "exec/remote/sshtest", "docs/tape", "internal/assault/cmd", "internal/test/fakes", "nats/agent", "nats/command", "nats/test"}, "processes have one owner, which kills their whole group; remote and the worker of nats start only other selves of moon, and notify the command that it is given; what an agent of nats starts must outlive a kill of it, to see the end of its input and end its own steps in order; tape, assault and fakes, which are no part of it, moon and its tests"},
	{"github.com/alecthomas/kong", []string{"internal/cli", "internal/cli/completing", "internal/cli/manual", "internal/cli/settings"}, "commands are adapters; what they call knows no flags"},
	{"charm.land/", []string{"tui", "tui/feed", "tui/known", "tui/looks", "tui/overlay", "tui/pane", "tui/picker", "tui/terminal", "tui/view", "themes"}, "one screen, one model; everything else works without a terminal"},
	{"gopkg.in/yaml.v3", []string{"internal/install", "internal/formatter", "internal/starter/mooncake", "secret/program", "exec/pymodule", "plan/playbook", "plan/playbook/node", "plan/eval/filters", "config/yamldoc", "themes", "config", "tui/keymap"}, "a playbook is read in one place, with positions; modules in Python say in it what they take; eval has filters to_yaml and from_yaml; themes, config and the keys read what a person has set for the screen; lock files are written for programs; programs print secrets in it; the formatter asks where nodes are, and compares"},
	{"github.com/expr-lang/expr", []string{"plan/eval/expr"}, "conditions mean the same when planning and when running"},
	{"net", []string{"internal/install", "internal/report/otlp", "engine/control", "exec/action", "exec/facts", "exec/pki", "exec/remote/sshtest", "exec/spec", "plan/eval/filters", "plan/eval/netaddr", "secret", "nats/link", "nats/notify", "nats/serve", "internal/lsp"}, "the only doors are the socket of a run, what steps reach for, the servers of collections, a collector of OpenTelemetry, and those of moon-nats; filters and declarations take addresses apart, secrets are looked for as URLs have them, and editors name files by URLs"},
	{"math/rand", nil, "the same run twice decides the same; ids come from crypto/rand"},
}

// pure are the packages that must be a function of their input, and what of the standard library they may not import: the run's
// state is a fold of facts, and a fold with a file in it cannot be repeated. They start no goroutine and ask no clock either.
var pure = map[string][]string{
	"engine/state": {"internal/people", "os", "io", "io/fs", "sync", "context", "path/filepath", "math/rand", "crypto/rand"},
}

func TestLayers(t *testing.T) {
	imports := importsOf(t)
	for pkg := range imports {
		if _, ok := layers[pkg]; !ok {
			t.Errorf("package %s is not in the table of layers", pkg)
		}
	}
	for pkg, allowed := range layers {
		if imports[pkg] == nil {
			t.Errorf("package %s is in the table of layers, but there is no such package", pkg)
		}
		for path, file := range imports[pkg] {
			own, ok := strings.CutPrefix(path, "moon/")
			if ok && !slices.Contains(allowed, own) {
				t.Errorf("%s imports %s: package %s may import only %s", file, path, pkg, strings.Join(allowed, ", "))
			}
			for _, o := range owners {
				if covers(o.path, path) && !slices.Contains(o.by, pkg) {
					t.Errorf("%s imports %s, which belongs to %s: %s", file, path, strings.Join(o.by, ", "), o.why)
				}
			}
		}
	}
}

func covers(rule, path string) bool {
	if strings.HasSuffix(rule, "/") {
		return strings.HasPrefix(path, rule)
	}
	return path == rule || strings.HasPrefix(path, rule+"/")
}

func TestPurePackages(t *testing.T) {
	imports := importsOf(t)
	for pkg, forbidden := range pure {
		for path, file := range imports[pkg] {
			if slices.ContainsFunc(forbidden, func(rule string) bool { return covers(rule, path) }) {
				t.Errorf("%s imports %s, and package %s is pure", file, path, pkg)
			}
		}
		files, err := filepath.Glob(filepath.Join(pkg, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("package %s has %d files: %v", pkg, len(files), err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.GoStmt:
					t.Errorf("%s: a goroutine, and package %s is pure", set.Position(n.Pos()), pkg)
				case *ast.SelectorExpr:
					if from, ok := n.X.(*ast.Ident); ok && from.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "Sleep", "After", "NewTimer"}, n.Sel.Name) {
						t.Errorf("%s: the clock, and package %s is pure", set.Position(n.Pos()), pkg)
					}
				}
				return true
			})
		}
	}
}

// importsOf maps each package directory to what its files import, and to one file that does. Tests may import more:
// fakes and libraries for testing are theirs.
func importsOf(t *testing.T) map[string]map[string]string {
	t.Helper()
	imports := map[string]map[string]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != "."):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(filepath.Dir(path))
		if imports[pkg] == nil {
			imports[pkg] = map[string]string{}
		}
		for _, i := range f.Imports {
			p, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			imports[pkg][p] = path
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return imports
}
