package facts

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// memoryFields reads /proc/meminfo, in MiB.
func (s *survey) memoryFields() map[string]int {
	fields := map[string]int{}
	for line := range strings.Lines(s.readText("/proc/meminfo")) {
		name, rest, _ := strings.Cut(line, ":")
		if words := strings.Fields(rest); len(words) > 0 {
			kb, _ := strconv.Atoi(words[0])
			fields[name] = kb / 1024
		}
	}
	return fields
}

func (s *survey) addMemory() {
	m := s.memoryFields()
	if m["MemTotal"] == 0 {
		return
	}
	s.setFact("memtotal_mb", m["MemTotal"])
	s.setFact("memfree_mb", m["MemFree"])
	s.setFact("swaptotal_mb", m["SwapTotal"])
	s.setFact("swapfree_mb", m["SwapFree"])
	free := m["MemFree"] + m["Cached"] + m["Buffers"]
	s.setFact("memory_mb", map[string]any{
		"real":    map[string]any{"total": m["MemTotal"], "used": m["MemTotal"] - m["MemFree"], "free": m["MemFree"]},
		"nocache": map[string]any{"free": free, "used": m["MemTotal"] - free},
		"swap": map[string]any{
			"total": m["SwapTotal"], "free": m["SwapFree"], "used": m["SwapTotal"] - m["SwapFree"],
			"cached": m["SwapCached"],
		},
	})
}

// addProcessor counts what /proc/cpuinfo tells of. Processors that do not say to which socket they belong are one each.
func (s *survey) addProcessor() {
	var list []any
	cores := map[string]int{} // by socket
	count, siblings := 0, 0
	socket := ""
	for line := range strings.Lines(s.readText("/proc/cpuinfo")) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		number, _ := strconv.Atoi(value)
		switch strings.TrimSpace(name) {
		case "processor":
			count++
			list = append(list, value)
		case "vendor_id", "model name", "Processor", "cpu", "Model":
			list = append(list, value)
		case "physical id":
			socket = value
			if cores[socket] == 0 {
				cores[socket] = 1
			}
		case "cpu cores":
			if number > 0 {
				cores[socket] = number
			}
		case "siblings":
			siblings = number
		}
	}
	if count == 0 {
		return
	}
	sockets, each := len(cores), 1
	if sockets == 0 {
		sockets = count
	}
	for _, n := range cores {
		each = n
	}
	threads := max(1, siblings/each)
	s.setFact("processor", list)
	s.setFact("processor_count", sockets)
	s.setFact("processor_cores", each)
	s.setFact("processor_threads_per_core", threads)
	s.setFact("processor_vcpus", threads*sockets*each)
	s.setFact("processor_nproc", runtime.NumCPU())
}

func (s *survey) addUptime() {
	words := strings.Fields(s.readText("/proc/uptime"))
	if len(words) == 0 {
		return
	}
	seconds, _ := strconv.ParseFloat(words[0], 64)
	s.setFact("uptime_seconds", int(seconds))
}

func (s *survey) addLoad() {
	words := strings.Fields(s.readText("/proc/loadavg"))
	if len(words) < 3 {
		return
	}
	load := map[string]any{}
	for i, name := range []string{"1m", "5m", "15m"} {
		load[name], _ = strconv.ParseFloat(words[i], 64)
	}
	s.setFact("loadavg", load)
}

// formFactors are the kinds of chassis that machines are, by their numbers in SMBIOS.
var formFactors = []string{
	"Unknown", "Other", "Unknown", "Desktop", "Low Profile Desktop", "Pizza Box", "Mini Tower", "Tower", "Portable", "Laptop", "Notebook",
	"Hand Held",
	"Docking Station", "All In One", "Sub Notebook", "Space-saving", "Lunch Box", "Main Server Chassis", "Expansion Chassis", "Sub Chassis",
	"Bus Expansion Chassis",
	"Peripheral Chassis", "RAID Chassis", "Rack Mount Chassis", "Sealed-case PC", "Multi-system", "CompactPCI", "AdvancedTCA", "Blade",
	"Blade Enclosure",
	"Tablet", "Convertible", "Detachable", "IoT Gateway", "Embedded PC", "Mini PC", "Stick PC",
}

const dmiDir = "/sys/devices/virtual/dmi/id/"

func (s *survey) addDMI() {
	for _, name := range []string{
		"bios_date", "bios_vendor", "bios_version", "board_asset_tag", "board_name", "board_serial", "board_vendor", "board_version",
		"chassis_asset_tag",
		"chassis_serial", "chassis_vendor", "chassis_version", "product_name", "product_serial", "product_uuid", "product_version",
	} {
		s.setFact(name, orNA(s.readText(dmiDir+name)))
	}
	s.setFact("system_vendor", orNA(s.readText(dmiDir+"sys_vendor")))
	// The kernel gives a number, playbooks compare words.
	factor := orNA(s.readText(dmiDir + "chassis_type"))
	if n, err := strconv.Atoi(factor); err == nil && n >= 0 && n < len(formFactors) {
		factor = formFactors[n]
	}
	s.setFact("form_factor", factor)
}

// byDevice says which names of /dev/disk/by-KIND lead to a device.
func (s *survey) byDevice(kind string) map[string][]any {
	names := map[string][]any{}
	dir := "/dev/disk/by-" + kind
	for _, name := range s.listDir(dir) {
		if target, err := os.Readlink(s.root + dir + "/" + name); err == nil {
			device := filepath.Base(target)
			names[device] = append(names[device], name)
		}
	}
	return names
}

func (s *survey) addDevices() {
	links := map[string]map[string][]any{"ids": s.byDevice("id"), "uuids": s.byDevice("uuid"), "labels": s.byDevice("label"), "masters": {}}
	devices := map[string]any{}
	for _, name := range s.listDir("/sys/block") {
		dir := "/sys/block/" + name
		for _, holder := range s.listDir(dir + "/slaves") {
			// A holder lists its slaves; masters of a device are found the other way round.
			links["masters"][holder] = append(links["masters"][holder], name)
		}
		text := func(file string) any {
			if v := s.readText(dir + file); v != "" {
				return v
			}
			return nil
		}
		d := map[string]any{
			"model": text("/device/model"), "vendor": text("/device/vendor"), "removable": text("/removable"),
			"rotational": text("/queue/rotational"),
			"holders":    AnyList(s.listDir(dir + "/holders")), "links": linksOf(links, name), "sas_address": nil, "sas_device_handle": nil,
			"host":            "",
			"support_discard": text("/queue/discard_granularity"), "virtual": 1, "scheduler_mode": "",
		}
		if target, err := os.Readlink(s.root + dir); err == nil && !strings.Contains(target, "/virtual/") &&
			!strings.Contains(target, "virtio") {
			delete(d, "virtual")
			d["virtual"] = 0
		}
		s.measureDevice(d, dir, s.readText(dir+"/queue/logical_block_size"))
		for word := range strings.FieldsSeq(s.readText(dir + "/queue/scheduler")) {
			if strings.HasPrefix(word, "[") {
				d["scheduler_mode"] = strings.Trim(word, "[]")
			}
		}
		parts := map[string]any{}
		for _, part := range s.listDir(dir) {
			at := dir + "/" + part
			// Of the directories below a device, partitions are those with its name and a first sector.
			if !strings.HasPrefix(part, name) || !s.fileExists(at+"/start") {
				continue
			}
			p := map[string]any{
				"start": s.readText(at + "/start"), "holders": AnyList(s.listDir(at + "/holders")), "links": linksOf(links, part),
				"uuid": nil,
			}
			s.measureDevice(p, at, s.readText(dir+"/queue/logical_block_size"))
			if ids := links["uuids"][part]; len(ids) > 0 {
				p["uuid"] = ids[0]
			}
			parts[part] = p
		}
		d["partitions"] = parts
		devices[name] = d
	}
	s.setFact("devices", devices)
	all := map[string]any{}
	for kind, names := range links {
		of := map[string]any{}
		for device, list := range names {
			of[device] = list
		}
		all[kind] = of
	}
	s.setFact("device_links", all)
}

func linksOf(links map[string]map[string][]any, device string) map[string]any {
	of := map[string]any{}
	for kind, names := range links {
		of[kind] = append([]any{}, names[device]...)
	}
	return of
}

// measureDevice notes how large a device is. The kernel counts in sectors of 512 bytes, whatever the device has.
func (s *survey) measureDevice(d map[string]any, dir, sector string) {
	sectors := s.readText(dir + "/size")
	d["sectors"] = sectors
	d["sectorsize"] = sector
	n, _ := strconv.ParseFloat(sectors, 64)
	d["size"] = roughSize(n * 512)
}

// roughSize is a number of bytes as the facts have it: 256.00 GB, in powers of 1024.
func roughSize(bytes float64) string {
	units := []string{"Bytes", "KB", "MB", "GB", "TB", "PB", "EB", "ZB"}
	i := 0
	// The units are those of powers of 1000, as Ansible writes them.
	for ; bytes >= 1024 && i < len(units)-1; i++ {
		bytes /= 1024
	}
	return fmt.Sprintf("%.2f %s", bytes, units[i])
}

func (s *survey) addMounts() {
	list := []any{}
	ids := s.byDevice("uuid")
	var seen []string
	for line := range strings.Lines(s.readText("/proc/mounts")) {
		f := strings.Fields(line)
		if len(f) < 4 || !strings.HasPrefix(f[0], "/") && !strings.Contains(f[0], ":/") || f[2] == "none" {
			continue
		}
		// Fields are split before this, as blanks in a path are escaped just for that.
		path := unescapeMount(f[1])
		// Mounted over each other, only one of them can be reached by the path.
		if slices.Contains(seen, path) {
			continue
		}
		seen = append(seen, path)
		m := map[string]any{
			"mount": path, "device": unescapeMount(f[0]), "fstype": f[2], "options": f[3], "uuid": "N/A", "dump": 0,
			"passno": 0,
		}
		device := filepath.Base(f[0])
		if target, err := filepath.EvalSymlinks(s.root + f[0]); err == nil {
			device = filepath.Base(target)
		}
		if names := ids[device]; len(names) > 0 {
			m["uuid"] = names[0]
		}
		s.measureRoom(m, s.root+path)
		list = append(list, m)
	}
	s.setFact("mounts", list)
}

// measureRoom notes how full a file system is. One whose server has gone does not answer at all, so it is asked on the side.
func (s *survey) measureRoom(m map[string]any, path string) {
	// With room for one answer: it may come when nothing waits for it any more, and the goroutine must still end.
	answer := make(chan *unix.Statfs_t, 1)
	go func() {
		var st unix.Statfs_t
		if unix.Statfs(path, &st) != nil {
			answer <- nil
			return
		}
		answer <- &st
	}()
	var st *unix.Statfs_t
	select {
	case st = <-answer:
	case <-s.ctx.Done():
		m["note"] = "it did not answer in time"
	}
	if st == nil {
		return
	}
	block := int(st.Bsize)
	total, left := int(st.Blocks), int(st.Bavail)
	m["block_size"], m["block_total"], m["block_available"], m["block_used"] = block, total, left, total-left
	m["size_total"], m["size_available"] = block*total, block*left
	m["inode_total"], m["inode_available"], m["inode_used"] = int(st.Files), int(st.Ffree), int(st.Files)-int(st.Ffree)
}

// unescapeMount reads a path as /proc/mounts writes it: white space and backslashes as octal numbers.
func unescapeMount(path string) string {
	for _, pair := range [][2]string{{`\040`, " "}, {`\011`, "\t"}, {`\012`, "\n"}, {`\134`, `\`}} {
		path = strings.ReplaceAll(path, pair[0], pair[1])
	}
	return path
}
