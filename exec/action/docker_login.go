package action

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = exec.Register("docker_login", exec.Action{Plan: planDockerLogin})

// dockerLogin is a step of docker_login.
type dockerLogin struct {
	docker
	args *spec.DockerLoginArgs
	path string // of the client's file
}

func planDockerLogin(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.DockerLoginArgs)
	d, err := openDocker(a, &args.DockerClient)
	if err != nil {
		return nil, err
	}
	l := dockerLogin{d, args, args.ConfigPath}
	if l.path == "" {
		if l.path = a.Getenv("DOCKER_CONFIG"); l.path == "" {
			l.path = filepath.Join(a.Getenv("HOME"), ".docker")
		}
		l.path = filepath.Join(l.path, "config.json")
	}
	c := &exec.Change{Fields: map[string]any{}}
	c.PlanNothing()
	user, password, found, err := l.kept(ctx)
	if err != nil {
		return nil, err
	}
	result := map[string]any{"serveraddress": args.Registry, "username": args.Username}
	if args.State == fsys.Absent {
		if found {
			c.PlanFor(events.ChangeDelete, "docker_login", args.Registry, func(ctx context.Context) error {
				_, err := l.run(ctx, "logout", args.Registry)
				return err
			}, "log out")
		}
		return c, nil
	}
	// What was kept of an earlier login is believed: whether it still holds only the registry knows.
	c.Fields["login_result"] = result
	if found && user == args.Username && password == args.Password && !args.Reauthorize {
		return c, nil
	}
	login := func(ctx context.Context) error {
		t := l.tool("login", "--username="+args.Username, "--password-stdin", args.Registry)
		t.Stdin = &args.Password
		_, err := l.runTool(ctx, t)
		return err
	}
	if found {
		c.PlanFor(events.ChangeUpdate, "docker_login", args.Registry, login, "log in again")
		return c, nil
	}
	undo := map[string]any{"registry_url": args.Registry, "state": fsys.Absent}
	if args.ConfigPath != "" {
		undo["config_path"] = args.ConfigPath
	}
	c.PlanCreation("docker_login", args.Registry, l.UndoWithTools("docker_login", undo), login, "log in")
	return c, nil
}

// tool is a call of the client with its file.
func (l dockerLogin) tool(words ...string) exec.Tool {
	t := l.docker.tool(words...)
	if l.args.ConfigPath != "" {
		t.Argv = append([]string{"docker", "--config", filepath.Dir(l.path)}, t.Argv[1:]...)
	}
	return t
}

func (l dockerLogin) run(ctx context.Context, words ...string) (exec.Answer, error) {
	return l.runTool(ctx, l.tool(words...))
}

// kept is what the client has kept of an earlier login: in its file, or in a store that the file names.
func (l dockerLogin) kept(ctx context.Context) (user, password string, found bool, err error) {
	f, err := fsys.OpenRegular(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", "", false, nil
	}
	if err != nil {
		return "", "", false, err
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, 16<<20))
	if err != nil {
		return "", "", false, err
	}
	config, ok := decodeJSON(text)
	if !ok && strings.TrimSpace(string(text)) != "" {
		return "", "", false, fault.CommandError{Message: l.path + " is not JSON", Class: fault.Fatal}
	}
	for _, name := range registryNames(l.args.Registry) {
		store := digText(config, "credHelpers", name)
		if store == "" {
			store = digText(config, "credsStore")
		}
		if store != "" {
			if user, password, found, err = l.stored(ctx, store, name); found || err != nil {
				return user, password, found, err
			}
			continue
		}
		entry := digMap(config, "auths", name)
		if entry == nil {
			continue
		}
		plain, err := base64.StdEncoding.DecodeString(digText(entry, "auth"))
		if user, password, _ = strings.Cut(string(plain), ":"); err == nil && user != "" {
			return user, strings.TrimRight(password, "\x00"), true, nil
		}
	}
	return "", "", false, nil
}

// stored asks a store of credentials.
func (l dockerLogin) stored(ctx context.Context, store, name string) (user, password string, found bool, err error) {
	program := "docker-credential-" + store
	if err := lacksTool(l.Attempt, program, "the store of credentials that "+l.path+" names"); err != nil {
		return "", "", false, err
	}
	said, err := l.AskTool(ctx, exec.Tool{Argv: []string{program, "get"}, Stdin: &name})
	if err != nil || said.Code != 0 {
		return "", "", false, err
	}
	is, _ := decodeJSON([]byte(said.Stdout))
	return digText(is, "Username"), digText(is, "Secret"), digText(is, "Username") != "", nil
}

// registryNames are the names under which clients keep a login: the given address, and its host.
func registryNames(registry string) []string {
	host := strings.TrimPrefix(strings.TrimPrefix(registry, "https://"), "http://")
	host, _, _ = strings.Cut(host, "/")
	if host == "index.docker.io" || host == "docker.io" || host == "" {
		return []string{registry, "https://index.docker.io/v1/"}
	}
	return []string{registry, host}
}
