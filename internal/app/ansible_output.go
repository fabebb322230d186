package app

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"

	"moon/tui/plain"
)

// ansibleOutput is how a run is shown to those who know ansible-playbook.
type ansibleOutput struct {
	style               plain.ResultStyle
	hideOK, hideSkipped bool
	times               plain.Times
	unlike              []string // what Ansible would show and moon does not, as settings name it
}

// callbacks are Ansible's plugins that write to standard output, and the format of moon that is like each.
var callbacks = map[string]string{
	"default": "ansible", "yaml": "yaml", "minimal": "minimal", "oneline": "oneline", "debug": "debug", "skippy": "ansible",
}

// callbackCollections are those that plugins of that name come from; Ansible finds them without.
var callbackCollections = []string{"ansible.builtin.", "ansible.legacy.", "ansible.posix.", "community.general."}

// callbackName is the name of a plugin without its collection.
func callbackName(name string) string {
	for _, prefix := range callbackCollections {
		if short, ok := strings.CutPrefix(name, prefix); ok {
			return short
		}
	}
	return name
}

// outputSettings are those of Ansible's settings that say how a run is shown, with the variables that count before them.
var outputSettings = map[string][]string{
	"defaults.stdout_callback":                 {"ANSIBLE_STDOUT_CALLBACK"},
	"defaults.callbacks_enabled":               {"ANSIBLE_CALLBACKS_ENABLED", "ANSIBLE_CALLBACK_WHITELIST"},
	"defaults.callback_whitelist":              nil,
	"defaults.callback_result_format":          {"ANSIBLE_CALLBACK_RESULT_FORMAT"},
	"defaults.display_ok_hosts":                {"ANSIBLE_DISPLAY_OK_HOSTS"},
	"defaults.display_skipped_hosts":           {"ANSIBLE_DISPLAY_SKIPPED_HOSTS", "DISPLAY_SKIPPED_HOSTS"},
	"callback_profile_tasks.task_output_limit": {"PROFILE_TASKS_TASK_OUTPUT_LIMIT"},
	"callback_profile_tasks.sort_order":        {"PROFILE_TASKS_SORT_ORDER"},
	"callback_profile_tasks.summary_only":      {"PROFILE_TASKS_SUMMARY_ONLY"},
}

// unknownCallbacks are the plugins that one of Ansible's settings names and for which moon has no output.
func unknownCallbacks(setting, value string) (unknown []string) {
	for name := range strings.SplitSeq(value, ",") {
		name = strings.TrimSpace(name)
		short := callbackName(name)
		var known bool
		switch setting {
		case "defaults.stdout_callback":
			_, known = callbacks[short]
		case "defaults.callbacks_enabled", "defaults.callback_whitelist":
			known = slices.Contains(ofTimes, short)
		default:
			return nil
		}
		if name != "" && !known {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

// ShowsCallbacks reports whether one of Ansible's settings names plugins, and moon has an output like each.
func ShowsCallbacks(setting, value string) bool {
	switch setting {
	case "defaults.stdout_callback", "defaults.callbacks_enabled", "defaults.callback_whitelist":
		return len(unknownCallbacks(setting, value)) == 0
	}
	return false
}

// readSettings has an output in the format of ansible-playbook look as Ansible's settings say. The other formats are what the user asked
// for by name; of the settings they take those that Ansible's plugin of that name takes.
func (t *target) readSettings() error {
	if slices.Contains(ofTimes, t.format) { // in a file of its own
		t.ansible.times.Views = []plain.TimesView{plain.TimesView(t.format)}
	}
	if !slices.Contains([]string{"ansible", "yaml", "debug", "minimal", "oneline"}, t.format) {
		return nil
	}
	set, err := AnsibleConfig(".")
	if err != nil {
		return err
	}
	get := func(name string) (value, place string) {
		for _, variable := range outputSettings[name] {
			if value := os.Getenv(variable); value != "" {
				return value, "$" + variable
			}
		}
		return set.values[name], set.places[name]
	}
	flag := func(name string, usual bool) bool {
		value, place := get(name)
		b, failed := parseFlag(value, place, usual)
		err = cmp.Or(err, failed)
		return b
	}
	a := &t.ansible
	if t.format == "ansible" {
		callback, place := get("defaults.stdout_callback")
		a.note("defaults.stdout_callback", callback, place)
		if format, ok := callbacks[callbackName(callback)]; ok {
			t.format = format
			a.hideSkipped = callbackName(callback) == "skippy"
		}
		enabled, place := get("defaults.callbacks_enabled")
		if enabled == "" {
			enabled, place = get("defaults.callback_whitelist")
		}
		a.note("defaults.callbacks_enabled", enabled, place)
		for name := range strings.SplitSeq(enabled, ",") {
			view := plain.TimesView(callbackName(strings.TrimSpace(name)))
			if slices.Contains(ofTimes, string(view)) && !slices.Contains(a.times.Views, view) {
				a.times.Views = append(a.times.Views, view)
			}
		}
	}
	switch form, place := get("defaults.callback_result_format"); {
	case t.format == "yaml":
		a.style = plain.ResultsYAML
	case t.format == "debug":
		a.style = plain.ResultsDebug
	case form == "yaml":
		a.style = plain.ResultsFormYAML
	case form != "" && form != "json":
		return Usage("%s must be json or yaml; this is %q", place, form)
	}
	a.hideOK = !flag("defaults.display_ok_hosts", true)
	a.hideSkipped = a.hideSkipped || !flag("defaults.display_skipped_hosts", true)
	a.times.SummaryOnly = flag("callback_profile_tasks.summary_only", false)
	if err != nil {
		return err
	}
	return a.readTimes(get)
}

// note keeps which of the plugins that a setting names moon has no output for.
func (a *ansibleOutput) note(setting, value, place string) {
	for _, name := range unknownCallbacks(setting, value) {
		a.unlike = append(a.unlike, place+": moon has no output like "+name)
	}
}

// readTimes reads how tasks are listed by their time.
func (a *ansibleOutput) readTimes(get func(name string) (value, place string)) error {
	order, place := get("callback_profile_tasks.sort_order")
	if !slices.Contains([]string{"", "descending", "ascending", "none"}, order) {
		return Usage("%s must be descending, ascending or none; this is %q", place, order)
	}
	a.times.Order = order
	switch most, place := get("callback_profile_tasks.task_output_limit"); most {
	case "":
	case "all":
		a.times.Most = -1
	default:
		n, err := strconv.Atoi(most)
		if err != nil || n < 1 {
			return Usage("%s must be a whole number above 0, or all; this is %q", place, most)
		}
		a.times.Most = n
	}
	return nil
}
