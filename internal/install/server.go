package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Server is a server of collections and roles, which speaks as Ansible Galaxy does.
type Server struct {
	Name     string // of the settings; "" for one that only has a URL
	URL      string
	Token    string
	AuthURL  string // where the token is exchanged for one that lasts minutes; "": it is sent as it is
	User     string
	Password string

	once   sync.Once
	api    string // the base of its calls
	failed error
	header string // Authorization
	asked  map[string]json.RawMessage
}

// Usual is the server that is asked if none is named.
const Usual = "https://galaxy.ansible.com/"

// Bounds of what a server may send.
const (
	answerLimit  = 32 << 20
	archiveLimit = 2 << 30
)

// errAbsent says that a server does not have what it was asked for.
var errAbsent = errors.New("not there")

var client = &http.Client{Timeout: 10 * time.Minute}

// get asks for a document. The address may be relative to the server.
func (s *Server) get(ctx context.Context, address string, into any) error {
	body, ok := s.asked[address]
	if !ok {
		var err error
		if body, err = s.fetch(ctx, http.MethodGet, address, nil); err != nil {
			return err
		}
		if s.asked == nil {
			s.asked = map[string]json.RawMessage{}
		}
		s.asked[address] = body
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%s does not answer as a server of collections does: %w", address, err)
	}
	return nil
}

func (s *Server) fetch(ctx context.Context, method, address string, form url.Values) ([]byte, error) {
	resp, err := s.open(ctx, method, address, form)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, answerLimit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", address, err)
	case len(body) > answerLimit:
		return nil, fmt.Errorf("%s answers with more than %d MiB", address, answerLimit>>20)
	}
	return body, nil
}

// open begins a request. The caller closes the body.
func (s *Server) open(ctx context.Context, method, address string, form url.Values) (*http.Response, error) {
	var sent io.Reader
	if form != nil {
		sent = strings.NewReader(form.Encode())
	}
	req, err := http.NewRequestWithContext(ctx, method, address, sent)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json, */*;q=0.1")
	req.Header.Set("User-Agent", "moon")
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	// What a server says its files are at may be another machine, which must not get the password.
	if s.header != "" && sameHost(address, s.URL) {
		req.Header.Set("Authorization", s.header)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err // it names method and address
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	_ = resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusNotFound:
		return nil, fmt.Errorf("%s: %w", address, errAbsent)
	case http.StatusUnauthorized, http.StatusForbidden:
		return nil, fmt.Errorf("%s answers %s: the token or the password of this server is missing or wrong", address, resp.Status)
	}
	return nil, fmt.Errorf("%s answers %s", address, resp.Status)
}

func sameHost(a, b string) bool {
	ua, errA := url.Parse(a)
	ub, errB := url.Parse(b)
	return errA == nil && errB == nil && ua.Host == ub.Host && ua.Scheme == ub.Scheme
}

// begin finds out how the server is to be asked, once.
func (s *Server) begin(ctx context.Context) error {
	s.once.Do(func() { s.failed = s.logIn(ctx) })
	return s.failed
}

func (s *Server) logIn(ctx context.Context) error {
	switch {
	case s.Token != "" && s.AuthURL != "":
		form := url.Values{"grant_type": {"refresh_token"}, "client_id": {"cloud-services"}, "refresh_token": {s.Token}}
		body, err := s.fetch(ctx, http.MethodPost, s.AuthURL, form)
		if err != nil {
			return err
		}
		var answer struct {
			Token string `json:"access_token"`
		}
		if json.Unmarshal(body, &answer) != nil || answer.Token == "" {
			return fmt.Errorf("%s gives no token", s.AuthURL)
		}
		s.header = "Bearer " + answer.Token
	case s.Token != "":
		s.header = "Token " + s.Token
	case s.User != "":
		req := http.Request{Header: http.Header{}}
		req.SetBasicAuth(s.User, s.Password)
		s.header = req.Header.Get("Authorization")
	}
	base := strings.TrimSuffix(s.URL, "/") + "/"
	var failed error
	for _, api := range []string{base, base + "api/"} {
		var answer struct {
			Versions map[string]string `json:"available_versions"`
		}
		err := s.get(ctx, api, &answer)
		if err == nil && len(answer.Versions) > 0 {
			s.api = api
			return nil
		}
		// The page of the site for people is an answer, too, and says no more than that.
		if failed == nil || err != nil && !errors.Is(err, errAbsent) {
			failed = err
		}
	}
	if failed == nil || errors.Is(failed, errAbsent) {
		return fmt.Errorf("%s is not a server of collections and roles", s.URL)
	}
	return failed
}

// pages gets all pages of a list.
func pages[T any](ctx context.Context, s *Server, address string) (all []T, err error) {
	for range 1000 {
		var page struct {
			Data    []T
			Results []T
			Next    string `json:"next_link"`
			Links   struct{ Next string }
		}
		if err := s.get(ctx, address, &page); err != nil {
			return nil, err
		}
		all = append(append(all, page.Data...), page.Results...)
		next := page.Links.Next
		if next == "" {
			next = page.Next
		}
		if next == "" {
			return all, nil
		}
		if address, err = resolveURL(address, next); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s has no end", address)
}

func resolveURL(base, ref string) (string, error) {
	b, err := url.Parse(base)
	if err != nil {
		return "", err
	}
	r, err := b.Parse(ref)
	if err != nil {
		return "", err
	}
	return r.String(), nil
}

// collectionVersions are the versions of a collection.
func (s *Server) collectionVersions(ctx context.Context, name string) ([]string, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	list, err := pages[struct{ Version string }](ctx, s, s.collectionURL(name)+"?limit=100")
	var all []string
	for _, v := range list {
		if semantic(v.Version) != "" {
			all = append(all, v.Version)
		}
	}
	return all, err
}

func (s *Server) collectionURL(name string) string {
	return s.api + "v3/collections/" + strings.Replace(name, ".", "/", 1) + "/versions/"
}

// archived is where a server has an archive, and what it says of it.
type archived struct {
	url    string
	sha256 string
	needs  map[string]string // collections by their names, with ranges of versions
}

// collection is a version of a collection.
func (s *Server) collection(ctx context.Context, name, version string) (archived, error) {
	var answer struct {
		Download string `json:"download_url"`
		Artifact struct{ SHA256 string }
		Metadata struct{ Dependencies map[string]string }
	}
	address := s.collectionURL(name) + url.PathEscape(version) + "/"
	if err := s.get(ctx, address, &answer); err != nil {
		return archived{}, err
	}
	download, err := resolveURL(address, answer.Download)
	if answer.Download == "" || err != nil {
		return archived{}, fmt.Errorf("%s does not say where the archive is", address)
	}
	return archived{download, answer.Artifact.SHA256, answer.Metadata.Dependencies}, nil
}

// roleVersion is a version of a role. Where the server has none, it is the branch.
type roleVersion struct {
	Name     string
	Download string `json:"download_url"`
	Source   string
}

// role finds the versions of a role, where the archive of one is that the server says nothing of, and the branch of one without a version.
func (s *Server) role(ctx context.Context, name string) (
	versions []roleVersion, archive func(version string) string, branch string, err error,
) {
	if err := s.begin(ctx); err != nil {
		return nil, nil, "", err
	}
	owner, role, _ := strings.Cut(name, ".")
	address := s.api + "v1/roles/?" + url.Values{"owner__username": {owner}, "name": {role}}.Encode()
	found, err := pages[struct {
		ID     json.Number
		User   string `json:"github_user"`
		Repo   string `json:"github_repo"`
		Branch string `json:"github_branch"`
	}](ctx, s, address)
	switch {
	case err != nil:
		return nil, nil, "", err
	case len(found) == 0:
		return nil, nil, "", fmt.Errorf("%s: %w", address, errAbsent)
	}
	r := found[0]
	versions, err = pages[roleVersion](ctx, s, s.api+"v1/roles/"+r.ID.String()+"/versions/?page_size=50")
	branch = r.Branch
	if branch == "" {
		branch = "master"
	}
	return versions, func(version string) string {
		return fmt.Sprintf("https://github.com/%s/%s/archive/%s.tar.gz", url.PathEscape(r.User), url.PathEscape(r.Repo), version)
	}, branch, err
}
