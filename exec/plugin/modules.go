package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"moon/events"
	"moon/exec"
	"moon/exec/spec"
)

// internalArgs are what a module learns of its step as with Ansible: arguments that begin with _ansible_.
func (h *Host) internalArgs(c *exec.PluginCall, tmp string) map[string]any {
	args := maps.Clone(c.Args.Values)
	if args == nil {
		args = map[string]any{}
	}
	for name, v := range map[string]any{
		"check_mode": c.Check, "diff": c.Diff, "no_log": c.NoLog, "debug": false, "verbosity": 0, "version": c.Args.Plugin.Version,
		"module_name": c.Args.Plugin.Action, "syslog_facility": "LOG_USER", "socket": nil, "shell_executable": "/bin/sh",
		"selinux_special_fs":       []string{"fuse", "nfs", "vboxsf", "ramfs", "9p", "vfat"},
		"string_conversion_action": "warn", "keep_remote_files": false, "tmpdir": nil, "remote_tmp": "~/.ansible/tmp",
	} {
		args["_ansible_"+name] = v
	}
	if tmp != "" {
		args["_ansible_tmpdir"] = tmp
	}
	return args
}

// runFile has a module that takes its arguments in a file carry out the call.
func (h *Host) runFile(ctx context.Context, c *exec.PluginCall) exec.Result {
	g := c.Args.Plugin
	path, done, err := c.File()
	if err != nil {
		return c.Failed(ctx, err)
	}
	defer done()
	argv := exec.Argv(g, path)
	if python := pythonFor(c, path); python != nil {
		if missing := missingPython(c, python); missing != nil {
			return *missing
		}
		argv = append(python, argv[min(len(g.Program), 1):]...)
	} else if _, err := os.Stat(argv[0]); filepath.IsAbs(argv[0]) && err != nil {
		argv[0] = filepath.Base(argv[0]) // it was looked for on another machine
	}
	text, err := encodeLine(h.internalArgs(c, ""))
	if err != nil {
		return c.Failed(ctx, err)
	}
	h.logHeard("request", text)
	file, err := exec.Private("moon-args-*.json", string(spaceOut(text)))
	if err != nil {
		return c.Failed(ctx, err)
	}
	defer os.Remove(file) //nolint:errcheck // no other user can read it
	return h.answerOf(ctx, c, append(argv, file), "")
}

// spaceOut puts spaces behind the commas and colons of JSON, as Python does: modules in shell look for `"name": "`.
func spaceOut(text []byte) []byte {
	spaced := make([]byte, 0, len(text)+len(text)/8)
	inText := false
	for i, c := range text {
		spaced = append(spaced, c)
		switch {
		case c == '"':
			inText = !inText || isEscaped(text[:i])
		case !inText && (c == ',' || c == ':'):
			spaced = append(spaced, ' ')
		}
	}
	return spaced
}

// isEscaped reports whether what follows a text in JSON is escaped by its last character.
func isEscaped(before []byte) bool {
	return (len(before)-len(bytes.TrimRight(before, `\`)))%2 == 1
}

// runPython has a module in Python carry out the call: its pack, with the arguments on its standard input.
func (h *Host) runPython(ctx context.Context, c *exec.PluginCall) exec.Result {
	python, err := h.pythonOf(c)
	if err != nil {
		return c.Failed(ctx, err)
	}
	pack, err := h.packs.find(c)
	if err != nil {
		return c.Failed(ctx, err)
	}
	tmp, err := os.MkdirTemp("", "moon-module-") // 0700
	if err != nil {
		return c.Failed(ctx, err)
	}
	defer func() { _ = os.RemoveAll(tmp) }() // in a directory that is cleaned
	text, err := encodeLine(map[string]any{"ANSIBLE_MODULE_ARGS": h.internalArgs(c, tmp)})
	if err != nil {
		return c.Failed(ctx, err)
	}
	h.logHeard("request", text)
	return h.answerOf(ctx, c, append(python, pack), string(text))
}

// answerOf runs a module and reads what it answers.
func (h *Host) answerOf(ctx context.Context, c *exec.PluginCall, argv []string, stdin string) exec.Result {
	g := c.Args.Plugin
	out, said := &bounded{}, &bounded{}
	e := c.Command(ctx, argv, stdin, maxLine, out, said)
	h.logHeard("answer", out.text)
	switch {
	case out.over: // and was killed for it
		return failedResult("%s: it answered more than %d MB", namePlugin(g), maxLine>>20)
	case !e.Exited:
		return e.Result
	}
	a, err := moduleAnswer(out.text)
	switch {
	case err != nil && g.Speaks == spec.SpeaksPython:
		return crashed(c, e, argv[len(argv)-1], string(out.text), string(said.text))
	case err != nil && e.Outcome != events.OK:
		r := e.Result
		r.Error = fmt.Sprintf("%s: %s", namePlugin(g), e.Words)
		if len(out.text) > 0 {
			r.Error += ", and it " + err.Error()
		}
		return r
	case err != nil:
		return failedResult("%s %s", namePlugin(g), err)
	case e.Outcome != events.OK && a.Status != statusFailed:
		a.Status, a.Msg = statusFailed, strings.TrimSpace(e.Words+" "+a.Msg)
	}
	return a.toResult(c)
}

// crashed is the result of a module in Python that did not answer: an exception that no one has caught. Its fields are as Ansible has them.
func crashed(c *exec.PluginCall, e exec.Ended, pack, stdout, stderr string) exec.Result {
	g := c.Args.Plugin
	// The traceback names the files in the pack; its own is where it will be corrected.
	if g.Path != "" {
		stderr = strings.ReplaceAll(stderr, pack+"/"+strings.ReplaceAll(g.Module, ".", "/")+".py", g.Path)
	}
	last := strings.TrimSpace(stderr)
	last = last[strings.LastIndexByte(last, '\n')+1:]
	if last == "" {
		last = "it answered nothing that could be read"
	}
	r := failedResult("%s ended without an answer: %s", namePlugin(g), last)
	rc := 0
	if e.RC != nil {
		rc = *e.RC
	}
	r.Fields = map[string]any{
		"msg": "MODULE FAILURE\nSee stdout/stderr for the exact error", "module_stdout": stdout, "module_stderr": stderr, "rc": rc,
	}
	if strings.HasPrefix(stderr, "Traceback") {
		r.Fields["exception"] = stderr
	}
	return r
}

// discovered is the Python that was found on this machine.
type discovered struct {
	look sync.Once
	path string
}

// pythonOf is what runs a module in Python: the interpreter that the playbook has chosen, or the one of this machine.
func (h *Host) pythonOf(c *exec.PluginCall) ([]string, error) {
	if c.Details != nil && c.Details.Python != "" {
		words := strings.Fields(c.Details.Python)
		if _, err := exec.LookPath(words[0]); err != nil {
			return nil, errors.New(missingText(c, words[0]))
		}
		return words, nil
	}
	h.python.look.Do(func() {
		for _, name := range pythons {
			if path, err := exec.LookPath(name); err == nil {
				h.python.path = path
				return
			}
		}
	})
	if h.python.path == "" {
		return nil, fmt.Errorf("%s is written in Python, and there is none where the step runs; install python3 there, or name it in `ansible_python_interpreter`", namePlugin(c.Args.Plugin))
	}
	return []string{h.python.path}, nil
}

func missingText(c *exec.PluginCall, python string) string {
	return fmt.Sprintf("%s is to run with %s, which is not there; correct `ansible_python_interpreter`", namePlugin(c.Args.Plugin), python)
}

// missingPython is the result if the interpreter that the playbook has chosen is not there.
func missingPython(c *exec.PluginCall, python []string) *exec.Result {
	if _, err := exec.LookPath(python[0]); err == nil {
		return nil
	}
	r := failedResult("%s", missingText(c, python[0]))
	return &r
}

// pythonFor is the interpreter that the playbook has chosen for a module, with its options; nil if it has not, or if the module is
// in another language.
func pythonFor(c *exec.PluginCall, path string) []string {
	if c.Details == nil || c.Details.Python == "" {
		return nil
	}
	words := c.Args.Plugin.Program
	if len(words) == 0 {
		text, err := readHead(path)
		if err != nil {
			return nil
		}
		words = readInterpreter(text)
	}
	if len(words) == 0 || !strings.HasPrefix(filepath.Base(words[0]), "python") {
		return nil
	}
	return strings.Fields(c.Details.Python)
}
