package facts

import (
	"encoding/hex"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// addNetwork looks at the interfaces of the machine, and at the ways out.
func (s *survey) addNetwork() {
	all, _ := net.Interfaces() // none without permission
	names, four, six := []any{}, []any{}, []any{}
	by := map[string]map[string]any{}
	for _, i := range all {
		one := s.networkInterface(i)
		if v4, ok := one["ipv4"].(map[string]any); ok && i.Flags&net.FlagLoopback == 0 {
			four = append(four, v4["address"])
		}
		others, _ := one["ipv4_secondaries"].([]any)
		for _, o := range others {
			four = append(four, o.(map[string]any)["address"])
		}
		v6, _ := one["ipv6"].([]any)
		for _, a := range v6 {
			if address := a.(map[string]any)["address"]; address != "::1" {
				six = append(six, address)
			}
		}
		names = append(names, i.Name)
		by[i.Name] = one
		// A dash in a name would be a minus in an expression.
		s.setFact(strings.ReplaceAll(i.Name, "-", "_"), one)
	}
	s.setFact("interfaces", names)
	s.setFact("all_ipv4_addresses", four)
	s.setFact("all_ipv6_addresses", six)
	s.setFact("default_ipv4", defaultWay(by, s.gateway4, "ipv4"))
	s.setFact("default_ipv6", defaultWay(by, s.gateway6, "ipv6"))
}

func (s *survey) networkInterface(i net.Interface) map[string]any {
	at := "/sys/class/net/" + i.Name
	one := map[string]any{
		"device": i.Name, "mtu": i.MTU, "active": i.Flags&net.FlagUp != 0, "type": s.interfaceType(i, at),
		"promisc": false,
	}
	// The flag says only that it was switched on, this that it has a link.
	if state := s.readText(at + "/operstate"); state == "down" || state == "lowerlayerdown" {
		one["active"] = false
	}
	if flags, err := strconv.ParseUint(strings.TrimPrefix(s.readText(at+"/flags"), "0x"), 16, 32); err == nil {
		// IFF_PROMISC, which the flags of package net do not have.
		one["promisc"] = flags&0x100 != 0
	}
	if mac := i.HardwareAddr.String(); mac != "" && i.Flags&net.FlagLoopback == 0 {
		one["macaddress"] = mac
	}
	if n, err := strconv.Atoi(s.readText(at + "/speed")); err == nil {
		// An interface without a link gives an error when it is read, or -1.
		one["speed"] = n
	}
	if target, err := os.Readlink(s.root + at + "/device"); err == nil {
		one["pciid"] = filepath.Base(target)
		if driver, err := os.Readlink(s.root + at + "/device/driver/module"); err == nil {
			one["module"] = filepath.Base(driver)
		}
	}
	if one["type"] == "bridge" {
		members := s.listDir(at + "/brif")
		one["interfaces"], one["id"] = AnyList(members), s.readText(at+"/bridge/bridge_id")
		one["stp"] = s.readText(at+"/bridge/stp_state") == "1"
	}
	if one["type"] == "bonding" {
		one["slaves"] = AnyList(strings.Fields(s.readText(at + "/bonding/slaves")))
		one["mode"] = strings.Split(s.readText(at+"/bonding/mode"), " ")[0]
	}
	addresses, _ := i.Addrs() // none without permission
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok {
			addAddress(one, n, i.Flags&net.FlagBroadcast != 0)
		}
	}
	return one
}

func (s *survey) interfaceType(i net.Interface, at string) string {
	switch {
	case i.Flags&net.FlagLoopback != 0:
		return "loopback"
	case s.fileExists(at + "/bridge"):
		return "bridge"
	case s.fileExists(at + "/bonding"):
		return "bonding"
	}
	// ARPHRD_ numbers. Bridges and bonds are Ethernet here, so they are looked for first.
	switch s.readText(at + "/type") {
	case "1":
		return "ether"
	case "32":
		return "infiniband"
	case "512":
		return "ppp"
	case "65534":
		return "tunnel"
	}
	return "unknown"
}

func addAddress(one map[string]any, n *net.IPNet, broadcasts bool) {
	bits, _ := n.Mask.Size()
	if v4 := n.IP.To4(); v4 != nil {
		last := make(net.IP, 4)
		for i := range last {
			// A mask may be of 16 bytes although the address is of four.
			last[i] = v4[i] | ^n.Mask[len(n.Mask)-4+i]
		}
		a := map[string]any{
			"address": v4.String(), "netmask": net.IP(n.Mask[len(n.Mask)-4:]).String(), "network": v4.Mask(n.Mask).String(),
			"prefix": strconv.Itoa(bits), "broadcast": "",
		}
		if broadcasts {
			a["broadcast"] = last.String()
		}
		if one["ipv4"] == nil {
			one["ipv4"] = a
			return
		}
		others, _ := one["ipv4_secondaries"].([]any)
		one["ipv4_secondaries"] = append(others, a)
		return
	}
	scope := "global"
	switch {
	case n.IP.IsLoopback():
		scope = "host"
	case n.IP.IsLinkLocalUnicast():
		scope = "link"
	}
	list, _ := one["ipv6"].([]any)
	one["ipv6"] = append(list, map[string]any{"address": n.IP.String(), "prefix": strconv.Itoa(bits), "scope": scope})
}

// defaultWay is the interface that leads to the world, with its address; empty where none does.
func defaultWay(by map[string]map[string]any, gateway func() (device, address string), family string) map[string]any {
	device, address := gateway()
	one := by[device]
	if one == nil {
		return map[string]any{}
	}
	way := map[string]any{"interface": device, "gateway": address, "mtu": one["mtu"], "type": one["type"]}
	if mac, ok := one["macaddress"]; ok {
		way["macaddress"] = mac
	}
	if v4, ok := one["ipv4"].(map[string]any); ok && family == "ipv4" {
		way["alias"] = device
		maps.Copy(way, v4)
	}
	if list, _ := one["ipv6"].([]any); family == "ipv6" {
		// A link-local address leads nowhere without its interface.
		at := slices.IndexFunc(list, func(a any) bool { return a.(map[string]any)["scope"] == "global" })
		if at < 0 {
			return map[string]any{}
		}
		maps.Copy(way, list[at].(map[string]any))
	}
	return way
}

// gateway4 reads the default route with the lowest metric. The kernel writes addresses as its own numbers, lowest byte
// first on the machines that moon runs on.
func (s *survey) gateway4() (device, address string) {
	best := -1
	for line := range strings.Lines(s.readText("/proc/net/route")) {
		f := strings.Fields(line)
		if len(f) < 8 || f[1] != "00000000" || f[7] != "00000000" {
			continue
		}
		metric, err := strconv.Atoi(f[6])
		raw, bad := hex.DecodeString(f[2])
		if err != nil || bad != nil || len(raw) != 4 || best >= 0 && metric >= best {
			continue
		}
		best, device = metric, f[0]
		address = netip.AddrFrom4([4]byte{raw[3], raw[2], raw[1], raw[0]}).String()
	}
	return device, address
}

func (s *survey) gateway6() (device, address string) {
	best := uint64(1) << 32
	for line := range strings.Lines(s.readText("/proc/net/ipv6_route")) {
		f := strings.Fields(line)
		// The kernel lists an unreachable default route on lo, which is not a way out.
		if len(f) < 10 || strings.Trim(f[0], "0") != "" || f[1] != "00" || f[9] == "lo" {
			continue
		}
		metric, err := strconv.ParseUint(f[5], 16, 64)
		raw, bad := hex.DecodeString(f[4])
		if err != nil || bad != nil || len(raw) != 16 || metric >= best {
			continue
		}
		best, device = metric, f[9]
		address = netip.AddrFrom16([16]byte(raw)).String()
	}
	return device, address
}
