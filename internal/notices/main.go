package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

// run reads lines "module version directory-of-module directory-of-package" and writes the licences. The argument is the directory of Go,
// whose library is linked, too.
func run(args []string, in io.Reader, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("which Go? Call it as `make release-files` does")
	}
	modules, err := readModules(in)
	if err != nil {
		return err
	}
	modules["The library of Go"] = map[string]bool{args[0]: true}
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "moon is linked from the following modules, under these licences.\n")
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		dirs := slices.Sorted(maps.Keys(modules[name]))
		files, err := licences(dirs)
		if err != nil {
			return err
		}
		if len(files) == 0 {
			return fmt.Errorf("%s has no file with a licence in %s", name, strings.Join(dirs, ", "))
		}
		fmt.Fprintf(w, "\n%s\n%s\n", strings.Repeat("=", 72), name)
		for _, path := range files {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "%s\n\n%s\n", strings.Repeat("-", 72), strings.TrimSpace(string(text)))
		}
	}
	return w.Flush()
}

// readModules maps modules with their versions to the directories in which their licences may be: of each package, and those above it
// within the module.
func readModules(in io.Reader) (map[string]map[string]bool, error) {
	modules := map[string]map[string]bool{}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if lines.Text() == "" {
			continue // a package of the library, or of moon
		}
		words := strings.Fields(lines.Text())
		if len(words) != 4 {
			return nil, fmt.Errorf("%q is not a module, its version, its directory and that of a package", lines.Text())
		}
		name, root, dir := words[0]+" "+words[1], words[2], words[3]
		if modules[name] == nil {
			modules[name] = map[string]bool{}
		}
		for modules[name][root] = true; strings.HasPrefix(dir, root+string(filepath.Separator)); dir = filepath.Dir(dir) {
			modules[name][dir] = true
		}
	}
	if len(modules) == 0 && lines.Err() == nil {
		return nil, errors.New("no module came on standard input")
	}
	return modules, lines.Err()
}

// named is what files with licences, and with what a licence asks to be passed on, are called.
var named = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|copyright|unlicense|patents)([-._].*)?$`)

// licences are the files with licences in directories, but for sources that are named so.
func licences(dirs []string) (files []string, err error) {
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.Type() == fs.ModeDir || !named.MatchString(e.Name()) || slices.Contains([]string{".go", ".s"}, filepath.Ext(e.Name())) {
				continue
			}
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files, nil
}
