package spec

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// YumOptions are the options of a repository, under the names that they have in its file.
type YumOptions struct {
	AsyncFetch       *bool    `arg:"async" implied:"as yum is configured" doc:"Download packages and metadata in parallel, if possible."`
	Bandwidth        *string  `arg:"bandwidth" doc:"The highest bandwidth, in bytes a second, of which throttle may be a part."`
	BaseURL          []string `arg:"baseurl" doc:"Where the directory repodata is; several are tried in turn. One of baseurl, metalink and mirrorlist is needed."`
	Cost             *string  `arg:"cost" doc:"How dear access to this repository is, compared with others."`
	DeltaMetadata    *string  `arg:"deltarpm_metadata_percentage" doc:"How large the metadata of differences may be, in percent of the packages."`
	Delta            *string  `arg:"deltarpm_percentage" doc:"How large a difference may be, in percent of the package."`
	Enabled          *bool    `arg:"enabled" implied:"as yum is configured" doc:"Whether the repository is used."`
	EnableGroups     *bool    `arg:"enablegroups" implied:"as yum is configured" doc:"Whether groups of packages of the repository are used."`
	Exclude          []string `arg:"exclude" doc:"Packages that are never taken from the repository; they may have * and ?."`
	Failover         *string  `arg:"failovermethod" enum:"roundrobin|priority" doc:"In which order several addresses are tried."`
	GPGCAKey         *string  `arg:"gpgcakey" doc:"Where the key is that has signed the others."`
	GPGCheck         *bool    `arg:"gpgcheck" implied:"as yum is configured" doc:"Whether packages must be signed."`
	GPGKey           []string `arg:"gpgkey" doc:"Where the keys are."`
	ModuleHotfixes   *bool    `arg:"module_hotfixes" implied:"as yum is configured" doc:"Whether packages count although a module hides them."`
	HTTPCaching      *string  `arg:"http_caching" enum:"all|packages|none" doc:"What proxies may keep."`
	Include          *string  `arg:"include" doc:"A file with more settings."`
	IncludePackages  []string `arg:"includepkgs" doc:"The only packages that are taken from the repository; they may have * and ?."`
	IPResolve        *string  `arg:"ip_resolve" enum:"4|6|IPv4|IPv6|whatever" doc:"Which addresses of hosts are used."`
	KeepAlive        *bool    `arg:"keepalive" implied:"as yum is configured" doc:"Whether connections are kept open."`
	KeepCache        *string  `arg:"keepcache" enum:"0|1" doc:"Whether packages are kept once they are installed."`
	MetadataExpire   *string  `arg:"metadata_expire" doc:"After how many seconds metadata is too old; also 5d, 3h or never."`
	ExpireFilter     *string  `arg:"metadata_expire_filter" enum:"never|read-only:past|read-only:present|read-only:future" doc:"Which commands do without new metadata."`
	Metalink         *string  `arg:"metalink" doc:"Where the list of mirrors is, as a metalink."`
	Mirrorlist       *string  `arg:"mirrorlist" doc:"Where the list of mirrors is."`
	MirrorlistExpire *string  `arg:"mirrorlist_expire" doc:"After how many seconds the list of mirrors is too old."`
	Password         *string  `arg:"password" doc:"The password for username."`
	Priority         *string  `arg:"priority" doc:"A number; repositories with lower ones come first."`
	Protect          *bool    `arg:"protect" implied:"as yum is configured" doc:"Whether other repositories cannot update its packages."`
	Proxy            *string  `arg:"proxy" doc:"The proxy, or _none_."`
	ProxyPassword    *string  `arg:"proxy_password" doc:"The password for proxy_username."`
	ProxyUsername    *string  `arg:"proxy_username" doc:"The user for the proxy."`
	RepoGPGCheck     *bool    `arg:"repo_gpgcheck" implied:"as yum is configured" doc:"Whether the metadata must be signed."`
	Retries          *string  `arg:"retries" doc:"How often a download is tried; 0 is for ever."`
	S3               *bool    `arg:"s3_enabled" implied:"as yum is configured" doc:"Whether the repository is in S3."`
	SkipUnavailable  *bool    `arg:"skip_if_unavailable" implied:"as yum is configured" doc:"Whether a repository that cannot be reached is skipped."`
	CACert           *string  `arg:"sslcacert,ca_cert" doc:"The directory with the certificates that may sign others."`
	CheckPermissions *bool    `arg:"ssl_check_cert_permissions" implied:"as yum is configured" doc:"Whether it matters that the files of certificates can be read."`
	ClientCert       *string  `arg:"sslclientcert,client_cert" doc:"The certificate to show."`
	ClientKey        *string  `arg:"sslclientkey,client_key" doc:"The key of that certificate."`
	Verify           *bool    `arg:"sslverify,validate_certs" implied:"as yum is configured" doc:"Whether certificates are checked."`
	Throttle         *string  `arg:"throttle" doc:"The part of bandwidth that is used, such as 50%, or bytes a second."`
	Timeout          *string  `arg:"timeout" doc:"After how many seconds without an answer a connection fails."`
	IDVars           *string  `arg:"ui_repoid_vars" doc:"The variables that are part of the id when it is shown."`
	Username         *string  `arg:"username" doc:"The user for the repository."`
}

// YumRepositoryArgs are the arguments of yum_repository. Once decoded, File has no end of a name.
type YumRepositoryArgs struct {
	Name        string  `arg:"name" need:"yes" doc:"The id of the repository: the name of its section."`
	Description *string `arg:"description" doc:"What people read as its name. Needed unless state is absent."`
	File        string  `arg:"file" implied:"name" doc:"The name of the file, without .repo."`
	Dir         string  `arg:"reposdir" kind:"path" default:"/etc/yum.repos.d" doc:"The directory of the files, which must exist."`
	State       string  `arg:"state" default:"present" enum:"present|absent" doc:"Whether the repository should be in the file. A file without any is removed."`
	Mode        Mode    `arg:"mode" implied:"0644 less the umask for new files" doc:"Mode, as 0644, 644 or u+x. A different mode counts as a change."`
	Owner       string  `arg:"owner" doc:"Name or id of the owner."`
	Group       string  `arg:"group" doc:"Name or id of the group."`

	YumOptions
	FileAttributes
}

var _ = declareAction(&Action{
	Name:  "yum_repository",
	Doc:   "Adds a repository for yum and dnf as a section of a .repo file, or removes it. Other options of the section are removed; other sections stay, without comments.",
	Check: true,
	Diff:  true,
	args:  reflect.TypeFor[YumRepositoryArgs](),
	Returns: []Return{
		{"repo", "The id of the repository."},
		{"state", "Whether it is in the file: present or absent."},
	},
	Least: "yum_repository: {name: x, description: x, baseurl: http://127.0.0.1}",
	Example: `- yum_repository:
    name: app
    description: Packages of the app
    baseurl: http://127.0.0.1/rpm
    gpgcheck: true
    gpgkey: [http://127.0.0.1/one.asc, http://127.0.0.1/two.asc]
    exclude: [old*, beta*]
- yum_repository: {name: gone, file: other, state: absent}
`,
})

// takeRendered splits texts at commas where a list is wanted, as Ansible does. An address in a list may have one.
func (a *YumRepositoryArgs) takeRendered(args map[string]any) map[string]any {
	args = maps.Clone(args)
	for _, name := range []string{"baseurl", "gpgkey", "exclude", "includepkgs"} {
		if text, ok := args[name].(string); ok {
			var list []any
			for part := range strings.SplitSeq(text, ",") {
				list = append(list, strings.TrimSpace(part))
			}
			args[name] = list
		}
	}
	return args
}

func (a *YumRepositoryArgs) validateArgs(given func(string) bool) []Problem {
	var problems []Problem
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	if strings.ContainsAny(a.Name, "\n\r") || a.Name == "" || a.Name == "DEFAULT" {
		add("name", "`name` must be the id of a repository, found "+nameValue(a.Name), "")
	}
	if a.File == "" {
		a.File = a.Name
	}
	if strings.ContainsAny(a.File, "/\n") {
		add("file", "`file` must be a name without a directory, found "+nameValue(a.File), "give the directory as `reposdir`")
	}
	if a.State == "present" {
		if !given("baseurl") && !given("metalink") && !given("mirrorlist") {
			add("baseurl", "`yum_repository` needs `baseurl`, `metalink` or `mirrorlist`", "")
		}
		if a.Description == nil {
			add("description", "`yum_repository` needs `description`", "")
		}
	}
	return append(problems, checkAttributes(a.Mode)...)
}

// Lines are the options of the repository as they are written, in the order of their names.
func (a *YumRepositoryArgs) Lines() [][2]string {
	all := map[string]string{}
	if a.Description != nil {
		all["name"] = *a.Description
	}
	v := reflect.ValueOf(a.YumOptions)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("arg"), ",")
		switch value := v.Field(i).Interface().(type) {
		case *string:
			if value != nil {
				all[name] = *value
			}
		case *bool:
			if value != nil {
				all[name] = map[bool]string{true: "1", false: "0"}[*value]
			}
		case []string:
			// Addresses and keys are a line each.
			separator := " "
			if name == "baseurl" || name == "gpgkey" {
				separator = "\n"
			}
			if value != nil {
				all[name] = strings.Join(value, separator)
			}
		}
	}
	var list [][2]string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, [2]string{name, all[name]})
	}
	return list
}
