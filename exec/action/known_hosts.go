package action

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" // as ssh hashes names
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fsys"
	"moon/exec/lines"
	"moon/exec/spec"
)

var _ = exec.Register("known_hosts", exec.Action{Plan: planKnownHosts})

func planKnownHosts(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.KnownHostsArgs)
	path := args.Path
	if path == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, err
		}
		path = filepath.Join(home, ".ssh", "known_hosts")
	}
	e := edit{path: path, create: true, gone: args.State == fsys.Absent}
	created := false
	c, err := planEdit(ctx, a, e, func(text string) (edited, says string) {
		edited, says, created = knownHosts(text, args)
		return edited, says
	})
	if err == nil {
		if created {
			undo := map[string]any{"name": args.Name, "key": args.Key, "path": c.Diff.Path, "state": fsys.Absent}
			c.AddPart(events.Resource{
				Type: "known_host", Name: c.Diff.Path + ": " + args.Name + " " + strings.Fields(args.Key)[0],
				Undo: exec.UndoBy("known_hosts", undo),
			})
		}
		c.Fields["name"], c.Fields["key"], c.Fields["hash_host"] = args.Name, args.Key, args.Hash
		// Ansible's module has the key with the name in front of it, as the line has.
		c.InPlays = append(c.InPlays, func(fields map[string]any) {
			fields["key"] = nil
			if args.Key != "" {
				fields["key"] = args.Name + " " + strings.TrimPrefix(args.Key, args.Name+" ")
			}
		})
	}
	return c, err
}

// knownHosts gives the host its key, in the place of another one of the same type.
func knownHosts(text string, args *spec.KnownHostsArgs) (edited, says string, created bool) {
	d := lines.Read(text)
	key := strings.Fields(args.Key)
	put, before := -1, len(d.Lines)
	for i := 0; i < len(d.Lines); i++ {
		words := strings.Fields(d.Line(i))
		// A line with @ in front revokes a key or names an authority, so it is not the key of a host.
		if len(words) < 3 || strings.HasPrefix(words[0], "#") || strings.HasPrefix(words[0], "@") || !meansHost(words[0], args.Name) {
			continue
		}
		same := len(key) > 1 && words[1] == key[0] && words[2] == key[1]
		switch {
		case args.State == fsys.Absent && (len(key) < 2 || same):
		case args.State != fsys.Absent && same:
			return text, "", false
		case args.State != fsys.Absent && words[1] == key[0]:
			put = i
		default:
			continue
		}
		// A line may be for several hosts, which keep it.
		if others := withoutHost(words[0], args.Name); others != "" {
			d.Put(i, i+1, strings.Join(append([]string{others}, words[1:]...), " "))
			continue
		}
		d.Put(i, i+1)
		i--
	}
	if args.State == fsys.Absent {
		return d.String(), "key removed", false
	}
	created = put < 0 && len(d.Lines) == before
	// Lines were removed since put was noted, so it may be beyond the end.
	if put < 0 || put > len(d.Lines) {
		put = len(d.Lines)
	}
	d.Put(put, put, strings.Join(append([]string{hostField(args)}, key...), " "))
	d.Open = false
	return d.String(), "key " + key[0], created
}

// meansHost reports whether the first field of a line means a host.
func meansHost(field, host string) bool {
	if hashed, ok := strings.CutPrefix(field, "|1|"); ok {
		salt, sum, _ := strings.Cut(hashed, "|")
		key, err := base64.StdEncoding.DecodeString(salt)
		return err == nil && sum == hashedHost(key, host)
	}
	return slices.Contains(strings.Split(field, ","), host)
}

// withoutHost is the field without a host; "" if no other is left.
func withoutHost(field, host string) string {
	if strings.HasPrefix(field, "|1|") {
		return ""
	}
	others := slices.DeleteFunc(strings.Split(field, ","), func(name string) bool { return name == host })
	return strings.Join(others, ",")
}

func hostField(args *spec.KnownHostsArgs) string {
	if !args.Hash {
		return args.Name
	}
	salt := make([]byte, sha1.Size)
	_, _ = rand.Read(salt) // it never fails
	return "|1|" + base64.StdEncoding.EncodeToString(salt) + "|" + hashedHost(salt, args.Name)
}

func hashedHost(salt []byte, host string) string {
	h := hmac.New(sha1.New, salt)
	h.Write([]byte(host))
	return base64.StdEncoding.EncodeToString(h.Sum(nil))
}
