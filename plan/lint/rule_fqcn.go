package lint

import (
	"slices"
	"strings"

	"moon/plan/playbook"
)

// fullNames: a short name is of whatever collection comes first. Not looked for unless it is asked for: every task of most playbooks has one.
var fullNames = Rule{
	ID: "fqcn", About: "modules of plays without their collection", Fixes: true, Optional: true, task: checkFullName,
}

// builtin are the modules that ansible.builtin has.
var builtin = strings.Fields(`add_host apt apt_key apt_repository assemble assert async_status blockinfile command copy cron debconf debug dnf dpkg_selections
	expect fail fetch file find gather_facts get_url getent git group group_by hostname import_playbook import_role import_tasks include_role include_tasks
	include_vars iptables known_hosts lineinfile meta mount_facts package package_facts pause ping pip raw reboot replace rpm_key script service
	service_facts set_fact set_stats setup shell slurp stat subversion systemd systemd_service sysvinit tempfile template unarchive uri user
	validate_argument_spec wait_for wait_for_connection yum yum_repository`)

func checkFullName(r *report, t *playbook.Task) {
	if !r.plays || !slices.Contains(builtin, t.ActionKey) {
		return
	}
	full := "ansible.builtin." + t.ActionKey
	r.add(t.ActionPos, len(t.ActionKey), replacing(t.ActionPos, t.ActionKey, full), "write "+full, "`"+t.ActionKey+"` has no collection")
}
