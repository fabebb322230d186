package plan

import (
	"maps"
	"os"
	"os/user"
	"strconv"
	"syscall"
	"time"

	"moon/exec/spec"
	"moon/plan/eval"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// pythonTime is how Python prints a time.
const pythonTime = "2006-01-02 15:04:05.000000"

// TemplateNames are the names that a template file has besides the variables. What depends on the machine or the time is
// unknown while planning.
func (k *Task) TemplateNames(r *Renderer, file string, raw map[string]any, now bool) map[string]any {
	written := file
	if v, ok := ValueOf(k.Args, "src"); ok {
		own := *r // what is wrong with it has been said
		own.Report, own.Missing = nil, nil
		written = own.Text(v)
	}
	names := map[string]any{
		"template_path": written, "template_fullpath": file, "template_destpath": raw["dest"], "ansible_managed": "Ansible managed",
	}
	late := map[string]func() string{
		"template_host":     func() string { host, _ := os.Hostname(); return host },
		"template_run_date": func() string { return time.Now().Format(pythonTime) },
		"template_mtime": func() string {
			info, err := os.Stat(file)
			if err != nil {
				return ""
			}
			return info.ModTime().Format(pythonTime)
		},
		"template_uid": func() string { return ownerOf(file) },
	}
	for name, get := range late {
		// If planning knew them, the same files would give another plan each time.
		names[name] = value.Unknown{}
		if now {
			names[name] = get()
		}
	}
	return names
}

// ownerOf is the name of a file's owner, or the number of one without a name.
func ownerOf(file string) string {
	info, err := os.Stat(file)
	if err != nil {
		return ""
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	id := strconv.Itoa(int(st.Uid))
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return id
}

// Joined are the names of both; those of b count.
func Joined(a, b map[string]any) map[string]any {
	if a == nil {
		return b
	}
	maps.Copy(a, b)
	return a
}

// DocumentOf compiles the text of a template in the style that the arguments of its step say.
func DocumentOf(engine *eval.Engine, text string, raw map[string]any) (*eval.Template, error) {
	if style := styleOf(raw); style != (jinja.Style{}) {
		return engine.DocumentIn(text, style)
	}
	return engine.Document(text)
}

// styleOf is how the text of a template is written, as the arguments of its step say.
func styleOf(raw map[string]any) jinja.Style {
	text := func(name string) string { s, _ := raw[name].(string); return s }
	is := func(name string, otherwise bool) bool {
		if b, ok := spec.ParseBool(raw[name]); ok {
			return b
		}
		return otherwise
	}
	return jinja.Style{
		KeepBreaks: !is("trim_blocks", true), Lstrip: is("lstrip_blocks", false),
		BlockStart: text("block_start_string"), BlockEnd: text("block_end_string"),
		VariableStart: text("variable_start_string"), VariableEnd: text("variable_end_string"),
		CommentStart: text("comment_start_string"), CommentEnd: text("comment_end_string"),
	}
}
