package app

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"moon/internal/diag"
	"moon/plan/playbook"
)

// Galaxy is a server of collections and roles that Ansible's settings name.
type Galaxy struct{ Name, URL, Token, AuthURL, User, Password string }

// Galaxies are the servers that are asked for collections and roles, in their order; none where no setting names any.
func (s AnsibleSettings) Galaxies(home string) []Galaxy {
	setting := func(section, name, variable string) string {
		return cmp.Or(os.Getenv(variable), s.values[section+"."+name])
	}
	var all []Galaxy
	for name := range strings.SplitSeq(setting("galaxy", "server_list", "ANSIBLE_GALAXY_SERVER_LIST"), ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		field := func(key string) string {
			return setting("galaxy_server."+name, key, "ANSIBLE_GALAXY_SERVER_"+strings.ToUpper(name+"_"+key))
		}
		all = append(all, Galaxy{name, field("url"), field("token"), field("auth_url"), field("username"), field("password")})
	}
	if len(all) > 0 {
		return all
	}
	named := setting("galaxy", "server", "ANSIBLE_GALAXY_SERVER")
	g := Galaxy{URL: named}
	// The user's token is for the usual server, and for one that the user has named: not for one whose name came with a playbook.
	if named == "" || s.Supplied() == "" || os.Getenv("ANSIBLE_GALAXY_SERVER") != "" {
		path := cmp.Or(setting("galaxy", "token_path", "ANSIBLE_GALAXY_TOKEN_PATH"), filepath.Join(home, ".ansible/galaxy_token"))
		g.Token = galaxyToken(settingPath(filepath.Join(home, "ansible.cfg"), path))
	}
	if g.URL == "" && g.Token == "" {
		return nil
	}
	return []Galaxy{g}
}

// galaxyToken reads the token from the file that ansible-galaxy keeps it in; "" if there is none.
func galaxyToken(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	v, _ := playbook.Document(&playbook.File{Name: path, Path: path, Text: text}, &diag.List{})
	token, _ := v.Get("token")
	return token.Text()
}
