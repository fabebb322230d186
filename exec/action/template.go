package action

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = exec.Register("template", exec.Action{Plan: planTemplate})

func planTemplate(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.TemplateArgs)
	attrs, err := a.Overlay.NewAttributes(args.Mode, args.Owner, args.Group, args.FileAttributes)
	if err != nil {
		return nil, err
	}
	text, err := a.ReadSource(args.Src)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Missing(args.Dest, "src %s does not exist", args.Src)
	}
	if err != nil {
		return nil, err
	}
	if args.Mode.Preserve() {
		info, err := a.Files().Stat(args.Src)
		if err != nil {
			return nil, err
		}
		if attrs.Mode, err = spec.ParseMode(fmt.Sprintf("%04o", fsys.UnixMode(info.Mode()))); err != nil {
			return nil, err
		}
	}
	rendered, err := a.Names.Render(string(text), args.Src)
	if err != nil {
		return nil, err
	}
	if args.Newline != "" {
		// To one form first, or \r\n would become \r\r\n.
		rendered = strings.ReplaceAll(strings.ReplaceAll(rendered, "\r\n", "\n"), "\n", args.Newline)
	}
	c := &exec.Change{Fields: map[string]any{"src": args.Src}}
	c.InPlays = append(c.InPlays, func(fields map[string]any) { delete(fields, "src") })
	t := target{
		attrs: attrs, force: args.Force, backup: args.Backup, validate: args.Validate, follow: args.Follow,
		from: fsys.Source{Data: []byte(rendered), Size: int64(len(rendered))},
	}
	name := filepath.Base(args.Src)
	return t.writeInto(ctx, a, c, args.Dest, a.ChooseWords(strings.TrimSuffix(name, ".j2"), name))
}
