package install

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"moon/plan/playbook"
)

func (r *reader) roles(v playbook.Value, dir string) {
	r.each(v, "roles", func(v playbook.Value) {
		q, wrong := roleOfText(v.Text(), dir)
		r.add(q, v.Pos(), wrong)
	}, func(v playbook.Value) {
		if include, ok := v.Get("include"); ok && v.Len() == 1 {
			r.file(inDir(dir, include.Text()), include.Pos())
			return
		}
		if f, ok := r.fields(v, "src", "name", "version", "scm", "role"); ok {
			q, wrong := roleOf(f, dir)
			r.add(q, v.Pos(), wrong)
		}
	})
}

// roleOfText is what SOURCE[,VERSION[,NAME]] asks for.
func roleOfText(text, dir string) (Requirement, string) {
	parts := strings.Split(text, ",")
	if len(parts) > 3 {
		return Requirement{}, "a role in one text is SOURCE,VERSION,NAME"
	}
	f := map[string]string{}
	for i, key := range []string{"src", "version", "name"} {
		if i < len(parts) {
			f[key] = strings.TrimSpace(parts[i])
		}
	}
	return roleOf(f, dir)
}

// roleOf is what the fields of a role ask for, and what is wrong with them.
func roleOf(f map[string]string, dir string) (q Requirement, wrong string) {
	source := f["src"]
	if source == "" {
		source = f["role"]
	}
	if source == "" {
		source = f["name"]
	}
	if source == "" {
		return q, "a role needs a `src` or a `name`"
	}
	// With the site of most repositories the page of one is enough.
	page := strings.Contains(source, "github.com") && strings.HasPrefix(source, "http") && !strings.HasSuffix(source, ".tar.gz")
	q = Requirement{Kind: Role, Name: f["name"], Version: f["version"]}
	scm, rest, marked := strings.Cut(source, "+")
	switch {
	case marked && (scm == "hg" || scm == "svn"), f["scm"] != "" && f["scm"] != "git":
		return q, "roles are had from repositories of git, and of no other kind"
	case f["scm"] == "git" || marked && scm == "git" || page || originOf(source, dir) == FromGit:
		if marked && scm == "git" {
			source = rest
		}
		q.Origin = FromGit
		q.Source, q.Folder, q.Version = gitSource(source, q.Version, dir)
	case strings.HasPrefix(source, "file://"):
		q.Origin, q.Source = FromFile, strings.TrimPrefix(source, "file://")
	case originOf(source, dir) == FromURL:
		q.Origin, q.Source = FromURL, source
	case isFile(inDir(dir, source)):
		q.Origin, q.Source = FromFile, inDir(dir, source)
	case originOf(source, dir) == FromDir && strings.Contains(source, "/"):
		q.Origin, q.Source = FromDir, inDir(dir, source)
	case strings.Count(source, ".") == 1 && !strings.Contains(source, "/"):
		q.Origin, q.Source = FromServer, source
	default:
		return q, fmt.Sprintf("`%s` is not the name of a role on a server, which is OWNER.NAME, and no file, directory or URL", source)
	}
	if q.Name == "" || q.Name == source && q.Origin != FromServer {
		q.Name = roleNameOf(q.Source)
	}
	if q.Name != filepath.Base(q.Name) || strings.HasPrefix(q.Name, ".") {
		return q, fmt.Sprintf("`%s` cannot be the name of a role: it becomes that of a directory", q.Name)
	}
	return q, ""
}

// roleNameOf is how a role is called that is had from a source and has no name.
func roleNameOf(source string) string {
	name := path.Base(strings.TrimSuffix(source, "/"))
	for _, ending := range []string{".git", ".tar.gz", ".tgz"} {
		name = strings.TrimSuffix(name, ending)
	}
	if _, after, ok := strings.Cut(name, ":"); ok { // git@host:name
		name = after
	}
	return name
}
