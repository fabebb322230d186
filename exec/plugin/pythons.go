package plugin

import "strings"

// pythons are where Python is looked for: that of the system comes first, as it has the libraries of package managers.
var pythons = []string{
	"/usr/bin/python3", "/usr/libexec/platform-python", "python3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3", "python3.14",
	"python3.13", "python3.12", "python3.11", "python3.10", "python3.9", "python3.8", "python3.7", "python3.6", "/usr/bin/python", "python",
}

// lookForPython is a line that prints the first of them that is on a machine.
func lookForPython() string {
	return "for p in " + strings.Join(pythons, " ") + `; do command -v "$p" && break; done; :`
}
