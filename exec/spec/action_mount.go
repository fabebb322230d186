package spec

import (
	"reflect"
	"slices"
	"strings"
)

// MountArgs are the arguments of mount. Once decoded, Opts has a value, and noauto if the file system should not be mounted at boot.
type MountArgs struct {
	Path   string `arg:"path,name" need:"yes" doc:"Where the file system is mounted, or none for swap space."`
	Src    string `arg:"src" doc:"What is mounted: a device, UUID=…, a directory for a bind mount, host:/directory, tmpfs and others."`
	FSType string `arg:"fstype" doc:"The type of the file system."`
	Opts   string `arg:"opts" implied:"defaults" doc:"The options, with commas."`
	Dump   string `arg:"dump" default:"0" doc:"The fifth field of fstab."`
	Passno string `arg:"passno" default:"0" doc:"The sixth field of fstab: when the file system is checked at boot."`
	State  string `arg:"state" need:"yes" enum:"present|mounted|unmounted|remounted|ephemeral|absent|absent_from_fstab" doc:"present: only in fstab. mounted: in fstab and mounted; a new entry for what is mounted mounts it again. unmounted: fstab unchanged. remounted: mounted again, every time. ephemeral: mounted, and not in fstab; mounted again if it is already. absent: neither in fstab nor mounted, and the directory is removed. absent_from_fstab: only removed from fstab."`
	Fstab  string `arg:"fstab" kind:"path" default:"/etc/fstab" doc:"The file to use instead of /etc/fstab. Not for ephemeral."`
	Boot   bool   `arg:"boot" default:"true" doc:"Mount it at boot. false adds noauto to the options; it does nothing if they have noauto or defaults."`
	Backup bool   `arg:"backup" default:"false" doc:"Keep a backup of the replaced fstab in the same directory, with the time in its name."`
}

var _ = declareAction(&Action{
	Name:    "mount",
	Aliases: []string{"ansible.posix.mount"},
	Doc:     "Mounts file systems, and puts them into /etc/fstab.",
	Process: "*",
	Check:   true,
	Diff:    true,
	args:    reflect.TypeFor[MountArgs](),
	Returns: []Return{
		{"name", "The path."},
		{"src", "What is mounted."},
		{"fstype", "The type of the file system."},
		{"opts", "The options."},
		{"dump", "The fifth field of fstab."},
		{"passno", "The sixth field of fstab."},
		{"fstab", "The file."},
		{"boot", "yes if it is mounted at boot, otherwise no."},
		{"backup_file", "Where the old fstab was kept, with backup; empty if nowhere."},
	},
	Least: "mount: {path: /nowhere, state: unmounted}",
	Example: `- mount: {path: /srv/cache, src: tmpfs, fstype: tmpfs, opts: "size=1m,mode=0750", state: mounted}
- mount: {path: /srv/data, src: UUID=0b5e1d2c-7c0e-4a53-9d5e-0c1f6a1d2b3c, fstype: ext4, opts: "noatime,nofail", passno: 2, state: present}
- mount: {path: /mnt/old, state: absent}
`,
})

func (a *MountArgs) validateArgs(given func(string) bool) []Problem {
	var problems []Problem
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	swap := a.Path == "none" && slices.Contains([]string{"present", "absent", "absent_from_fstab"}, a.State)
	if !strings.HasPrefix(a.Path, "/") && !swap {
		add("path", "`path` must begin with /, found "+nameValue(a.Path), "swap space has `path: none`, with `state: present`, `absent` or `absent_from_fstab`")
	}
	if a.State == "present" || a.State == "mounted" || a.State == "ephemeral" {
		for _, field := range []string{"src", "fstype"} {
			if !given(field) {
				add(field, "`state: "+a.State+"` needs `"+field+"`", "")
			}
		}
	}
	// A field that has a line of its own would be another entry.
	for _, field := range []struct{ name, text string }{
		{"path", a.Path}, {"src", a.Src}, {"fstype", a.FSType}, {"opts", a.Opts}, {"dump", a.Dump}, {"passno", a.Passno},
	} {
		switch {
		case strings.ContainsAny(field.text, "\r\n\t"):
			add(field.name, "`"+field.name+"` has a tab or a line break", "")
		case strings.HasPrefix(field.text, "-"):
			add(field.name, "`"+field.name+"` cannot begin with a hyphen", "")
		}
	}
	if a.Opts == "" {
		a.Opts = "defaults"
	}
	opts := strings.Split(a.Opts, ",")
	if !a.Boot && !slices.Contains(opts, "noauto") && !slices.Contains(opts, "defaults") {
		a.Opts += ",noauto"
	}
	return problems
}
