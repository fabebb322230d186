package app

import (
	"os"
	"path/filepath"
	"strings"

	"moon/exec"
	"moon/exec/sshargs"
	"moon/plan"
	"moon/plan/source"
)

// Brought is a setting of a project's .moon.yaml. The file may have come with a clone, so what it names does not run unless it is trusted.
type Brought struct {
	Values []string
	Place  string     // FILE:LINE: NAME
	File   plan.Input // which is trusted, or not
	Shown  string     // its name in messages
}

// Settings asks whether the settings of a project count that need trust; what names them. A person is only asked if that is allowed.
func (t *Truster) Settings(shown, what string, file plan.Input, asks bool) bool {
	if t.always || t.store.Has(file.Path, file.Digest) {
		return true
	}
	if !asks || !t.ask("The project sets "+what+" in "+shown+", which moon ignores unless you trust the file.", []plan.Input{file}) {
		return false
	}
	return t.store.Add(file.Path, file.Digest) == nil
}

// vaultPrograms refuses programs that print passwords and that the project has named, unless they may run.
func (call *Invocation) vaultPrograms(files []string, trust bool) error {
	b, brought := call.Brought["vault_password_file"]
	if !brought {
		return nil
	}
	for _, path := range programsAmong(files) {
		t, err := call.Truster(trust)
		if err != nil {
			return err
		}
		if _, err := t.program(path, "a password", b.Place); err != nil {
			return Usage("%s names a program, %s, which came with the project: %s; or give it with --vault-password-file %s", b.Place, path, err, path)
		}
	}
	return nil
}

// programsAmong are the files of passwords that are programs.
func programsAmong(files []string) (programs []string) {
	for _, path := range files {
		if label, rest, ok := strings.Cut(path, "@"); ok && label != "" && filepath.IsAbs(rest) {
			path = rest
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			programs = append(programs, path)
		}
	}
	return programs
}

// BroughtFiles are what moon trust trusts of a project's settings: the files, and programs that print passwords.
func (call *Invocation) BroughtFiles() []plan.Input {
	files := call.ProjectFiles
	for _, path := range programsAmong(call.Brought["vault_password_file"].Values) {
		if digest, err := exec.FileDigest(path); err == nil {
			files = append(files, plan.Input{Path: path, Digest: digest})
		}
	}
	return files
}

// ProjectPaths are the files of settings that came with the project.
func (call *Invocation) ProjectPaths() (paths []string) {
	for _, f := range call.ProjectFiles {
		paths = append(paths, f.Path)
	}
	return paths
}

// Steers has the arguments of ssh that the project names reach no host before they are trusted, if ssh may start programs by them or lend a
// host the user's agent.
func (call *Invocation) Steers(o *plan.Options) {
	b, brought := call.Brought["ssh_common_args"]
	if !brought {
		return
	}
	text := strings.Join(b.Values, " ")
	option := sshargs.Steering(text)
	if option == "" {
		return
	}
	steersBy(o, option, b.Place, append([]string{b.File.Path}, sshargs.Files(text)...))
}

// steersBy puts into the options that no host is reached before these files are trusted, because of an option of ssh.
func steersBy(o *plan.Options, option, place string, files []string) {
	does := " (by which ssh may run programs)"
	if sshargs.Lends(option) {
		does = " (which lends it your agent)"
	}
	// What executes counts before what lends, as within one of them.
	if o.Login.Steers == "" || !sshargs.Lends(option) {
		o.Login.Steers = option + " in " + place + does
	}
	for _, file := range files {
		file = source.ResolvePath(file, o.Dir, o.Home)
		// ssh refuses to start without a file that it is to read, so until there is one there is nothing to trust.
		digest, _ := exec.FileDigest(file)
		o.Login.Steering = append(o.Login.Steering, plan.Input{Path: file, Digest: digest})
	}
}
