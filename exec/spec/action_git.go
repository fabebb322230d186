package spec

import (
	"reflect"
	"strings"

	"moon/internal/pattern"
)

// GitArgs are the arguments of git.
type GitArgs struct {
	Repo             string   `arg:"repo,name" implied:"required unless state is absent" doc:"Where the repository is: a URL, user@host:path, or a path. A password in a URL is used, but neither stored nor shown."`
	Dest             string   `arg:"dest" kind:"path" implied:"required unless clone is false" doc:"The directory of the working copy."`
	State            string   `arg:"state" default:"present" enum:"present|absent" doc:"absent removes the working copy, unless something would be lost with it: files that were changed or added, ignored ones too, a stash, or commits that no remote branch or tag has and that version is not. The step fails then."`
	Version          string   `arg:"version" default:"HEAD" doc:"A branch, a tag, a commit or a full name like refs/pull/7/head. HEAD is the branch that the repository itself names."`
	Remote           string   `arg:"remote" default:"origin" doc:"What the working copy calls the repository."`
	Refspec          string   `arg:"refspec" doc:"What to fetch in addition to branches and tags."`
	Clone            bool     `arg:"clone" default:"true" doc:"Create the working copy if it does not exist."`
	Update           bool     `arg:"update" default:"true" doc:"Update an existing working copy to the version. Otherwise it is not changed."`
	Force            bool     `arg:"force" default:"false" doc:"Discard changes in files of the working copy. Without it they are an error."`
	Depth            *int     `arg:"depth" doc:"Fetch no more than this many commits of a branch or tag."`
	SingleBranch     bool     `arg:"single_branch" default:"false" doc:"Fetch the branch of version only."`
	Bare             bool     `arg:"bare" default:"false" doc:"Create a repository without a working copy, which follows all branches and tags."`
	Recursive        bool     `arg:"recursive" default:"true" doc:"Check out submodules too."`
	TrackSubmodules  bool     `arg:"track_submodules" default:"false" doc:"Check out submodules at the newest commit of the branch that .gitmodules names for them, or of their HEAD, and not at the commit of the repository."`
	SeparateGitDir   string   `arg:"separate_git_dir" kind:"path" doc:"Keep the repository itself in this directory, outside the working copy. That of an existing working copy is moved there."`
	VerifyCommit     bool     `arg:"verify_commit" default:"false" doc:"Require a good signature of the commit, or of the tag if version is one with a message. An existing working copy is not changed otherwise."`
	Signers          []string `arg:"gpg_allowlist,gpg_whitelist" doc:"With verify_commit, the fingerprints of the keys that may have signed: of a GPG key or its primary key, or SHA256:… of an SSH key. Without it every key that git trusts may."`
	Reference        string   `arg:"reference" kind:"path" doc:"A repository on this machine to copy objects from, if it has them."`
	KeyFile          string   `arg:"key_file" kind:"path" doc:"The private key for SSH."`
	SSHOpts          string   `arg:"ssh_opts" doc:"Options for ssh, as -o Port=2222."`
	AcceptHostkey    bool     `arg:"accept_hostkey" default:"false" doc:"Trust whatever key the host shows. An attacker in between is not detected."`
	AcceptNewHostkey bool     `arg:"accept_newhostkey" default:"false" doc:"Trust the key of an unknown host, and remember it."`
	Umask            Mode     `arg:"umask" implied:"moon's own" doc:"The umask for the files: 022."`
	Archive          string   `arg:"archive" kind:"path" doc:"Also pack the files of the version into this file; its name decides the format: .zip, .tar, .tar.gz or .tgz."`
	ArchivePrefix    string   `arg:"archive_prefix" doc:"Prefix of the paths in the archive."`
	Executable       string   `arg:"executable" implied:"git" doc:"The git program to use."`
}

var _ = declareAction(&Action{
	Name:    "git",
	Doc:     "Clones a repository and keeps the working copy at a version. It never asks for anything.",
	Check:   true,
	Diff:    true,
	Process: "*",
	args:    reflect.TypeFor[GitArgs](),
	Returns: []Return{
		{"before", "The commit that was checked out; null if there was no working copy."},
		{"after", "The commit that is checked out now."},
		{"git_dir_before", "Where the repository itself was, if it was moved."},
		{"git_dir_now", "Where it was moved to."},
		{"submodules_changed", "Whether submodules were checked out."},
		{"remote_url_changed", "Whether the working copy now names another repository."},
	},
	Least: "git: {repo: x, dest: /nowhere/x}",
	Example: `- git: {repo: "{{ origin }}", dest: /srv/app, version: v1.2}
- git: {repo: "{{ origin }}", dest: /srv/docs, version: main, depth: 1}
`,
})

// archiveNames matches what archives may be called. The format is git's.
var archiveNames = pattern.New(`\.(zip|tar|tar\.gz|tgz)$`)

// ArchiveFormat is what git calls the format of an archive with this name.
func ArchiveFormat(path string) string {
	return strings.TrimPrefix(archiveNames.FindString(path), ".")
}

func (a *GitArgs) validateArgs(given func(string) bool) []Problem {
	var problems []Problem
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	if a.Repo == "" && !given("repo") && a.State == "present" {
		add("repo", "`git` needs `repo`", "")
	}
	if a.Bare && a.State == "absent" {
		add("bare", "`state: absent` needs a working copy", "remove a bare repository with `file`")
	}
	if a.Dest == "" && (a.Clone || a.State == "absent") {
		add("dest", "`git` needs `dest`", "")
	}
	for _, f := range []struct{ field, text string }{
		{"repo", a.Repo},
		{"version", a.Version},
		{"remote", a.Remote},
		{"refspec", a.Refspec},
	} {
		// git would take it for an option, and some of them run a command.
		if strings.HasPrefix(f.text, "-") {
			add(f.field, "`"+f.field+"` cannot begin with -", "")
		}
		if strings.ContainsAny(f.text, "\n\x00") || given(f.field) && f.text == "" {
			add(f.field, "`"+f.field+"` must be one line of text", "")
		}
	}
	if a.Depth != nil && *a.Depth < 1 {
		add("depth", "`depth` must be 1 or more", "remove it to fetch everything")
	}
	if a.AcceptHostkey && a.AcceptNewHostkey {
		add("accept_hostkey", "`accept_hostkey` and `accept_newhostkey` exclude each other", "take `accept_newhostkey`")
	}
	if given("archive") && ArchiveFormat(a.Archive) == "" {
		add("archive", "`archive` must end in .zip, .tar, .tar.gz or .tgz", "")
	}
	if given("archive_prefix") && !given("archive") {
		add("archive_prefix", "`archive_prefix` needs `archive`", "")
	}
	if a.Bare && given("separate_git_dir") {
		add("separate_git_dir", "`separate_git_dir` and `bare` exclude each other", "a bare repository is where `dest` says")
	}
	if a.Bare && a.VerifyCommit {
		add("verify_commit", "`verify_commit` needs a working copy", "remove `bare`")
	}
	if a.Bare && given("archive") {
		add("archive", "`archive` needs a working copy", "remove `bare`")
	}
	return append(problems, checkUmask(a.Umask)...)
}

// credentials matches the beginning of a URL with something for logging in.
var credentials = pattern.New(`^([a-zA-Z][a-zA-Z0-9+.-]*://)([^/@]*)@`)

// ShownURL is a URL without what must not be seen: a password, or a user who may well be a token.
func ShownURL(url string) string {
	m := credentials.FindStringSubmatch(url)
	if m == nil || !strings.Contains(m[2], ":") && !strings.HasPrefix(m[1], "http") {
		return url
	}
	return m[1] + strings.TrimPrefix(url, m[0])
}
