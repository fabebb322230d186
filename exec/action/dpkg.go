package action

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"moon/exec"
)

// dpkgPackage is a package that dpkg knows: one that is installed, or has left its configuration.
type dpkgPackage struct {
	name, arch, version string
	status              string // as dpkg abbreviates it: what is wanted, and what is
	provides            []string
}

func (p *dpkgPackage) isInstalled() bool {
	return len(p.status) > 1 && strings.ContainsRune("itW", rune(p.status[1]))
}

// dpkgStatus is every package that dpkg knows, by name; the same may be there for several architectures, the machine's
// own first.
type dpkgStatus map[string][]*dpkgPackage

// dpkgPackages asks dpkg for all packages at once, which takes it no longer than one.
func dpkgPackages(ctx context.Context, a *exec.Attempt) (dpkgStatus, error) {
	const format = `${Package}\t${Architecture}\t${db:Status-Abbrev}\t${Version}\t${Provides}\n`
	said, err := a.AskTool(ctx, exec.NewTool("dpkg-query", "--show", "--showformat="+format))
	if err != nil {
		return nil, err
	}
	// dpkg-query fails if it has no package at all to show.
	if said.Code != 0 && said.Stdout == "" && !strings.Contains(said.Stderr, "no packages found") {
		return nil, packageError("dpkg-query", said, "")
	}
	return readDpkg(said.Stdout), nil
}

func readDpkg(text string) dpkgStatus {
	is := dpkgStatus{}
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 5 || strings.HasPrefix(f[2], "un") { // it is not known but for being mentioned
			continue
		}
		p := &dpkgPackage{name: f[0], arch: f[1], status: f[2], version: f[3]}
		for provided := range strings.SplitSeq(f[4], ",") {
			name, _, _ := strings.Cut(strings.TrimSpace(provided), " ")
			p.provides = append(p.provides, name)
		}
		is[p.name] = append(is[p.name], p)
	}
	return is
}

// findPackage returns a package, preferring what is installed.
func (is dpkgStatus) findPackage(n aptName) *dpkgPackage {
	var found *dpkgPackage
	for _, p := range is[n.name] {
		// A package for all architectures satisfies every one that is asked for.
		if n.arch == "" || n.arch == p.arch || p.arch == "all" {
			if p.isInstalled() {
				return p
			}
			found = p
		}
	}
	return found
}

// listProviders returns the installed packages that provide a name which is no package.
func (is dpkgStatus) listProviders(name string) []*dpkgPackage {
	var all []*dpkgPackage
	for _, list := range is {
		for _, p := range list {
			if p.isInstalled() && slices.Contains(p.provides, name) {
				all = append(all, p)
			}
		}
	}
	return all
}

// autoInstalled are the packages, with their architectures, that apt has installed for the sake of others.
func autoInstalled() map[string]bool {
	text, err := os.ReadFile("/var/lib/apt/extended_states")
	if err != nil {
		return nil // there are none
	}
	return readAutoInstalled(string(text))
}

func readAutoInstalled(text string) map[string]bool {
	auto := map[string]bool{}
	for block := range strings.SplitSeq(text, "\n\n") {
		fields := map[string]string{}
		for line := range strings.Lines(block) {
			name, value, _ := strings.Cut(line, ":")
			fields[name] = strings.TrimSpace(value)
		}
		if fields["Auto-Installed"] == "1" {
			auto[fields["Package"]+" "+fields["Architecture"]] = true
		}
	}
	return auto
}

// policyFile is asked, by its path, whether a package may start a service.
const (
	policyFile = "/usr/sbin/policy-rc.d"
	policyKept = "/usr/sbin/policy-rc.d.moon-kept"
	policyMark = "# made by moon for the time of one step\n"
)

// tellServices has packages given a status when they want to start a service, until it is restored. What a moon that was
// killed has left is not taken for the machine's own.
func tellServices(status int) (restore func() error, err error) {
	old, err := os.ReadFile(policyFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	// A moon that is killed after this leaves its own file in the place. The mark keeps the next one from saving that as the machine's.
	case !strings.Contains(string(old), policyMark):
		if err := os.Rename(policyFile, policyKept); err != nil {
			return nil, err
		}
	}
	restore = func() error {
		// Without a file that was put aside there was none before, and only moon's is to go.
		if err := os.Rename(policyKept, policyFile); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return os.Remove(policyFile)
	}
	text := fmt.Sprintf("#!/bin/sh\n%sexit %d\n", policyMark, status)
	if err := os.WriteFile(policyFile, []byte(text), 0o755); err != nil { // it is a program for everybody
		return nil, errors.Join(err, restore())
	}
	return restore, nil
}
