package facts

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	osexec "os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"moon/exec/process"
	"moon/internal/pattern"
)

func (s *survey) addAppArmor() {
	status := "disabled"
	if s.fileExists("/sys/kernel/security/apparmor") {
		status = "enabled"
	}
	s.setFact("apparmor", map[string]any{"status": status})
}

// addCmdline notes what the kernel was started with. Of a word that is there several times, proc_cmdline has all values.
func (s *survey) addCmdline() {
	last, all := map[string]any{}, map[string]any{}
	for word := range strings.FieldsSeq(s.readText("/proc/cmdline")) {
		var value any = true
		name, text, ok := strings.Cut(word, "=")
		if ok {
			value = strings.Trim(text, `"`)
		}
		last[name] = value
		// A second value makes a list of it, so playbooks see a text or a list, as with Ansible.
		switch before := all[name].(type) {
		case nil:
			all[name] = value
		case []any:
			all[name] = append(before, value)
		default:
			all[name] = []any{before, value}
		}
	}
	s.setFact("cmdline", last)
	s.setFact("proc_cmdline", all)
}

func (s *survey) dateTime() { s.setFact("date_time", ansibleTime(time.Now())) }

func ansibleTime(t time.Time) map[string]any {
	zone, _ := t.Zone()
	weekday := int(t.Weekday())
	week := (t.YearDay() - 1 + 7 - (weekday+6)%7) / 7 // of the year, from its first Monday
	return map[string]any{
		"year": t.Format("2006"), "month": t.Format("01"), "day": t.Format("02"), "hour": t.Format("15"), "minute": t.Format("04"),
		"second": t.Format("05"),
		"date":   t.Format(time.DateOnly), "time": t.Format(time.TimeOnly), "weekday": t.Weekday().String(),
		"weekday_number": strconv.Itoa(weekday),
		"weeknumber":     fmt.Sprintf("%02d", week), "epoch": strconv.FormatInt(t.Unix(), 10), "epoch_int": strconv.FormatInt(t.Unix(), 10),
		"iso8601": t.UTC().Format("2006-01-02T15:04:05Z"), "iso8601_micro": t.UTC().Format("2006-01-02T15:04:05.000000Z"),
		"iso8601_basic":       strings.Replace(t.Format("20060102T150405.000000"), ".", "", 1),
		"iso8601_basic_short": t.Format("20060102T150405"),
		"tz":                  zone, "tz_dst": summerZone(t, zone), "tz_offset": t.Format("-0700"),
	}
}

// summerZone is the zone's name in summer; where there is no summer time, the zone's own.
func summerZone(t time.Time, zone string) string {
	// Summer is in July or, south of the equator, in January.
	for _, month := range []time.Month{time.January, time.July} {
		if at := time.Date(t.Year(), month, 1, 0, 0, 0, 0, t.Location()); at.IsDST() {
			name, _ := at.Zone()
			return name
		}
	}
	return zone
}

// distributions are the names that Ansible has for what os-release calls by an id, and the family of each.
var distributions = map[string]struct{ name, family string }{
	"debian": {"Debian", "Debian"}, "ubuntu": {"Ubuntu", "Debian"}, "raspbian": {"Debian", "Debian"}, "linuxmint": {"Linux Mint", "Debian"},
	"kali": {"Kali", "Debian"}, "pop": {"Pop!_OS", "Debian"}, "devuan": {"Devuan", "Debian"}, "neon": {"KDE neon", "Debian"},
	"parrot": {"Parrot", "Debian"},
	"rhel":   {"RedHat", "RedHat"}, "centos": {"CentOS", "RedHat"}, "fedora": {"Fedora", "RedHat"}, "rocky": {"Rocky", "RedHat"},
	"almalinux": {"AlmaLinux", "RedHat"},
	"ol":        {"OracleLinux", "RedHat"}, "amzn": {"Amazon", "RedHat"}, "scientific": {"Scientific", "RedHat"},
	"cloudlinux": {"CloudLinux", "RedHat"},
	"virtuozzo":  {"Virtuozzo", "RedHat"}, "openEuler": {"openEuler", "RedHat"}, "sles": {"SLES", "Suse"}, "sled": {"SLED", "Suse"},
	"opensuse-leap": {"openSUSE Leap", "Suse"}, "opensuse-tumbleweed": {"openSUSE Tumbleweed", "Suse"}, "opensuse": {"openSUSE", "Suse"},
	"arch": {"Archlinux", "Archlinux"}, "manjaro": {"Manjaro", "Archlinux"}, "antergos": {"Antergos", "Archlinux"},
	"alpine": {"Alpine", "Alpine"},
	"gentoo": {"Gentoo", "Gentoo"}, "void": {"Void", "Void"}, "nixos": {"NixOS", "NixOS"}, "slackware": {"Slackware", "Slackware"},
	"altlinux": {"Altlinux", "Altlinux"}, "clear-linux-os": {"Clear Linux OS", "ClearLinux"}, "flatcar": {"Flatcar", "Flatcar"},
}

// releaseFile is where a distribution describes itself, and what it says.
func (s *survey) releaseFile() (path string, fields map[string]string) {
	fields = map[string]string{}
	for _, path = range []string{"/etc/os-release", "/usr/lib/os-release"} {
		text := s.readText(path)
		if text == "" {
			continue
		}
		for line := range strings.Lines(text) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			fields[name] = strings.Trim(value, `"'`)
		}
		break
	}
	return path, fields
}

var (
	dottedNumber = pattern.New(`\d+(\.\d+)*`)
	inBrackets   = pattern.New(`\((.+)\)`)
)

func (s *survey) addDistribution() {
	if runtime.GOOS == "darwin" {
		s.setFact("distribution", "MacOSX")
		s.setFact("os_family", "Darwin")
		return
	}
	path, fields := s.releaseFile()
	id := fields["ID"]
	name, family := "Linux", "Linux"
	switch d, known := distributions[id]; {
	case known:
		name, family = d.name, d.family
	case id != "":
		name, _, _ = strings.Cut(fields["NAME"], " ")
		family = name
		// The nearest relative comes first in ID_LIKE.
		for like := range strings.FieldsSeq(fields["ID_LIKE"]) {
			if d, known := distributions[like]; known {
				family = d.family
				break
			}
		}
	}
	version := fields["VERSION_ID"]
	exact := map[string]string{"debian": "/etc/debian_version", "raspbian": "/etc/debian_version", "centos": "/etc/centos-release"}[id]
	if is := dottedNumber.FindString(s.readText(exact)); is != "" { // os-release knows the major version only
		version = is
		if id == "centos" {
			version = strings.Join(strings.Split(is, ".")[:min(2, strings.Count(is, ".")+1)], ".")
		}
	}
	codename := fields["VERSION_CODENAME"]
	// Older releases have the name only within the version: "7 (wheezy)".
	if m := inBrackets.FindStringSubmatch(fields["VERSION"]); codename == "" && m != nil {
		codename = m[1]
	}
	parts := strings.Split(version, ".")
	s.setFact("distribution", name)
	s.setFact("os_family", family)
	s.setFact("distribution_version", orNA(version))
	s.setFact("distribution_major_version", orNA(parts[0]))
	if len(parts) > 1 {
		s.setFact("distribution_minor_version", parts[1])
	}
	s.setFact("distribution_release", orNA(codename))
	s.setFact("distribution_file_variety", name)
	s.setFact("distribution_file_path", path)
	s.setFact("distribution_file_parsed", id != "")
}

func (s *survey) addLSB() {
	_, release := s.releaseFile()
	lsb := map[string]any{}
	own := s.readText("/etc/lsb-release")
	for line := range strings.Lines(own) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if what, ok := strings.CutPrefix(name, "DISTRIB_"); ok {
			lsb[strings.ToLower(what)] = strings.Trim(value, `"'`)
		}
	}
	// Many systems have no lsb-release any more, while playbooks still ask for what it had.
	if own == "" && release["ID"] != "" {
		name, _, _ := strings.Cut(release["NAME"], " ")
		lsb = map[string]any{
			"id": name, "description": release["PRETTY_NAME"], "release": release["VERSION_ID"],
			"codename": release["VERSION_CODENAME"],
		}
	}
	if text, ok := lsb["release"].(string); ok {
		lsb["major_release"], _, _ = strings.Cut(text, ".")
	}
	s.setFact("lsb", lsb)
}

func (s *survey) addDNS() {
	dns := map[string]any{}
	for line := range strings.Lines(s.readText("/etc/resolv.conf")) {
		words := strings.Fields(line)
		if len(words) < 2 || strings.ContainsAny(words[0][:1], "#;") {
			continue
		}
		switch words[0] {
		case "nameserver":
			servers, _ := dns["nameservers"].([]any)
			dns["nameservers"] = append(servers, words[1])
		case "domain":
			dns["domain"] = words[1]
		case "search", "sortlist":
			dns[words[0]] = AnyList(words[1:])
		case "options":
			options := map[string]any{}
			for _, o := range words[1:] {
				name, value, has := strings.Cut(o, ":")
				options[name] = value
				if !has {
					// An option without a value is a switch.
					options[name] = true
				}
			}
			dns["options"] = options
		}
	}
	s.setFact("dns", dns)
}

func (s *survey) addEnv() { s.setFact("env", readEnvironment()) }

func (s *survey) addFIPS() { s.setFact("fips", s.readText("/proc/sys/crypto/fips_enabled") == "1") }

// localFacts are files that the machine's owner has laid down: JSON, INI, or a program that prints either.
func (s *survey) localFacts() {
	local := map[string]any{}
	for _, path := range s.globPaths(s.local + "/*.fact") {
		name := strings.TrimSuffix(filepath.Base(path), ".fact")
		text, err := s.localFact(s.root + path)
		if err != nil {
			local[name] = err.Error()
			continue
		}
		local[name] = readLocalFact(text, path)
	}
	s.setFact("local", local)
}

func (s *survey) localFact(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		//nolint:staticcheck // like the others here, it is the fact's value, in the words that playbooks look for
		return nil, fmt.Errorf("Could not stat fact (%s): %w", path, err)
	}
	// Executable is what makes a program of it, the name is the same for both.
	if info.Mode()&0o100 == 0 {
		return os.ReadFile(path)
	}
	out, err := (&process.Asker{}).Run(s.ctx, path)
	if err != nil {
		//nolint:staticcheck // as above
		return nil, fmt.Errorf("Failure executing fact script (%s), %w", path, err)
	}
	return out, nil
}

func readLocalFact(text []byte, path string) any {
	var value any
	// All of the text has to be one value: `1 = 2` begins with a number too.
	if d := json.NewDecoder(bytes.NewReader(text)); d.Decode(&value) == nil && !moreIn(d) {
		return plainNumbers(value)
	}
	if sections := readINI(string(text)); sections != nil {
		return sections
	}
	return "error loading facts as JSON or ini - please check content: " + path
}

func moreIn(d *json.Decoder) bool {
	_, err := d.Token()
	return err != io.EOF
}

// plainNumbers makes whole numbers whole: JSON knows only one kind.
func plainNumbers(value any) any {
	switch v := value.(type) {
	case float64:
		if n := int(v); float64(n) == v {
			return n
		}
	case []any:
		for i := range v {
			v[i] = plainNumbers(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = plainNumbers(v[name])
		}
	}
	return value
}

// readINI gives sections of names and texts; nil if it is nothing of the kind.
func readINI(text string) map[string]any {
	sections := map[string]any{}
	var section map[string]any
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[' && strings.HasSuffix(line, "]"):
			section = map[string]any{}
			sections[line[1:len(line)-1]] = section
		default:
			// A line outside of any section makes it something else, which is then not read as INI at all.
			i := strings.IndexAny(line, "=:")
			if i < 1 || section == nil {
				return nil
			}
			// Python's configparser lowers names, but not those of sections.
			section[strings.ToLower(strings.TrimSpace(line[:i]))] = strings.TrimSpace(line[i+1:])
		}
	}
	return sections
}

// ansibleManagers are package managers that Ansible calls otherwise than moon.
var ansibleManagers = map[string]string{"emerge": "portage", "brew": "homebrew", "port": "macports", "": "unknown"}

func (s *survey) packageManager() {
	facts := map[string]any{}
	packageManagers(facts)
	name, _ := facts["package_manager"].(string)
	if other, ok := ansibleManagers[name]; ok {
		name = other
	}
	s.setFact("pkg_mgr", name)
}

func (s *survey) addPlatform() {
	var u unix.Utsname
	_ = unix.Uname(&u) // it fails only for a bad address
	machine := unix.ByteSliceToString(u.Machine[:])
	s.setFact("system", unix.ByteSliceToString(u.Sysname[:]))
	s.setFact("kernel", unix.ByteSliceToString(u.Release[:]))
	s.setFact("kernel_version", unix.ByteSliceToString(u.Version[:]))
	s.setFact("machine", machine)
	s.setFact("architecture", machine)
	bits := strconv.Itoa(strconv.IntSize)
	s.setFact("userspace_bits", bits)
	s.setFact("userspace_architecture", machine)
	// A 32-bit program on a 64-bit kernel.
	if bits == "32" && (machine == "x86_64" || machine == "i686" || machine == "i586") {
		s.setFact("architecture", "i386")
		s.setFact("userspace_architecture", "i386")
	}
	node := unix.ByteSliceToString(u.Nodename[:])
	full := s.fullName(node)
	s.setFact("nodename", node)
	s.setFact("hostname", strings.Split(node, ".")[0])
	s.setFact("fqdn", full)
	_, domain, _ := strings.Cut(full, ".")
	s.setFact("domain", domain)
	// In the order in which Ansible looks.
	id := s.readText("/var/lib/dbus/machine-id")
	if id == "" {
		id = s.readText("/etc/machine-id")
	}
	if id != "" {
		s.setFact("machine_id", id)
	}
}

// nameTimeout bounds how long a server of names is waited for.
const nameTimeout = time.Second

// fullName is the machine's name with its domain, as /etc/hosts has it, or a server of names.
func (s *survey) fullName(node string) string {
	if strings.Contains(node, ".") || node == "" {
		return node
	}
	for line := range strings.Lines(s.readText("/etc/hosts")) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		for i := range words {
			if i == 0 || words[i] != node {
				continue
			}
			for _, name := range words[1:] {
				if strings.Contains(name, ".") {
					return name
				}
			}
			// The first name of a line is the canonical one, even without a domain.
			return words[1]
		}
	}
	// Tests must not ask the network.
	if s.root != "" {
		return node
	}
	ctx, cancel := context.WithTimeout(s.ctx, nameTimeout)
	defer cancel()
	if name, err := net.DefaultResolver.LookupCNAME(ctx, node); err == nil && strings.HasPrefix(name, node+".") {
		return strings.TrimSuffix(name, ".")
	}
	return node
}

func (s *survey) addPython() {
	path, version := s.pythonVersion()
	if path == "" {
		return
	}
	s.setFact("python_version", version)
	parts := append(strings.Split(version, "."), "0", "0")
	number := func(i int) int { n, _ := strconv.Atoi(parts[i]); return n }
	s.setFact("python", map[string]any{
		"executable": path, "type": "cpython", "has_sslcontext": true,
		"version":      map[string]any{"major": number(0), "minor": number(1), "micro": number(2), "releaselevel": "final", "serial": 0},
		"version_info": []any{number(0), number(1), number(2), "final", 0},
	})
}

// pythonVersion finds python3, the system's own first, and its version: to the minor number in the name that it leads to,
// and in full among its constants.
func (s *survey) pythonVersion() (path, version string) {
	found := []string{"/usr/bin/python3", "/usr/libexec/platform-python"}
	if path, err := osexec.LookPath("python3"); err == nil && s.root == "" {
		found = append(found, path)
	}
	for _, path := range found {
		target, err := filepath.EvalSymlinks(s.root + path)
		if err != nil {
			continue
		}
		m := pythonName.FindStringSubmatch(filepath.Base(target))
		if m == nil {
			continue // a wrapper: what it starts is not known
		}
		library := filepath.Join(filepath.Dir(filepath.Dir(target)), "lib*", "libpython"+m[1]+".so.1.0")
		libraries, _ := filepath.Glob(library) // the pattern is well formed
		wide, _ := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(target)), "lib", "*", "libpython"+m[1]+".so.1.0"))
		for _, file := range append(append([]string{target}, libraries...), wide...) {
			if full := versionIn(file, m[1]); full != "" {
				return path, full
			}
		}
		return path, m[1]
	}
	return "", ""
}

// versionIn finds a version among the texts in a program: it stands between zero bytes.
func versionIn(file, minor string) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for mark := []byte("\x00" + minor + "."); ; {
		i := bytes.Index(data, mark)
		if i < 0 {
			return ""
		}
		data = data[i+len(mark):]
		micro, _, _ := bytes.Cut(data[:min(len(data), 4)], []byte{0})
		if _, err := strconv.Atoi(string(micro)); err == nil && len(micro) < 3 {
			return minor + "." + string(micro)
		}
	}
}

func (s *survey) addSELinux() {
	is := map[string]any{"status": "disabled"}
	if s.fileExists("/sys/fs/selinux/enforce") {
		is["status"], is["mode"], is["policyvers"] = "enabled", "permissive", "unknown"
		if s.readText("/sys/fs/selinux/enforce") == "1" {
			is["mode"] = "enforcing"
		}
		if n, err := strconv.Atoi(s.readText("/sys/fs/selinux/policyvers")); err == nil {
			is["policyvers"] = n
		}
		for line := range strings.Lines(s.readText("/etc/selinux/config")) {
			switch name, value, _ := strings.Cut(strings.TrimSpace(line), "="); name {
			case "SELINUX":
				is["config_mode"] = value
			case "SELINUXTYPE":
				is["type"] = value
			}
		}
	}
	s.setFact("selinux", is)
	s.setFact("selinux_python_present", true)
}

// serviceManager is what runs services. The name of the first process says it, unless it is a common one.
func (s *survey) serviceManager() {
	first := filepath.Base(s.readText("/proc/1/comm"))
	known := map[string]string{"procd": "openwrt_init", "runit-init": "runit", "svscan": "svc", "openrc-init": "openrc"}
	switch {
	case runtime.GOOS == "darwin":
		first = "launchd"
	case known[first] != "":
		first = known[first]
	case first != "." && first != "init" && !strings.HasSuffix(first, "sh"):
	case s.fileExists("/run/systemd/system"), s.fileExists("/dev/.run/systemd"), s.fileExists("/dev/.systemd"):
		first = "systemd"
	case s.fileExists("/etc/init") && s.fileExists("/sbin/initctl"):
		first = "upstart"
	case s.fileExists("/sbin/openrc"):
		first = "openrc"
	case s.leadsToSystemd():
		first = "systemd"
	case s.fileExists("/etc/init.d"):
		first = "sysvinit"
	default:
		first = "service"
	}
	s.setFact("service_mgr", first)
}

func (s *survey) leadsToSystemd() bool {
	target, err := os.Readlink(s.root + "/sbin/init")
	return err == nil && filepath.Base(target) == "systemd"
}

func (s *survey) hostKeys() {
	for _, kind := range []string{"dsa", "rsa", "ecdsa", "ed25519"} {
		for _, dir := range []string{"/etc/ssh", "/etc/openssh", "/etc"} {
			words := strings.Fields(s.readText(dir + "/ssh_host_" + kind + "_key.pub"))
			if len(words) < 2 {
				continue
			}
			s.setFact("ssh_host_key_"+kind+"_public", words[1])
			s.setFact("ssh_host_key_"+kind+"_public_keytype", words[0])
			break
		}
	}
}

func (s *survey) addUser() {
	s.setFact("real_user_id", os.Getuid())
	s.setFact("effective_user_id", os.Geteuid())
	s.setFact("real_group_id", os.Getgid())
	s.setFact("effective_group_id", os.Getegid())
	s.setFact("user_uid", os.Geteuid())
	s.setFact("user_gid", os.Getegid())
	if u, err := user.LookupId(strconv.Itoa(os.Geteuid())); err == nil {
		s.setFact("user_id", u.Username)
		s.setFact("user_dir", u.HomeDir)
		s.setFact("user_gecos", u.Name)
	}
	s.setFact("user_shell", os.Getenv("SHELL"))
	for line := range strings.Lines(s.readText("/etc/passwd")) {
		if f := strings.Split(strings.TrimSpace(line), ":"); len(f) == 7 && f[2] == strconv.Itoa(os.Geteuid()) {
			s.setFact("user_gecos", f[4])
			s.setFact("user_shell", f[6])
			break
		}
	}
}
