package spec

import "strings"

// MysqlLogin says how a step reaches a server of MySQL or MariaDB.
type MysqlLogin struct {
	LoginUser       string  `arg:"login_user" implied:"what config_file says, or the user of the step" doc:"The user to log in as."`
	LoginPassword   *string `arg:"login_password" implied:"what config_file says" doc:"Its password. It is handed over unseen."`
	LoginHost       string  `arg:"login_host" default:"localhost" doc:"The host of the server. localhost is reached by its socket."`
	LoginPort       int     `arg:"login_port" default:"3306" doc:"Its port."`
	LoginUnixSocket string  `arg:"login_unix_socket" kind:"path" doc:"Its socket on this machine, instead of host and port."`
	ConfigFile      *string `arg:"config_file" kind:"path" implied:"~/.my.cnf, if it exists" doc:"An option file of MySQL's clients. What the step says wins. Empty: none is read."`
	ConnectTimeout  int     `arg:"connect_timeout" default:"30" doc:"How long to wait for the server, in seconds."`
	ClientCert      string  `arg:"client_cert,ssl_cert" kind:"path" doc:"The client's certificate."`
	ClientKey       string  `arg:"client_key,ssl_key" kind:"path" doc:"Its key."`
	CACert          string  `arg:"ca_cert,ssl_ca" kind:"path" doc:"The certificate of the authority that signed the server's."`
	CheckHostname   *bool   `arg:"check_hostname" implied:"as the client does" doc:"Whether the server's certificate must be for its name."`
}

// mysqlNames are the full names of an action for MySQL: what Ansible's collections call it.
func mysqlNames(name string) []string {
	return []string{"community.mysql." + name, "ansible.mysql." + name, "community.general." + name}
}

func (l *MysqlLogin) problems() (problems []Problem) {
	if l.LoginPort < 0 || l.LoginPort > 65535 {
		problems = append(problems, Problem{"login_port", "`login_port` must be between 0 and 65535", ""})
	}
	if l.ConfigFile != nil && strings.ContainsAny(*l.ConfigFile, "\r\n") {
		problems = append(problems, Problem{"config_file", "`config_file` must be one line", ""})
	}
	return problems
}
