package spec

import (
	"reflect"
	"strings"
)

// ScriptArgs are the arguments of script. Once decoded, Script is the file and Rest what follows it, for a shell.
type ScriptArgs struct {
	Cmd        string `arg:"cmd,_raw_params" kind:"script" need:"yes" doc:"The script and its arguments, as a shell reads them."`
	Executable string `arg:"executable" implied:"what its first line names" doc:"The program that runs the script, with options if needed: python3 -u."`
	WithinArgs

	Script string
	Rest   string
}

var _ = declareAction(&Action{
	Name:    "script",
	Doc:     "Runs a script from the directory of the playbook, from a temporary copy. Its result counts as a change unless changed_when says otherwise.",
	Free:    "cmd",
	Command: true,
	Process: "*",
	Changes: true,
	args:    reflect.TypeFor[ScriptArgs](),
	Returns: processReturns,
	Least:   "script: /nowhere/x",
	Example: `- script: setup.sh --prefix /srv "$HOME"
- script:
    cmd: report.py 2026
    executable: python3
    creates: /srv/report.txt
`,
})

func (a *ScriptArgs) validateArgs(func(string) bool) []Problem {
	script, rest, ok := cutScript(a.Cmd)
	if !ok {
		return []Problem{{"cmd", "`cmd` has a quote that is not closed", ""}}
	}
	if script == "" {
		return []Problem{{"cmd", "`script` has nothing to run", "give the path of a script"}}
	}
	a.Script, a.Rest = script, rest
	if a.Executable != "" {
		if _, err := Words(a.Executable); err != nil {
			return []Problem{{"executable", "`executable` " + err.Error(), ""}}
		}
	}
	return nil
}

// cutScript splits a line behind its first word, which may be quoted.
func cutScript(line string) (script, rest string, ok bool) {
	line = strings.TrimSpace(line)
	for i := 1; i <= len(line); i++ {
		// Only a blank can end the word, so all else is skipped.
		if i < len(line) && !strings.ContainsRune(" \t\n", rune(line[i])) {
			continue
		}
		// A word whose quote is not closed yet fails, and the next blank is tried.
		if words, err := Words(line[:i]); err == nil && !strings.HasSuffix(line[:i], `\`) {
			return strings.Join(words, ""), strings.TrimSpace(line[i:]), true
		}
	}
	return "", "", line == ""
}

// ResolveScript puts another path in the place of the first word of a line. The rest stays as it is.
func ResolveScript(line string, resolve func(string) string) string {
	script, rest, ok := cutScript(line)
	if !ok || script == "" {
		return line // refused when it is decoded
	}
	path := resolve(script)
	// The path takes the place of a word that was quoted, so it may need quotes.
	if strings.ContainsAny(path, " \t\n'\"\\") {
		path = "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return strings.TrimSpace(path + " " + rest)
}
