package spec

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"moon/internal/pattern"
)

// DockerClient says how a step reaches Docker: by the command line client of the host.
type DockerClient struct {
	DockerHost    string `arg:"docker_host,docker_url" implied:"as the client is configured" doc:"The address of the daemon: unix:///run/docker.sock, tcp://host:2376, ssh://host."`
	TLS           bool   `arg:"tls" default:"false" doc:"Use TLS."`
	ValidateCerts bool   `arg:"validate_certs,tls_verify" default:"false" doc:"Use TLS, and verify the certificate of the daemon."`
	CAPath        string `arg:"ca_path,ca_cert,cacert_path,tls_ca_cert" kind:"path" doc:"The certificate of the authority that signed the daemon's."`
	ClientCert    string `arg:"client_cert,cert_path,tls_client_cert" kind:"path" doc:"The client's certificate."`
	ClientKey     string `arg:"client_key,key_path,tls_client_key" kind:"path" doc:"Its key."`
	APIVersion    string `arg:"api_version,docker_api_version" default:"auto" doc:"The version of the API to speak. auto: what both sides can."`
	UseSSHClient  bool   `arg:"use_ssh_client" default:"false" doc:"Accepted from playbooks written for Ansible: ssh:// is always reached with ssh."`
}

// dockerNames are the full names of an action for Docker.
func dockerNames(name string) []string {
	return []string{"community.docker." + name, "community.general." + name}
}

// dockerLater are arguments of all of Ansible's modules for Docker that its command line client has no words for.
var dockerLater = map[string]later{
	"timeout":      {idle: "60", way: "use the `timeout` of the step"},
	"debug":        {way: "remove it; a dry run says what would be done"},
	"ssl_version":  {way: "the client chooses it; remove it"},
	"tls_hostname": {way: "give a `docker_host` by the name in its certificate"},
}

func (d *DockerClient) clientProblems() (problems []Problem) {
	if (d.ClientCert == "") != (d.ClientKey == "") {
		problems = append(problems, Problem{"client_cert", "`client_cert` and `client_key` need each other", ""})
	}
	// Ansible's own library lacks a slash there, and takes the address with and without it.
	if rest, ok := strings.CutPrefix(d.DockerHost, "unix://"); ok && !strings.HasPrefix(rest, "/") {
		d.DockerHost = "unix:///" + rest
	}
	return problems
}

// decodeList decodes a list of maps. Each has the fields that T declares.
func decodeList[T any](action, name string, value any) (list []T, problems []Problem) {
	items, ok := value.([]any)
	if one, isMap := value.(map[string]any); isMap {
		items, ok = []any{one}, true
	}
	if !ok {
		return nil, []Problem{{name, fmt.Sprintf("`%s` must be a list of maps, found %s", name, nameValue(value)), ""}}
	}
	fields := fieldsOf(reflect.TypeFor[T]())
	for i, item := range items {
		m, ok := item.(map[string]any)
		if !ok {
			return nil, []Problem{{name, fmt.Sprintf("`%s` must be a list of maps, found %s in it", name, nameValue(item)), ""}}
		}
		d := decoder{action: action}
		var one T
		d.decodeObject(fields, reflect.ValueOf(&one).Elem(), m, fmt.Sprintf("%s.%d.", name, i))
		// The playbook has a place for the list, and for nothing in it.
		for _, p := range d.problems {
			problems = append(problems, Problem{name, p.Message, p.Hint})
		}
		list = append(list, one)
	}
	return list, problems
}

// textMap is a map of texts; names says which of its values are none.
func textMap(m map[string]any) (texts map[string]string, wrong []string) {
	if m == nil {
		return nil, nil
	}
	texts = make(map[string]string, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		text, ok := asText(m[name])
		if !ok {
			wrong = append(wrong, name)
		}
		texts[name] = text
	}
	return texts, wrong
}

var byteUnits = map[string]float64{"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50}

var byteText = pattern.New(`^([0-9]*\.?[0-9]+)\s*([A-Za-z]+)?$`)

// parseBytes reads a size as Ansible does: 512M, 1.5GB, 1048576.
func parseBytes(text string) (int, bool) {
	parts := byteText.FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil {
		return 0, false
	}
	var number float64
	if _, err := fmt.Sscanf(parts[1], "%g", &number); err != nil {
		return 0, false
	}
	unit := strings.ToUpper(parts[2])
	if len(unit) > 1 {
		// Mb would be bits.
		if !strings.Contains(unit, "BYTE") && parts[2][1] != 'B' {
			return 0, false
		}
		unit = unit[:1]
	}
	if unit == "B" {
		unit = ""
	}
	factor, ok := byteUnits[unit]
	return int(number*factor + 0.5), ok && number*factor < 1<<62
}
