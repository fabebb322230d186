package spec

import (
	"reflect"
	"strings"
)

// ComposerArgs are the arguments of composer. Once decoded, Words are the words of arguments.
type ComposerArgs struct {
	Command         string `arg:"command" default:"install" doc:"The command of composer, such as install, update or require."`
	Arguments       string `arg:"arguments" doc:"Arguments of the command, such as the packages for require. They are split as a shell does, and no shell reads them."`
	WorkingDir      string `arg:"working_dir,working-dir" kind:"path" implied:"needed without global_command" doc:"The directory of the project."`
	Global          bool   `arg:"global_command,global-command" default:"false" doc:"Run the command for the packages of the user, and not of a project."`
	PreferSource    bool   `arg:"prefer_source,prefer-source" default:"false" doc:"Take packages from their repositories."`
	PreferDist      bool   `arg:"prefer_dist,prefer-dist" default:"false" doc:"Take packages as archives."`
	NoDev           bool   `arg:"no_dev,no-dev" default:"true" doc:"Without packages that only development needs."`
	NoScripts       bool   `arg:"no_scripts,no-scripts" default:"false" doc:"Do not run the scripts of composer.json."`
	NoPlugins       bool   `arg:"no_plugins,no-plugins" default:"false" doc:"Do not use plugins."`
	Optimize        bool   `arg:"optimize_autoloader,optimize-autoloader" default:"true" doc:"Write an autoloader that is faster and takes longer to write."`
	Authoritative   bool   `arg:"classmap_authoritative,classmap-authoritative" default:"false" doc:"Load classes only from the map of classes."`
	APCu            bool   `arg:"apcu_autoloader,apcu-autoloader" default:"false" doc:"Remember with APCu where classes are."`
	IgnorePlatform  bool   `arg:"ignore_platform_reqs,ignore-platform-reqs" default:"false" doc:"Ignore what packages need of PHP."`
	PHP             string `arg:"executable,php_path" implied:"the one that composer starts" doc:"The program php."`
	ComposerProgram string `arg:"composer_executable" implied:"composer" doc:"The program composer."`

	Words []string
}

// ComposerOption is an option of composer's commands. A command gets only those that it has, as with Ansible.
type ComposerOption struct {
	Name  string
	Given bool
}

// Options are the options that the step asks for.
func (a *ComposerArgs) Options() []ComposerOption {
	return []ComposerOption{
		{"no-ansi", true},
		{"no-interaction", true},
		{"no-progress", true},
		{"prefer-source", a.PreferSource},
		{"prefer-dist", a.PreferDist},
		{"no-dev", a.NoDev},
		{"no-scripts", a.NoScripts},
		{"no-plugins", a.NoPlugins},
		{"apcu-autoloader", a.APCu},
		{"optimize-autoloader", a.Optimize},
		{"classmap-authoritative", a.Authoritative},
		{"ignore-platform-reqs", a.IgnorePlatform},
	}
}

var _ = declareAction(&Action{
	Name:    "composer",
	Aliases: []string{"community.general.composer"},
	Doc:     "Runs a command of composer, which installs packages of PHP. Whether it changes anything, composer itself says; a dry run asks it, if the command can say so beforehand.",
	Process: "*",
	Proxies: true,
	Check:   true,
	Diff:    true,
	args:    reflect.TypeFor[ComposerArgs](),
	Returns: []Return{{"msg", "What composer said, in one line."}, {"stdout", "What composer said."}},
	Least:   "composer: {working_dir: /nowhere}",
	Example: `- composer: {working_dir: /srv/app}
- composer: {command: require, arguments: acme/http, working_dir: /srv/other, no_dev: false}
`,
})

func (a *ComposerArgs) validateArgs(func(string) bool) []Problem {
	var problems []Problem
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	if strings.ContainsAny(a.Command, " \t\n") {
		add("command", "`command` must be one word, found "+nameValue(a.Command), "give the rest as `arguments`")
	}
	if a.Command == "" || strings.HasPrefix(a.Command, "-") {
		add("command", "`command` must be a command of composer, found "+nameValue(a.Command), "")
	}
	if a.WorkingDir == "" && !a.Global {
		add("working_dir", "`composer` needs `working_dir`", "or `global_command: true`")
	}
	words, err := Words(a.Arguments)
	if a.Words = words; err != nil && strings.TrimSpace(a.Arguments) != "" {
		add("arguments", "`arguments` "+err.Error(), "")
	}
	return problems
}
