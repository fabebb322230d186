package facts

import (
	"net"
	"os"
	osexec "os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"moon/internal/pattern"
)

// Local returns what is known about this machine and does not change while one looks, as plain data. It starts no
// process and takes well under 5 ms. A fact that cannot be found out is "" or 0, never missing, so that a playbook can
// ask for it. distribution and os_family are in lower case, as os-release has them.
func Local() map[string]any {
	facts := map[string]any{
		"os":           runtime.GOOS,
		"arch":         runtime.GOARCH,
		"linux":        runtime.GOOS == "linux",
		"darwin":       runtime.GOOS == "darwin",
		"windows":      runtime.GOOS == "windows",
		"cpu_cores":    runtime.NumCPU(),
		"ip_addresses": listAddresses(),
		"default_ipv4": defaultAddress(),
		"env":          readEnvironment(),
	}
	facts["hostname"], _ = os.Hostname() // "" if it has none
	facts["home"], facts["username"] = findHome()
	facts["kernel_version"] = kernelVersion()
	facts["memory_total_mb"] = memoryTotal()
	facts["pid1"] = firstProcess()
	facts["python_version"] = pythonVersion()
	d := readDistribution()
	facts["distribution"] = d.id
	facts["distribution_version"] = d.version
	facts["distribution_major"], _, _ = strings.Cut(d.version, ".")
	facts["os_family"] = d.family
	packageManagers(facts)
	return facts
}

// Volatile returns the facts that are different the next time: the time, and memory_free_mb. Like Local it starts
// no process.
func Volatile() map[string]any {
	return map[string]any{"date_time": dateTime(time.Now()), "memory_free_mb": memoryFree()}
}

// Managers are package managers and their commands. The first that is found is the machine's, so those of a
// distribution stand before those one can add to any.
var Managers = []struct{ Name, Command string }{
	{"apt", "apt-get"},
	{"dnf", "dnf"},
	{"yum", "yum"},
	{"zypper", "zypper"},
	{"pacman", "pacman"},
	{"apk", "apk"},
	{"xbps", "xbps-install"},
	{"emerge", "emerge"},
	{"brew", "brew"},
	{"port", "port"},
	{"nix", "nix-env"},
}

func packageManagers(facts map[string]any) {
	facts["package_manager"] = ""
	for _, m := range Managers {
		_, err := osexec.LookPath(m.Command)
		facts[m.Name+"_available"] = err == nil
		if err == nil && facts["package_manager"] == "" {
			facts["package_manager"] = m.Name
		}
	}
}

func listAddresses() []any {
	list := []any{}
	all, _ := net.InterfaceAddrs() // none without permission
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
			list = append(list, n.IP.String())
		}
	}
	return list
}

// defaultAddress asks the kernel which address would be used to reach the world. A UDP socket is given a peer from
// the range for documentation; nothing is sent.
func defaultAddress() string {
	conn, err := net.DialUDP("udp4", nil, &net.UDPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 9})
	if err != nil {
		return ""
	}
	defer func() { _ = conn.Close() }() // nothing was written
	if a, ok := conn.LocalAddr().(*net.UDPAddr); ok {
		return a.IP.String()
	}
	return ""
}

func dateTime(t time.Time) map[string]any {
	zone, _ := t.Zone()
	return map[string]any{
		"iso8601": t.UTC().Format("2006-01-02T15:04:05Z"), "date": t.Format(time.DateOnly), "time": t.Format(time.TimeOnly),
		"epoch": int(t.Unix()), "year": t.Format("2006"), "month": t.Format("01"), "day": t.Format("02"),
		"hour": t.Format("15"), "minute": t.Format("04"), "second": t.Format("05"), "weekday": t.Weekday().String(), "tz": zone,
	}
}

func readEnvironment() map[string]any {
	env := map[string]any{}
	for _, entry := range os.Environ() {
		if name, value, ok := strings.Cut(entry, "="); ok {
			env[name] = value
		}
	}
	return env
}

func findHome() (dir, name string) {
	dir, _ = os.UserHomeDir() // "" without HOME
	name = os.Getenv("USER")
	if u, err := user.Current(); err == nil {
		name = u.Username
		if dir == "" {
			dir = u.HomeDir
		}
	}
	return dir, name
}

func kernelVersion() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}

var pythonName = pattern.New(`^python(\d+\.\d+)`)

// pythonVersion reads the version off the name that python3 leads to, to the minor number.
func pythonVersion() string {
	path, err := osexec.LookPath("python3")
	if err != nil {
		return ""
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return ""
	}
	if m := pythonName.FindStringSubmatch(filepath.Base(path)); m != nil {
		return m[1]
	}
	return ""
}

// release is a distribution as os-release describes it.
type release struct{ id, version, family string }

var families = map[string]string{
	"debian": "debian", "ubuntu": "debian", "raspbian": "debian", "linuxmint": "debian", "pop": "debian", "kali": "debian",
	"rhel": "redhat", "fedora": "redhat", "centos": "redhat", "rocky": "redhat", "almalinux": "redhat", "amzn": "redhat", "ol": "redhat",
	"suse": "suse", "opensuse": "suse", "sles": "suse", "arch": "arch", "manjaro": "arch", "alpine": "alpine", "gentoo": "gentoo",
	"void": "void", "nixos": "nixos",
}

// parseRelease reads the text of /etc/os-release.
func parseRelease(text string) release {
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		fields[name] = strings.Trim(value, `"'`)
	}
	r := release{id: fields["ID"], version: fields["VERSION_ID"]}
	for _, id := range append([]string{r.id}, strings.Fields(fields["ID_LIKE"])...) {
		family, ok := families[id]
		if !ok {
			family, ok = families[strings.Split(id, "-")[0]] // opensuse-leap
		}
		if ok {
			r.family = family
			return r
		}
	}
	r.family = r.id
	return r
}
