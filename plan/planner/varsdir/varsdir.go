package varsdir

import (
	"path/filepath"
	"regexp"
	"strings"

	"moon/exec/spec"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/planner/known"
	"moon/plan/planner/library"
	"moon/plan/planner/problems"
	"moon/plan/playbook"
	"moon/plan/source"
)

// Request is an include_vars of a directory.
type Request struct {
	Library  *library.Library
	Problems *problems.Collector
	Known    *known.Reader
	Disk     *source.Disk
	Renderer *plan.Renderer
	Task     *playbook.Task
	Written  playbook.Value // the name of the directory
	Dir      string         // where it was found
	Role     string         // the directory of the role around; "" if there is none
}

// Files are the files of variables below the directory, in the order of their names; what is directly in it comes first.
func (q Request) Files() []*playbook.File {
	in := library.VarsDir{Extensions: []string{"yaml", "yml", "json"}}
	args, r := q.Task.ExtraArgs, q.Renderer
	if v, ok := args.Get("depth"); ok {
		q.Known.ReadFixed(v, "depth", "a whole number", r, func(got any) bool {
			n, ok := spec.ParseInt(got)
			in.Depth = n
			return ok && n >= 0
		})
	}
	if v, ok := args.Get("ignore_unknown_extensions"); ok {
		in.Lenient = q.Known.ReadFlag(v, "ignore_unknown_extensions", r, false)
	}
	if list, v := q.texts("files_matching"); len(list) > 0 {
		// Without the pattern all files would be read, of which it was to exclude some.
		if in.Matching = q.pattern(list[0], v); in.Matching == nil {
			return nil
		}
	}
	if list, v := q.texts("ignore_files"); len(list) > 0 {
		for _, text := range list {
			if re := q.pattern("^(?:"+text+")$", v); re != nil {
				in.Ignore = append(in.Ignore, re)
			}
		}
	}
	if list, _ := q.texts("extensions"); len(list) > 0 {
		in.Extensions = nil
		for _, ext := range list {
			in.Extensions = append(in.Extensions, strings.TrimPrefix(ext, "."))
		}
	}
	if _, err := q.Disk.List(q.Dir); err != nil {
		q.Problems.Errorf(q.Written.Pos(), plan.Width(q.Written), r.Chain, q.Library.SuggestFile(q.Dir),
			"include_vars: no such directory: %s", q.Library.ShowPath(q.Dir))
		return nil
	}
	if q.Role != "" && q.Dir == filepath.Join(q.Role, "vars") {
		in.Except = filepath.Join(q.Dir, "main.yml")
	}
	return q.Library.ReadVarsDir(r.Chain, q.Written, q.Dir, 1, &in)
}

// texts are the texts of an argument: one, or a list of them.
func (q Request) texts(key string) (list []string, v playbook.Value) {
	v, ok := q.Task.ExtraArgs.Get(key)
	if !ok {
		return nil, v
	}
	got := value.Plain(q.Renderer.Value(v))
	if all, isList := got.([]any); isList {
		for _, one := range all {
			list = append(list, value.Text(one))
		}
		return list, v
	}
	return []string{value.Text(got)}, v
}

// pattern is a regular expression; nil if it is not one, which is reported.
func (q Request) pattern(text string, v playbook.Value) *regexp.Regexp {
	re, err := regexp.Compile(text)
	if err != nil {
		q.Problems.Errorf(v.Pos(), plan.Width(v), q.Renderer.Chain, "", "include_vars: %s is not a regular expression:  %s",
			plan.Quoted(text), err)
		return nil
	}
	return re
}
