package spec

import "strings"

// searching are collections whose modules have an action plugin next to them that only looks for files and renders templates before it
// has the module do the rest. Arguments that leave nothing to look for are the module's alone.
var searching = []string{"kubernetes.core.", "community.kubernetes."}

// Searches reports whether the action plugin of a module, by its full name, does nothing but look for the files that arguments name.
func Searches(full string) bool {
	for _, of := range searching {
		if name, ok := strings.CutPrefix(full, of); ok {
			return name == "k8s" || strings.HasPrefix(name, "k8s_") || name == "helm" || strings.HasPrefix(name, "helm_")
		}
	}
	return false
}

// checkSearched finds arguments of such a module whose files its action plugin would look for.
func checkSearched(full string, args map[string]any) (problems []Problem) {
	if !Searches(full) {
		return nil
	}
	if args["template"] != nil {
		problems = append(problems, Problem{
			"template", "`template` is rendered by an action plugin of the collection, and moon runs only the module",
			"render it for `definition`: \"{{ lookup('template', 'x.yml.j2') | from_yaml_all | list }}\"",
		})
	}
	for _, field := range []string{"src", "kubeconfig", "local_path"} {
		path, ok := args[field].(string)
		if !ok || path == "" || strings.HasPrefix(path, "/") || strings.HasPrefix(path, "~") || strings.Contains(path, "://") {
			continue
		}
		problems = append(problems, Problem{
			field, "`" + field + "` must begin with /: an action plugin of the collection would look for " + nameValue(path) +
				", and moon runs only the module",
			"write the whole path, such as \"{{ role_path }}/files/" + path + "\"",
		})
	}
	return problems
}
