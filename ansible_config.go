package main

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"moon/events/output"
)

// ansibleSettings are what moon takes from an ansible.cfg. Everything else there is passed over.
type ansibleSettings struct {
	File      string   // it was read from; "": there is none
	Inventory []string // absolute paths, and lists of hosts
	RolesPath []string // absolute
}

// supplied is the name of the file, if it may have come with a playbook: the user has not named it. It is "" otherwise.
func (s ansibleSettings) supplied() string {
	if s.File == "" || os.Getenv("ANSIBLE_CONFIG") != "" {
		return ""
	}
	return output.CleanName(filepath.Base(s.File))
}

// ansibleConfig reads $ANSIBLE_CONFIG, which may be a directory with an ansible.cfg, or else the ansible.cfg of the directory. One in a
// directory that everybody may write to is passed over, as Ansible does: anybody could have put it there.
func ansibleConfig(dir string) (ansibleSettings, error) {
	var set ansibleSettings
	file := os.Getenv("ANSIBLE_CONFIG")
	named := file != ""
	if !named {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm()&0o002 != 0 {
			return set, nil //nolint:nilerr // who cannot look into the directory finds no file in it
		}
		file = filepath.Join(dir, "ansible.cfg")
	} else if info, err := os.Stat(file); err == nil && info.IsDir() {
		file = filepath.Join(file, "ansible.cfg")
	}
	file, err := filepath.Abs(file)
	if err != nil {
		return set, err
	}
	text, err := readFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named:
		return set, nil
	case err != nil:
		return set, usage("the settings of Ansible cannot be read: %s", err)
	case len(text) > maxPassword:
		return set, usage("the settings of Ansible cannot be read: %s is larger than %d KiB", file, maxPassword>>10)
	}
	values, err := iniDefaults(file, text)
	if err != nil {
		return set, err
	}
	set.File = file
	for path := range strings.SplitSeq(values["inventory"], ",") {
		if path = strings.TrimSpace(path); path != "" {
			set.Inventory = append(set.Inventory, settingPath(file, path))
		}
	}
	if strings.HasSuffix(strings.TrimSpace(values["inventory"]), ",") { // a list of hosts, as for -i
		set.Inventory = []string{values["inventory"]}
	}
	for path := range strings.SplitSeq(values["roles_path"], ":") {
		if path = strings.TrimSpace(path); path != "" {
			set.RolesPath = append(set.RolesPath, settingPath(file, path))
		}
	}
	return set, nil
}

// settingPath is a path in a file of settings: relative to the file, with ~ and {{CWD}}, and variables of the environment.
func settingPath(file, path string) string {
	if cwd, err := os.Getwd(); err == nil {
		path = strings.ReplaceAll(path, "{{CWD}}", cwd)
	}
	path = os.ExpandEnv(path)
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		if home, err := os.UserHomeDir(); err == nil {
			path = home + rest
		}
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(file), path)
	}
	return filepath.Clean(path)
}

// iniDefaults are the settings of the section [defaults]. Lines that are indented go on with the one before.
func iniDefaults(file string, text []byte) (map[string]string, error) {
	values := map[string]string{}
	section, key := "", ""
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		content := strings.TrimSpace(line)
		switch {
		case content == "" || content[0] == '#' || content[0] == ';':
			continue
		case content[0] == '[' && strings.HasSuffix(content, "]"):
			section, key = content[1:len(content)-1], ""
			continue
		case line[0] == ' ' || line[0] == '\t':
			if section == "defaults" && key != "" {
				values[key] += "\n" + content
			}
			continue
		}
		at := strings.IndexAny(content, "=:")
		if at < 0 {
			return nil, usage("%s:%d: a setting is name = value", file, n)
		}
		key = strings.ToLower(strings.TrimSpace(content[:at]))
		if section == "defaults" {
			value, _, _ := strings.Cut(content[at+1:], " ;") // # is no comment here
			values[key] = strings.TrimSpace(value)
		}
	}
	return values, lines.Err()
}
