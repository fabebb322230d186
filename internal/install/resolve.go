package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// resolver chooses a release for each requirement, and for what those need. Where two want versions that do not go together, it goes back
// to the choice before and takes an older one.
type resolver struct {
	*Installer
	chosen   map[string]*Release
	order    []*Release
	conflict string // the last reason to go back
	tries    int
	warnings []string
}

// triesLimit is how many releases are tried before the requirements are said to be too much.
const triesLimit = 20_000

// resolve are releases for the requirements, with what they need, in the order in which they came up.
func (i *Installer) resolve(ctx context.Context, all []*Requirement) (*resolver, error) {
	r := &resolver{Installer: i, chosen: map[string]*Release{}}
	// What is had from one place has no versions to choose from, and a name that is known only then: it comes first.
	queue := slices.Clone(all)
	slices.SortStableFunc(queue, func(a, b *Requirement) int { return fixedFirst(a) - fixedFirst(b) })
	ok, err := r.solve(ctx, queue)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errors.New(r.conflict)
	}
	return r, nil
}

func fixedFirst(q *Requirement) int {
	if q.Origin == FromServer {
		return 1
	}
	return 0
}

func keyOf(kind Kind, name string) string { return string(kind) + " " + name }

// solve reports whether the requirements can be met together with what has been chosen.
func (r *resolver) solve(ctx context.Context, queue []*Requirement) (bool, error) {
	if len(queue) == 0 {
		return true, nil
	}
	q, rest := queue[0], queue[1:]
	if had, ok := r.chosen[keyOf(q.Kind, q.Name)]; ok {
		if wrong := r.goesWith(q, had); wrong != "" {
			r.conflict = wrong
			return false, nil
		}
		return r.solve(ctx, rest)
	}
	list, err := r.candidates(ctx, q)
	if err != nil {
		return false, fmt.Errorf("%s: %s: %w", q.For, q.what(), err)
	}
	for _, c := range list {
		if r.tries++; r.tries > triesLimit {
			return false, fmt.Errorf("no versions that go together were found in %d tries; the last reason: %s", triesLimit, r.conflict)
		}
		if err := r.learn(ctx, c); err != nil {
			return false, err
		}
		key := keyOf(c.Kind, c.Name)
		if had, ok := r.chosen[key]; ok { // its name was not known before
			return false, fmt.Errorf("%s: %s is wanted twice: from %s and from %s", q.For, had, had.Source, c.Source)
		}
		c.wanted = q
		r.chosen[key], r.order = c, append(r.order, c)
		next := slices.Clone(rest)
		if !r.Alone {
			next = append(next, c.Needs...)
		}
		ok, err := r.solve(ctx, next)
		if ok || err != nil {
			return ok, err
		}
		delete(r.chosen, key)
		r.order = r.order[:len(r.order)-1]
	}
	return false, nil
}

// goesWith says why a release does not do for a requirement; "" if it does.
func (r *resolver) goesWith(q *Requirement, had *Release) string {
	switch {
	case q.Kind == Role:
		// Roles have no ranges, and the playbook finds one of a name. The first that was asked for is the one.
		if !q.anyVersion() && q.Version != had.Version && q.Version != had.Wanted || q.Origin != had.Origin {
			warning := fmt.Sprintf("%s needs %s %s; %s stays, which %s wants", q.For, q.what(), q.Version, had, had.wanted.For)
			if !slices.Contains(r.warnings, warning) {
				r.warnings = append(r.warnings, warning)
			}
		}
		return ""
	case q.Origin != FromServer && (q.Origin != had.Origin || q.Source != had.Source):
		return fmt.Sprintf("%s wants %s from %s, and %s from %s", q.For, q.what(), q.Source, had.wanted.For, had.Source)
	case q.Origin == FromServer && !admits(q.Version, had.Version):
		return fmt.Sprintf("no version of %s is right for all: %s wants %s, and %s wants %s", q.Name, q.For, versionWords(q.Version), had.wanted.For,
			versionWords(had.wanted.Version))
	}
	return ""
}

func versionWords(wanted string) string {
	if wanted == "" || wanted == "*" {
		return "any"
	}
	return wanted
}

// candidates are the releases that would do for a requirement, the best first.
func (r *resolver) candidates(ctx context.Context, q *Requirement) ([]*Release, error) {
	if q.Origin == FromServer && q.Kind == Collection {
		if wrong := rangeProblem(q.Version); wrong != "" {
			return nil, errors.New(wrong)
		}
	}
	var list []*Release
	if e := r.Lock.find(q); e != nil && !r.Upgrade {
		list = append(list, r.Lock.release(e))
	}
	switch {
	case r.Locked && len(list) == 0:
		return nil, fmt.Errorf("%s does not have it; run moon install without --locked, and keep the file that it writes", r.Lock.Path)
	case r.Locked:
		return list, nil
	case q.Origin != FromServer:
		if len(list) == 0 {
			list = append(list, &Release{
				Kind: q.Kind, Name: q.Name, Origin: q.Origin, Source: q.Source, Folder: q.Folder, Wanted: q.Version,
				Version: fixedVersion(q),
			})
		}
		return list, nil
	case len(list) > 0 && q.Kind == Role:
		return list, nil
	}
	more, err := r.onServers(ctx, q)
	if err != nil && len(list) > 0 {
		return list, nil // nothing but going back needs the others
	}
	return append(list, more...), err
}

// fixedVersion is the version that a role of a repository or an archive is given.
func fixedVersion(q *Requirement) string {
	if q.Kind == Role && !q.anyVersion() {
		return q.Version
	}
	return ""
}

// onServers are the releases of the first server that has any.
func (r *resolver) onServers(ctx context.Context, q *Requirement) ([]*Release, error) {
	servers := r.Servers
	if q.Server != "" {
		servers = []*Server{r.serverAt(q.Server)}
		if servers[0] == nil {
			servers[0] = &Server{URL: q.Server}
			r.Servers = append(r.Servers, servers[0])
		}
	}
	var asked []string
	for _, s := range servers {
		versions, err := r.versions(ctx, s, q)
		if errors.Is(err, errAbsent) {
			asked = append(asked, s.URL)
			continue
		}
		if err != nil {
			return nil, err
		}
		var list []*Release
		for _, v := range versions {
			rel := &Release{Kind: q.Kind, Name: q.Name, Version: v, Origin: FromServer, Source: s.URL, server: s}
			if q.Kind == Role {
				rel.Wanted = q.Source
			}
			list = append(list, rel)
		}
		if len(list) > 0 {
			return list, nil
		}
		asked = append(asked, fmt.Sprintf("%s has %s and no %s", s.URL, r.offered(ctx, s, q), versionWords(q.Version)))
	}
	return nil, fmt.Errorf("no server has it: %s", strings.Join(asked, ", "))
}

// versions are those of a server that would do, the best first.
func (r *resolver) versions(ctx context.Context, s *Server, q *Requirement) (fit []string, err error) {
	if q.Kind == Role {
		list, _, branch, err := s.role(ctx, q.Source)
		if err != nil {
			return nil, err
		}
		var all []string
		for _, v := range list {
			all = append(all, v.Name)
		}
		newestFirst(all)
		switch {
		case !q.anyVersion(): // it may be a branch, too
			return []string{q.Version}, nil
		case len(all) == 0:
			return []string{branch}, nil
		}
		return all[:1], nil
	}
	all, err := s.collectionVersions(ctx, q.Name)
	if err != nil {
		return nil, err
	}
	newestFirst(all)
	for _, v := range all {
		if admits(q.Version, v) && (r.Pre || !isPrerelease(v) || names(q.Version, v)) {
			fit = append(fit, v)
		}
	}
	// What is there stays there until the user asks for a newer one.
	if at := slices.Index(fit, r.installedVersion(q.Name)); at > 0 && !r.Upgrade {
		here := fit[at]
		fit = append([]string{here}, slices.Delete(fit, at, at+1)...)
	}
	return fit, nil
}

// offered says which versions a server has.
func (r *resolver) offered(ctx context.Context, s *Server, q *Requirement) string {
	all, err := s.collectionVersions(ctx, q.Name)
	if err != nil || len(all) == 0 {
		return "no version"
	}
	newestFirst(all)
	if most := 5; len(all) > most {
		return fmt.Sprintf("%s and %d older ones", strings.Join(all[:most], ", "), len(all)-most)
	}
	return strings.Join(all, ", ")
}

// learn finds out what a release needs, and its name. A server of collections says so without the archive.
func (r *resolver) learn(ctx context.Context, c *Release) error {
	if c.Digest != "" || c.tree != "" {
		return nil // the lock file says it
	}
	if c.Kind == Collection && c.Origin == FromServer {
		if err := c.server.begin(ctx); err != nil {
			return err
		}
		a, err := c.server.collection(ctx, c.Name, c.Version)
		if err == nil {
			c.Needs, err = collectionNeeds(a.needs, c.String())
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
		return nil
	}
	return r.fetch(ctx, c)
}
