package action

import (
	"context"
	"fmt"
	"strings"

	"moon/exec"
	"moon/exec/spec"
)

var _ = exec.Register("replace", exec.Action{Plan: planReplace})

func planReplace(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.ReplaceArgs)
	e := edit{
		plain: true, path: args.Path, mode: args.Mode, owner: args.Owner, group: args.Group, more: args.FileAttributes, backup: args.Backup,
		validate: args.Validate,
	}
	outside := false
	var wrong error
	c, err := planEdit(ctx, a, e, func(text string) (edited, says string) {
		var count int
		var found bool
		if edited, count, found, wrong = replaceAll(text, args); wrong != nil {
			return text, ""
		}
		outside = !found
		return edited, fmt.Sprintf("%d replacements made", count)
	})
	if err == nil && wrong != nil {
		c.Close()
		return nil, wrong
	}
	if err == nil {
		c.Fields["rc"] = 0 // as there is in the result of a failure
	}
	if err == nil && outside {
		c.Fields["msg"] = "Pattern for before/after params did not match the given file"
	}
	return c, err
}

// replaceAll replaces what matches, in the section where it shall; found says whether there is that section.
func replaceAll(text string, args *spec.ReplaceArgs) (edited string, count int, found bool, err error) {
	// Where all lines end in CRLF that is one newline, as an editor has it: $ matches in front of it, and what is put
	// in gets it, too.
	if n := strings.Count(text, "\r\n"); !args.Returns && n > 0 && n == strings.Count(text, "\n") && n == strings.Count(text, "\r") {
		edited, count, found, err = replaceAll(strings.ReplaceAll(text, "\r\n", "\n"), args)
		return strings.ReplaceAll(edited, "\n", "\r\n"), count, found, err
	}
	from, to := 0, len(text)
	if args.Section != nil {
		m, err := args.Section.Find(text)
		if m == nil {
			return text, 0, false, err
		}
		group := args.Section.Group("subsection")
		from, to = m[2*group], m[2*group+1]
	}
	section := text[from:to]
	result := []byte(text[:from])
	last := 0
	all, err := args.Match.FindAll(section, -1)
	if err != nil {
		return text, 0, true, err
	}
	for _, m := range all {
		result = append(result, section[last:m[0]]...)
		result = args.Template.Expand(result, section, m)
		last = m[1]
		count++
	}
	result = append(result, section[last:]...)
	return string(append(result, text[to:]...)), count, true, nil
}
