package facts

import (
	"maps"
	"slices"
	"strings"

	"moon/internal/pattern"
)

// virtualProducts are machines that are made by programs, as their hardware names itself: what is before the slash is
// in the product's name, what is after in the vendor's.
var virtualProducts = []struct{ product, vendor, is string }{
	{"KVM", "", "kvm"},
	{"Bochs", "", "kvm"},
	{"AHV", "", "kvm"},
	{"oVirt", "", "oVirt"},
	{"RHEV", "", "RHEV"},
	{"VMware", "", "VMware"},
	{"OpenStack", "", "openstack"},
	{"VirtualBox", "", "virtualbox"},
	{"HVM domU", "", "xen"},
	{"Parallels", "", "parallels"},
	{"Virtual Machine", "Microsoft", "VirtualPC"},
	{"", "QEMU", "kvm"},
	{"", "oVirt", "kvm"},
	{"", "Amazon EC2", "kvm"},
	{"", "DigitalOcean", "kvm"},
	{"", "Hetzner", "kvm"},
	{"", "Google", "kvm"},
	{"", "Parallels", "parallels"},
	{"", "innotek", "virtualbox"},
	{"", "Nutanix", "kvm"},
	{"", "OpenStack", "openstack"},
	{"", "Xen", "xen"},
}

var (
	dockerGroup = pattern.New(`/docker(/|-[0-9a-f]+\.scope)`)
	lxcGroup    = pattern.New(`/lxc/|/machine\.slice/machine-lxc`)
)

// addVirtual notes on what the machine runs. The first sign decides what it is; all signs are listed.
func (s *survey) addVirtual() {
	guest, host := map[string]bool{}, map[string]bool{}
	kind, role := "", ""
	is := func(what, as string) {
		(map[string]map[string]bool{"guest": guest, "host": host})[as][what] = true
		if kind == "" {
			kind, role = what, as
		}
	}
	group := s.readText("/proc/1/cgroup")
	env := "\x00" + s.readText("/proc/1/environ")
	container := s.readText("/run/systemd/container")
	// Containers come first: inside one, product and processor are still those of the machine below.
	if dockerGroup.MatchString(group) {
		is("docker", "guest")
	}
	if lxcGroup.MatchString(group) || strings.Contains(env, "\x00container=lxc") {
		is("lxc", "guest")
	}
	if strings.Contains(group, "/system.slice/containerd.service") {
		is("containerd", "guest")
	}
	if strings.Contains(env, "\x00container=podman") || s.fileExists("/run/.containerenv") {
		is("podman", "guest")
	}
	if container != "" {
		is(container, "guest")
	}
	if s.fileExists("/.dockerenv") || s.fileExists("/.dockerinit") {
		is("docker", "guest")
	}
	if strings.Contains(env, "\x00container=") || len(guest) > 0 {
		is("container", "guest")
	}
	if s.fileExists("/proc/xen") {
		is("xen", map[bool]string{true: "host", false: "guest"}[strings.Contains(s.readText("/proc/xen/capabilities"), "control_d")])
	}
	product, vendor := s.readText(dmiDir+"product_name"), s.readText(dmiDir+"sys_vendor")
	for _, p := range virtualProducts {
		if strings.Contains(product, p.product) && strings.Contains(vendor, p.vendor) {
			is(p.is, "guest")
			break
		}
	}
	cpu := s.readText("/proc/cpuinfo")
	if strings.Contains(cpu, "QEMU Virtual CPU") || strings.Contains(cpu, "User Mode Linux") {
		is(map[bool]string{true: "kvm", false: "uml"}[strings.Contains(cpu, "QEMU")], "guest")
	}
	modules := s.readText("/proc/modules")
	switch {
	case strings.Contains("\n"+modules, "\nkvm ") || s.fileExists("/dev/kvm"):
		is("kvm", "host")
	case strings.Contains("\n"+modules, "\nvboxdrv "):
		is("virtualbox", "host")
	}
	if kind == "" {
		kind, role = "NA", "NA"
	}
	s.setFact("virtualization_type", kind)
	s.setFact("virtualization_role", role)
	s.setFact("virtualization_tech_guest", AnyList(slices.Sorted(maps.Keys(guest))))
	s.setFact("virtualization_tech_host", AnyList(slices.Sorted(maps.Keys(host))))
}
