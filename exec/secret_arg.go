package exec

import (
	"path/filepath"
	"slices"
	"strings"

	"moon/exec/process"
	"moon/secret"
)

// loaders have an interpreter take its text from an open file instead of the command line, which everybody on the machine can
// read. What the text sees of itself ($0, its arguments, standard input, its exit status) stays what it was.
var loaders = map[string]string{
	"sh": shellLoader, "bash": shellLoader, "dash": shellLoader, "ash": shellLoader, "ksh": shellLoader, "mksh": shellLoader,
	"zsh":    `eval "$(</dev/fd/3)"`, // a sourced file has its own name for $0 there
	"python": `exec(compile(__import__("os").fdopen(3).read(),"<string>","exec"))`,
	"perl":   `eval do{local $/;open my $f,"<&=",3 or die $!;<$f>};die $@ if $@`,
	"ruby":   `eval(IO.for_fd(3).read,TOPLEVEL_BINDING,"-e",1)`,
	"node":   `require("vm").runInThisContext(require("fs").readFileSync(3,"utf8"))`,
}

const shellLoader = ". /dev/fd/3"

// HideSecretArg takes the text of a script off the command line if it holds a secret. It reports whether it is still there.
func HideSecretArg(secrets *secret.Set, p *process.Command) (seen bool) {
	last := len(p.Argv) - 1
	// Without a secret the script may be seen in the list of processes.
	if !secrets.Has(p.Argv[last]) {
		return false
	}
	name := strings.TrimRight(filepath.Base(p.Argv[0]), "0123456789.")
	loader, ok := loaders[name]
	// A secret in the words before the script cannot be moved away.
	if !ok || secrets.Has(strings.Join(p.Argv[:last], " ")) {
		return true
	}
	text := p.Argv[last]
	if loader == shellLoader || name == "zsh" {
		// The descriptor would be inherited by all that the script starts.
		text = "exec 3<&-;" + text // what the script starts has no use for it
	}
	p.Argv = append(slices.Clone(p.Argv[:last]), loader)
	p.Script = &text
	return false
}
