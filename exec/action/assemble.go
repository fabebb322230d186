package action

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = exec.Register("assemble", exec.Action{Plan: planAssemble})

func planAssemble(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.AssembleArgs)
	attrs, err := a.Overlay.NewAttributes(args.Mode, args.Owner, args.Group, args.FileAttributes)
	if err != nil {
		return nil, err
	}
	var files fsys.Files = fsys.OwnFiles{}
	if !args.RemoteSrc {
		files = a.Files()
	}
	// Fragments of the controller are not changed by steps on this host.
	if a.Overlay.Concerns(args.Src) && args.RemoteSrc {
		return nil, fault.Missing(args.Dest, "an earlier step changes %s", args.Src)
	}
	data, err := joinFragments(ctx, files, args)
	if err != nil {
		return nil, err
	}
	c := &exec.Change{Fields: map[string]any{"src": args.Src}}
	t := target{
		attrs: attrs, from: fsys.Source{Data: data, Size: int64(len(data))}, force: true, backup: args.Backup,
		validate: args.Validate,
	}
	return t.writeInto(ctx, a, c, args.Dest, "")
}

// joinFragments returns the text of all parts. A delimiter stands on a line of its own, between two parts and not at the ends.
func joinFragments(ctx context.Context, files fsys.Files, args *spec.AssembleArgs) ([]byte, error) {
	info, err := files.Stat(args.Src)
	if err != nil {
		return nil, fault.Missing(args.Dest, "src %s does not exist", args.Src)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("src %s is not a directory", args.Src)
	}
	parts, err := files.ReadDir(args.Src)
	if err != nil {
		return nil, err
	}
	delimiter := ""
	// Ansible decodes \n in a delimiter, which YAML leaves as two characters outside double quotes.
	if args.Delimiter != nil {
		delimiter = strings.ReplaceAll(*args.Delimiter, `\n`, "\n")
	}
	var b bytes.Buffer
	first := true
	for _, part := range parts {
		name := part.Name()
		if args.IgnoreHidden && strings.HasPrefix(name, ".") {
			continue
		}
		if args.Match != nil {
			if wanted, err := args.Match.Match(name); err != nil {
				return nil, err
			} else if !wanted {
				continue
			}
		}
		path := filepath.Join(args.Src, name)
		if info, err := files.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if fault.Stopped(ctx) != "" {
			return nil, context.Cause(ctx)
		}
		// A fragment without a newline at its end must not run into what follows.
		if !first && b.Len() > 0 && !bytes.HasSuffix(b.Bytes(), []byte("\n")) {
			b.WriteByte('\n')
		}
		if !first && delimiter != "" {
			b.WriteString(delimiter)
			if !strings.HasSuffix(delimiter, "\n") {
				b.WriteByte('\n')
			}
		}
		first = false
		f, err := files.Open(path)
		if err != nil {
			return nil, err
		}
		_, err = io.Copy(&b, f)
		_ = f.Close() // it was only read
		if err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}
